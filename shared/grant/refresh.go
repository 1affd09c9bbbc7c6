package grant

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Refresh is the request of an application for new tokens. Scope may name fewer scopes than the member has approved.
type Refresh struct{ Token, ClientID, Scope, Resource string }

// errReuse is the error of a refresh token that was exchanged before.
var errReuse = errors.New("grant: the refresh token was used before")

// Refresh replaces a refresh token and returns new tokens. Within repeatTime the replaced token gives the same new tokens again;
// later the connection ends, since a stranger may have the token. The error is an *Error for a request that breaks a rule.
func (st Store) Refresh(ctx context.Context, r Refresh) (*Tokens, error) {
	if !wire.IsID(r.ClientID) {
		return nil, unknownClient()
	}
	text, err := auth.Parse(auth.FormRefresh, r.Token)
	if err != nil || text.Region != st.Tenancy.Region {
		return nil, refuse(InvalidGrant, "The refresh token is not valid.")
	}
	tokens, err := write.Run[*Tokens](ctx, st.Tenancy.Table, rotation{st, r, text})
	if errors.Is(err, errReuse) {
		return nil, st.endForReuse(asApplication(ctx, text.User, text.ID), text.Org, text.ID,
			"The refresh token was used before, so the connection has ended.")
	}
	return tokens, err
}

// rotation is the operation that replaces a refresh token.
type rotation struct {
	Store
	asked Refresh
	text  auth.Text
}

func (op rotation) tokenKey() table.Key {
	return table.Key{PK: tenancy.TokenPK(op.text.Org, op.text.ID), SK: "-"}
}

// Reads returns the keys of the connection, the member, the organization and the application.
func (op rotation) Reads() []table.Key {
	return append(personKeys(op.text.Org, op.text.User), op.tokenKey(), clientKey(op.asked.ClientID))
}

// More returns nil.
func (op rotation) More(write.Items) []table.Key { return nil }

// Touches returns nil: an operation of a bulk would wait for others that read the same.
func (op rotation) Touches(write.Items) []string { return nil }

// Plan checks the request, and replaces the refresh token. The repetition of a request writes nothing.
func (op rotation) Plan(_ context.Context, got write.Items) (*write.Plan, error) {
	t, err := op.connection(got)
	if err != nil {
		return nil, err
	}
	repeats, err := op.isRepetition(t)
	if err != nil {
		return nil, err
	}
	client, err := op.admits(t, got)
	if err != nil {
		return nil, err
	}
	scopes, refused := parseScopes(op.asked.Scope, t.Scopes, t.Scopes)
	if refused != nil {
		return nil, refused
	}
	if repeats {
		return op.repeat(t, scopes)
	}
	if scopes = common(scopes, client.Scopes); len(scopes) == 0 {
		return nil, narrowed()
	}
	salt := random()
	t.Grant.Rotation = &tenancy.Rotation{OldHash: op.text.Hash(), Salt: salt, At: op.now()}
	s := newSecrets(salt, op.text.Secret[:], t.Grant.Mark)
	access := op.issue(t, s, scopes)
	item, err := record.Encode(op.tokenKey(), t.Version+1, t)
	if err != nil {
		return nil, err
	}
	return &write.Plan{Writes: []table.Write{table.Replace(item, t.Version)}, Answer: op.shown(t, s, access)}, nil
}

// connection returns the connection of the text, unless the connection has ended.
func (op rotation) connection(got write.Items) (*tenancy.Token, error) {
	t, err := tenancy.Tokens.In(got, op.tokenKey().PK)
	if err != nil {
		return nil, err
	}
	if t == nil || t.Grant == nil || t.UserID != op.text.User || t.RevokedAt != nil || t.Expired(op.Tenancy.Now()) {
		return nil, refuse(InvalidGrant, "The refresh token is not valid.")
	}
	return t, nil
}

// isRepetition reports whether the text is the refresh token that the last exchange replaced, a moment ago. The error is errReuse for
// an older refresh token of the connection.
func (op rotation) isRepetition(t *tenancy.Token) (bool, error) {
	hash, last := op.text.Hash(), t.Grant.Rotation
	switch {
	case bytes.Equal(hash, t.Grant.RefreshHash):
		return false, nil
	case last != nil && bytes.Equal(hash, last.OldHash) && op.Tenancy.Now().Sub(last.At.Time) <= repeatTime:
		return true, nil
	case isMarked(op.text.Secret, t.Grant.Mark):
		return false, errReuse
	}
	return false, refuse(InvalidGrant, "The refresh token is not valid.")
}

