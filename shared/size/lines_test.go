package size_test

import (
	"encoding/base64"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/size"
)

// TestLines of text that does not compress: a refusal names the lines that fit, and fewer fields for a single line.
func TestLines(t *testing.T) {
	r := rand.NewChaCha8([32]byte{})
	lines := []string{"name\r\n"}
	for range 100 {
		var text [75_000]byte
		_, _ = r.Read(text[:])
		lines = append(lines, base64.StdEncoding.EncodeToString(text[:])+"\r\n")
	}
	for _, gzip := range []bool{false, true} {
		ctx := size.With(t.Context(), size.Client{Gzip: gzip, PageSize: "limit"})
		join := func(lines []string) error {
			text, compressed, err := size.JoinLines(ctx, lines)
			if err == nil {
				require.Equal(t, strings.Join(lines, ""), string(text))
			}
			require.True(t, compressed == nil || gzip)
			return err
		}
		named := limitOf(t, join(lines))
		require.InDelta(t, 50, named, 10)
		require.NoError(t, join(lines[:1+named]))
		require.InDelta(t, named, limitOf(t, join(lines[:1+named+8])), 1)
		long := strings.Join(lines, "")
		require.ErrorContains(t, join([]string{"name\r\n", long}), "Name fewer fields.")
		require.NoError(t, join(lines[:1]))
	}
}

// limitOf returns the limit that a refusal names.
func limitOf(t *testing.T, err error) int {
	t.Helper()
	require.True(t, apierr.IsInvalid(err), "%v", err)
	found := regexp.MustCompile(`with a limit of (\d+) or less`).FindStringSubmatch(err.Error())
	require.NotNil(t, found, err.Error())
	n, _ := strconv.Atoi(found[1])
	return n
}
