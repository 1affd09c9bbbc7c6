package tenancy

import (
	"bytes"
	"context"
	"fmt"
	"strconv"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// Grant is what a token of the kind KindOAuth has beside other tokens: a member has let an application call with the member's
// permissions (spec.md section 5.2). The token's id stays the same as long as the application is connected; the texts that the
// application holds change. ExpiresAt of the token is the end of the refresh token.
type Grant struct {
	ClientID string `json:"client_id"`
	// Access are the access tokens that are not replaced by others yet, oldest first.
	Access []Access `json:"access,omitempty"`
	// RefreshHash is the SHA-256 of the refresh token's secret, and Mark the key of the mark in the secrets of all refresh tokens of the
	// grant: an old refresh token is told from a text that nobody was given.
	RefreshHash []byte `json:"refresh_hash,omitempty"`
	Mark        []byte `json:"mark,omitempty"`
	// Rotation is the last exchange of a refresh token; nil before the first.
	Rotation *Rotation `json:"rotation,omitempty"`
	// Ended is the reason of the end; empty for a connection that has not ended, or that the operator has ended.
	Ended string `json:"ended,omitempty"`
}

// The reasons of the end of a connection: the application or the member has ended it, or a code or refresh token was used again, which
// somebody else may have.
const (
	EndedByApplication = "application"
	EndedByMember      = "member"
	EndedByReuse       = "reuse"
	EndedByOperator    = "operator"
	// EndedByTime is for a connection that made room for another one, days after its last refresh token had ended.
	EndedByTime = "expired"
)

// Access is an access token, with a hash in place of the secret.
type Access struct {
	Hash      []byte    `json:"hash"`
	Scopes    []Scope   `json:"scopes"`
	ExpiresAt wire.Time `json:"expires_at"`
}

// Rotation is the exchange of a refresh token for a new one. Salt and the old secret give the secrets of the new tokens, so an
// application that lost the answer gets the same tokens again.
type Rotation struct {
	OldHash []byte    `json:"old_hash"`
	Salt    []byte    `json:"salt"`
	At      wire.Time `json:"at"`
}

// maxAccess is how many access tokens a grant has. Every request reads them, so they must stay small.
const maxAccess = 10

// AddAccess adds an access token, and drops the oldest of too many. Those that have expired stay as long as there is room: a refusal then
// has the right reason.
func (g *Grant) AddAccess(a Access) {
	g.Access = append(g.Access[max(0, len(g.Access)-maxAccess+1):], a)
}

// With returns the token as the access token with a hash has it: with the scopes and the end of the access token. Without such an
// access token, SecretHash of the result is nil. A token of another kind stays as it is.
func (t *Token) With(hash []byte) *Token {
	if t.Grant == nil {
		return t
	}
	as := *t
	for _, a := range t.Grant.Access {
		if bytes.Equal(a.Hash, hash) {
			as.SecretHash, as.Scopes, as.ExpiresAt = a.Hash, a.Scopes, &a.ExpiresAt
		}
	}
	return &as
}

// connectionsPK returns the partition with a line for each connection of a member that has not ended.
func connectionsPK(org, user int64) string { return fmt.Sprintf("R#connections#%d#%d", org, user) }

// connectionLines returns the write of the line of a connection that begins or ends.
func connectionLines(before, after *Token) []table.Write {
	line := table.Item{
		Key:     table.Key{PK: connectionsPK(after.OrgID, after.UserID), SK: fmt.Sprintf("%019d", after.ID)},
		Version: 1, Data: strconv.AppendInt(nil, after.ID, 10),
	}
	switch {
	case after.Grant == nil:
		return nil
	case before == nil:
		return []table.Write{table.Put(line)}
	case before.RevokedAt == nil && after.RevokedAt != nil:
		return []table.Write{table.Delete(line.Key)}
	}
	return nil
}

// Connections returns the connections of a member that have not ended, oldest first. The last tokens of some may have expired.
func (s Store) Connections(ctx context.Context, org, user int64) ([]*Token, error) {
	var pks []string
	for item, err := range s.Table.Between(ctx, connectionsPK(org, user), "0", ":") {
		if err != nil {
			return nil, err
		}
		id, err := strconv.ParseInt(string(item.Data), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("tenancy: line of the connections of member %d: %w", user, err)
		}
		pks = append(pks, TokenPK(org, id))
	}
	return Tokens.Existing(ctx, s, pks)
}
