package webhook

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// envSignatures names a file for the requests of TestOtherReadersVerifySignatures, which
// .ci/signatures gives to readers in other languages.
const envSignatures = "LECTERN_SIGNATURES"

// signedRequest is a request with the secrets that have signed it, and others.
type signedRequest struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Secrets []string          `json:"secrets"`
	Others  []string          `json:"others"`
}

// TestOtherReadersVerifySignatures of bodies with all kinds of text, before and after a rotation.
func TestOtherReadersVerifySignatures(t *testing.T) {
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) {})
	s := newInside(r, always(public)).sender(time.Now)
	var all []signedRequest
	for _, body := range []string{`{}`, `{"a":"ä€😀\n\u0000"}`, "{\"a\":\"" + strings.Repeat("long ", 50_000) + "\"}", `[1, 2.50, null]`} {
		for _, rotation := range []bool{false, true} {
			e, secret := endpointAt(t, "https://example.com/", map[string]string{"X-Key": "a"})
			secrets := []string{secret}
			if rotation {
				secrets = append(secrets, rotated(t, e, time.Now()))
			}
			_, err := s.Send(t.Context(), Request{Org: org, Endpoint: e, ID: endpointID, Kind: Ping, Attempt: 1, Body: []byte(body)})
			require.NoError(t, err)
			i := len(r.requests) - 1
			require.Equal(t, body, string(r.bodies[i]))
			for _, secret := range secrets {
				require.NoError(t, verify(t, secret, r, i))
			}
			headers := map[string]string{}
			for name, values := range r.requests[i].Header {
				headers[strings.ToLower(name)] = values[0]
			}
			all = append(all, signedRequest{headers, body, secrets, []string{newSecret()}})
		}
	}
	if file := os.Getenv(envSignatures); file != "" {
		text, err := json.Marshal(all)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, text, 0o600))
	}
}