// admits returns the connected application. It refuses a request of another application, and a request for a member without AI Access.
func (op rotation) admits(t *tenancy.Token, got write.Items) (*Client, error) {
	switch {
	case t.Grant.ClientID != op.asked.ClientID:
		return nil, refuse(InvalidGrant, "The refresh token was given to another application.")
	case !op.isResource(op.asked.Resource):
		return nil, foreign()
	}
	client, err := op.clientIn(got, op.asked.ClientID)
	if err != nil {
		return nil, err
	}
	refused, err := denied(got, op.text.Org, op.text.User)
	if refused != nil {
		return nil, refuse(InvalidGrant, refused.Description)
	}
	return client, err
}

// repeat answers the last exchange again, if the request asks for all scopes that were given then.
func (op rotation) repeat(t *tenancy.Token, scopes []auth.Scope) (*write.Plan, error) {
	s := newSecrets(t.Grant.Rotation.Salt, op.text.Secret[:], t.Grant.Mark)
	of := func(a tenancy.Access) bool { return bytes.Equal(a.Hash, hashOf(s.access)) }
	at := slices.IndexFunc(t.Grant.Access, of)
	if at < 0 || !bytes.Equal(hashOf(s.refresh), t.Grant.RefreshHash) {
		return nil, refuse(InvalidGrant, "The refresh token is not valid.")
	}
	if given := t.Grant.Access[at].Scopes; len(common(given, scopes)) < len(given) {
		return nil, refuse(InvalidScope, "The refresh token was exchanged a moment ago for other scopes.")
	}
	return &write.Plan{Answer: op.shown(t, s, t.Grant.Access[at])}, nil
}

// Revoke ends the connection of an access or refresh token (RFC 7009). It does nothing for a text that is neither, and for a token of
// another application.
func (st Store) Revoke(ctx context.Context, token, clientID string) error {
	for _, form := range []auth.Form{auth.FormAccess, auth.FormRefresh} {
		text, err := auth.Parse(form, token)
		if err != nil || text.Region != st.Tenancy.Region {
			continue
		}
		t, err := tenancy.Tokens.Get(ctx, st.Tenancy, tenancy.TokenPK(text.Org, text.ID))
		if err != nil || t.Grant == nil || clientID != "" && clientID != t.Grant.ClientID || !isOf(t, text) {
			return unlessNotFound(err)
		}
		_, err = st.end(asApplication(ctx, text.User, text.ID), text.Org, text.ID, tenancy.EndedByApplication)
		return err
	}
	return nil
}

// isOf reports whether the connection has given a text.
func isOf(t *tenancy.Token, text auth.Text) bool {
	if text.Form == auth.FormAccess {
		return t.With(text.Hash()).SecretHash != nil
	}
	return isMarked(text.Secret, t.Grant.Mark)
}

// Disconnect ends a connection as its member wishes. The error is a 404 for a connection of nobody or of another member.
func (st Store) Disconnect(ctx context.Context, org, user, id int64) error {
	t, err := tenancy.Tokens.Get(ctx, st.Tenancy, tenancy.TokenPK(org, id))
	if err != nil {
		return err
	}
	if t.Grant == nil || t.UserID != user {
		return apierr.NotFound("Connection")
	}
	ctx = change.WithActor(ctx, change.Actor{Type: change.ActorUser, ID: user}, change.SourceAPI)
	_, err = st.end(ctx, org, id, tenancy.EndedByMember)
	return err
}

// DisconnectAll ends the connections of an application in an organization, and returns how many there were.
func (st Store) DisconnectAll(ctx context.Context, org int64, clientID string) (ended int, err error) {
	ids, err := tenancy.Tokens.IDs(ctx, st.Tenancy, org)
	if err != nil {
		return 0, err
	}
	pks := make([]string, len(ids))
	for i, id := range ids {
		pks[i] = tenancy.TokenPK(org, id)
	}
	all, err := tenancy.Tokens.Existing(ctx, st.Tenancy, pks)
	for _, t := range all {
		if t.Grant == nil || t.Grant.ClientID != clientID || t.RevokedAt != nil {
			continue
		}
		if _, err := st.end(ctx, org, t.ID, tenancy.EndedByOperator); err != nil {
			return ended, err
		}
		ended++
	}
	return ended, err
}
