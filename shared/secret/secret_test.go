package secret_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/secret"
)

func keys(master string) *secret.Keys {
	return &secret.Keys{Load: func(context.Context) ([]byte, error) { return []byte(master), nil }}
}

var master = strings.Repeat("m", 32)

func seal(t *testing.T, k *secret.Keys, plain string) []byte {
	t.Helper()
	sealed, err := k.Seal(t.Context(), "webhook", "7", []byte(plain))
	require.NoError(t, err)
	return sealed
}

func TestASealedTextOpensForItsPurposeAndPlaceAlone(t *testing.T) {
	k := keys(master)
	sealed := seal(t, k, "a secret")
	require.NotContains(t, string(sealed), "a secret")
	for _, reader := range []*secret.Keys{k, keys(master)} {
		plain, err := reader.Open(t.Context(), "webhook", "7", sealed)
		require.NoError(t, err)
		require.Equal(t, "a secret", string(plain))
	}
	for _, wrong := range []struct{ purpose, place string }{
		{"webhook", "8"}, {"webhook", ""}, {"webhooks", "7"}, {"web", "hook:7"}, {"", "7"},
	} {
		_, err := k.Open(t.Context(), wrong.purpose, wrong.place, sealed)
		require.Error(t, err, "%v", wrong)
	}
	_, err := keys(strings.Repeat("n", 32)).Open(t.Context(), "webhook", "7", sealed)
	require.Error(t, err, "another master key")
}

func TestAChangedTextDoesNotOpen(t *testing.T) {
	k := keys(master)
	sealed := seal(t, k, "a secret")
	for i := range sealed {
		changed := bytes.Clone(sealed)
		changed[i] ^= 1
		_, err := k.Open(t.Context(), "webhook", "7", changed)
		require.Error(t, err, "byte %d", i)
	}
	for n := range sealed {
		_, err := k.Open(t.Context(), "webhook", "7", sealed[:n])
		require.Error(t, err, "%d bytes", n)
	}
}

func TestNoTwoSealedTextsAreTheSame(t *testing.T) {
	k, seen := keys(master), map[string]bool{}
	for range 1000 {
		sealed := string(seal(t, k, ""))
		require.False(t, seen[sealed])
		seen[sealed] = true
	}
}

func TestTheMasterKeyIsLoadedAgainAfterAFailureOnly(t *testing.T) {
	var loads atomic.Int32
	k := &secret.Keys{Load: func(context.Context) ([]byte, error) {
		if loads.Add(1) == 1 {
			return nil, errors.New("not now")
		}
		return []byte(master), nil
	}}
	_, err := k.Seal(t.Context(), "webhook", "7", nil)
	require.ErrorContains(t, err, "not now")
	var all sync.WaitGroup
	for _, purpose := range []string{"a", "b", "c", "d"} {
		for range 8 {
			all.Go(func() {
				sealed, err := k.Seal(t.Context(), purpose, "7", []byte(purpose))
				if err == nil {
					_, err = k.Open(t.Context(), purpose, "7", sealed)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	require.EqualValues(t, 2, loads.Load())
}

func TestAShortMasterKeyIsRefused(t *testing.T) {
	_, err := keys(master[1:]).Seal(t.Context(), "webhook", "7", nil)
	require.ErrorContains(t, err, "31 bytes")
}
