package form_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/form"
)

// kept is a sink that keeps the parts.
type kept struct {
	name  string
	parts []int
	bytes.Buffer
}

func (k *kept) Begin(name string, _ []byte) error { k.name = name; return nil }

func (k *kept) Send(_ context.Context, part []byte) error {
	k.parts = append(k.parts, len(part))
	_, err := k.Write(part)
	return err
}

var config = form.Config{Texts: []string{"title"}, MaxFile: 6 << 20, Larger: "Send it directly."}

const (
	before = "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
	after  = "\r\n--b\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nA\r\n--b--\r\n"
)

// read reads a form, and returns the whole file.
func read(t *testing.T, body io.Reader) (*kept, string, error) {
	t.Helper()
	k := &kept{}
	r, err := form.Open(body, config, k)
	require.NoError(t, err)
	defer r.Close()
	err = r.Read(t.Context(), "b")
	return k, k.String() + string(r.Rest()), err
}

// TestFilesInParts: all bytes come, in parts of one size but the last.
func TestFilesInParts(t *testing.T) {
	for size, parts := range map[int][]int{1: nil, 5<<20 - 1: nil, 5 << 20: nil, 5<<20 + 1: {5 << 20}, 6 << 20: {5 << 20}} {
		file := strings.Repeat("\r\n--", size/4+1)[:size]
		k, whole, err := read(t, strings.NewReader(before+file+after))
		require.NoError(t, err)
		require.Equal(t, parts, k.parts, size)
		require.True(t, file == whole, size)
		require.Equal(t, "a", k.name)
	}
}

// TestEndsAndLimits: a form that ends early is a 400 at each byte, and one that is too long a 413.
func TestEndsAndLimits(t *testing.T) {
	whole := before + "x" + after
	for end := range len(whole) - 2 {
		_, _, err := read(t, strings.NewReader(whole[:end]))
		refused := (*apierr.Error)(nil)
		require.True(t, errors.As(err, &refused), end)
		require.Equal(t, []any{400, "file"}, []any{refused.Status, refused.Details["field"]}, end)
	}
	_, _, err := read(t, strings.NewReader(whole[:len(whole)-2]))
	require.NoError(t, err)
	for _, long := range []string{before + strings.Repeat("x", 6<<20+1) + after, before + "x\r\n--b\r\n\r\n" + strings.Repeat("x", 70_000) + after} {
		_, _, err := read(t, strings.NewReader(long))
		require.ErrorContains(t, err, "Send it directly.")
	}
}

// TestFormsAtOnce: a process reads so many, and asks one more client to come again.
func TestFormsAtOnce(t *testing.T) {
	open := make([]*form.Reader, 16)
	for i := range open {
		r, err := form.Open(strings.NewReader(""), config, &kept{})
		require.NoError(t, err)
		open[i] = r
	}
	_, err := form.Open(strings.NewReader(""), config, &kept{})
	require.Equal(t, apierr.Unavailable(), err)
	for _, r := range open {
		r.Close()
	}
	_, _, err = read(t, strings.NewReader(before+"x"+after))
	require.NoError(t, err)
}
