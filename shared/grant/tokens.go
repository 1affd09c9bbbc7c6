package grant

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"lectern/shared/auth"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Tokens is the answer to an application that gets tokens (RFC 6749 section 5.1).
type Tokens struct {
	AccessToken string `json:"access_token" doc:"The text for the header Authorization, after Bearer."`
	TokenType   string `json:"token_type" doc:"Always Bearer."`
	// ExpiresIn is in seconds.
	ExpiresIn    int    `json:"expires_in" doc:"The seconds until the access token ends."`
	RefreshToken string `json:"refresh_token" doc:"The text that gives new tokens, once."`
	Scope        string `json:"scope" doc:"The scopes of the access token, with spaces."`
}

// size is the number of bytes of a secret. The second half of a refresh token's secret is a mark.
const size = 32

// secrets are the secrets of an access and a refresh token.
type secrets struct{ access, refresh [size]byte }

// newSecrets returns secrets that follow from a random salt and the secret of the refresh token before: the same for the same. Without
// the salt, which is stored, or without the old secret, which is not, nobody can tell them.
func newSecrets(salt, old, mark []byte) (s secrets) {
	copy(s.access[:], derived(salt, "access", old))
	copy(s.refresh[:size/2], derived(salt, "refresh", old))
	copy(s.refresh[size/2:], derived(mark, "mark", s.refresh[:size/2]))
	return s
}

// isMarked reports whether a secret was made for a refresh token of the grant with a mark.
func isMarked(secret [size]byte, mark []byte) bool {
	return hmac.Equal(secret[size/2:], derived(mark, "mark", secret[:size/2])[:size/2])
}

// derived returns 32 bytes for a use, from a key and a text.
func derived(key []byte, use string, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(use + "\n"))
	h.Write(text)
	return h.Sum(nil)
}

func random() []byte {
	bytes := auth.NewSecret()
	return bytes[:]
}

// issue gives a connection new tokens in place of the refresh token, and returns the new access token.
func (st Store) issue(t *tenancy.Token, s secrets, scopes []auth.Scope) tenancy.Access {
	now := st.Tenancy.Now()
	access := tenancy.Access{Hash: hashOf(s.access), Scopes: scopes, ExpiresAt: wire.At(now.Add(accessLife))}
	t.Grant.AddAccess(access)
	until := wire.At(now.Add(refreshLife))
	t.Grant.RefreshHash, t.ExpiresAt = hashOf(s.refresh), &until
	return access
}

// shown returns the tokens of a connection with their texts.
func (st Store) shown(t *tenancy.Token, s secrets, access tenancy.Access) *Tokens {
	text := auth.Text{Form: auth.FormAccess, Region: st.Tenancy.Region, Org: t.OrgID, User: t.UserID, ID: t.ID, Secret: s.access}
	shown := &Tokens{
		AccessToken: text.String(), TokenType: "Bearer", Scope: JoinScopes(access.Scopes),
		ExpiresIn: int(access.ExpiresAt.Sub(st.Tenancy.Now()) / time.Second),
	}
	text.Form, text.Secret = auth.FormRefresh, s.refresh
	shown.RefreshToken = text.String()
	return shown
}

func hashOf(secret [size]byte) []byte { return auth.Text{Secret: secret}.Hash() }
