package outside

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestAClientIsLimited: redirects are answers, a long body is an error, and a call ends.
func TestAClientIsLimited(t *testing.T) {
	asked := 0
	at := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "/short", http.StatusFound)
		case "/short":
			_, _ = io.WriteString(w, strings.Repeat("a", 100))
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat("a", 101))
		case "/endless":
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	}))
	defer at.Close()
	local, total := true, time.Minute
	read := func(path string) (status int, text string, err error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at.URL+path, nil)
		require.NoError(t, err)
		answer, err := NewNetwork().Client(local, total, 100).Do(r)
		if err != nil {
			return 0, "", err
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		return answer.StatusCode, string(body), err
	}
	status, text, err := read("/short")
	require.NoError(t, err)
	require.Equal(t, []any{200, strings.Repeat("a", 100)}, []any{status, text})
	status, _, err = read("/moved")
	require.NoError(t, err)
	require.Equal(t, []int{http.StatusFound, 2}, []int{status, asked}, "the redirect is not followed")
	_, _, err = read("/long")
	require.ErrorContains(t, err, "too large")
	local = false
	_, _, err = read("/short")
	require.ErrorIs(t, err, ErrRefused)
	require.Equal(t, 3, asked)
	local, total = true, 100*time.Millisecond
	_, _, err = read("/endless")
	late := net.Error(nil)
	require.ErrorAs(t, err, &late)
	require.True(t, late.Timeout())
}
