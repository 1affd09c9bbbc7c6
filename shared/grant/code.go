package grant

import (
	"context"
	"crypto/subtle"
	"errors"
	"regexp"

	"golang.org/x/oauth2"

	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// code is an authorization code, stored under the hash of the text.
type code struct {
	ClientID    string       `json:"client_id"`
	RedirectURI string       `json:"redirect_uri"`
	Challenge   string       `json:"challenge"`
	Scopes      []auth.Scope `json:"scopes"`
	OrgID       int64        `json:"org_id"`
	UserID      int64        `json:"user_id"`
	ExpiresAt   wire.Time    `json:"expires_at"`
	// Connection is the id of the connection that the code was exchanged for; 0 before.
	Connection int64 `json:"connection,omitempty"`
}

func codeKey(text string) table.Key {
	return table.Key{PK: "R#code#" + secret.HashText(text), SK: "-"}
}

// item returns the item of the code.
func (c *code) item(key table.Key, version int64) (table.Item, error) {
	item, err := record.Encode(key, version, c)
	item.Expires = c.ExpiresAt.Add(usedLife).Unix()
	return item, err
}

// Approve returns a code for a request that a member has approved. The code can be exchanged once, within a minute. The error is
// access_denied for a member without AI Access.
func (st Store) Approve(ctx context.Context, a *Authorization, org, user int64) (string, error) {
	refused, err := st.connects(ctx, org, user)
	if err != nil {
		return "", err
	}
	if refused == nil {
		refused, err = st.makeRoom(ctx, org, user)
	}
	if err != nil {
		return "", err
	}
	if refused != nil {
		return "", refused
	}
	text := secret.NewText()
	c := &code{
		ClientID: a.Client.ID, RedirectURI: a.RedirectURI, Challenge: a.Challenge, Scopes: a.Scopes,
		OrgID: org, UserID: user, ExpiresAt: wire.At(st.Tenancy.Now().Add(codeLife)),
	}
	item, err := c.item(codeKey(text), 1)
	if err != nil {
		return "", err
	}
	noted := st.Tenancy.PersonWrites(ctx, org, user, tenancy.ConnectionApproved)
	return text, st.Tenancy.Table.Transact(ctx, append(noted, table.Insert(item))...)
}

// maxConnections is how many applications a member may have connected.
const maxConnections = 100

// makeRoom returns access_denied for a member with too many connections, and nil for another. It ends the connections whose tokens have
// all expired if there are too many.
func (st Store) makeRoom(ctx context.Context, org, user int64) (*Error, error) {
	all, err := st.Tenancy.Connections(ctx, org, user)
	if err != nil || len(all) < maxConnections {
		return nil, err
	}
	left := len(all)
	for _, t := range all {
		if !t.Expired(st.Tenancy.Now()) {
			continue
		}
		if _, err := st.end(ctx, org, t.ID, tenancy.EndedByTime); err != nil {
			return nil, err
		}
		left--
	}
	if left < maxConnections {
		return nil, nil
	}
	return refuse(AccessDenied, "The member has 100 connected applications already. Disconnect some first."), nil
}

// Exchange is the request of an application for the first tokens.
type Exchange struct{ Code, RedirectURI, ClientID, Verifier, Resource string }

// Tokens returns the first tokens of a connection for a code. A code that was exchanged before ends the connection. The error is
// an *Error for a request that breaks a rule.
func (st Store) Tokens(ctx context.Context, e Exchange) (*Tokens, error) {
	item, err := st.Tenancy.Table.Get(ctx, codeKey(e.Code))
	if errors.Is(err, table.ErrNotFound) {
		return nil, refuse(InvalidGrant, "The code is not valid.")
	}
	if err != nil {
		return nil, err
	}
	c, err := record.Decode[code](item)
	if err != nil {
		return nil, err
	}
	if c.Connection != 0 {
		return nil, st.usedAgain(ctx, c)
	}
	if err := st.admits(ctx, c, e); err != nil {
		return nil, err
	}
	client, err := st.Client(ctx, c.ClientID)
	if err != nil {
		return nil, err
	}
	refused, err := st.makeRoom(ctx, c.OrgID, c.UserID)
	if refused != nil {
		return nil, refuse(InvalidGrant, refused.Description)
	}
	if err != nil {
		return nil, err
	}
	if c.Scopes = common(c.Scopes, client.Scopes); len(c.Scopes) == 0 || !client.redirects(c.RedirectURI) {
		return nil, narrowed()
	}
	tokens, err := st.connect(asApplication(ctx, c.UserID, 0), item, c, client)
	if errors.Is(err, errUsed) {
		return st.Tokens(ctx, e) // Another request was faster. If it had the same code, this one is the second use.
	}
	return tokens, err
}

// usedAgain ends the connection of a code that is used a second time.
func (st Store) usedAgain(ctx context.Context, c *code) error {
	const why = "The code was used before, so the connection has ended."
	return st.endForReuse(asApplication(ctx, c.UserID, c.Connection), c.OrgID, c.Connection, why)
}

// isVerifier matches a code verifier (RFC 7636 section 4.1).
var isVerifier = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// admits refuses the exchange of an application that was not given the code.
func (st Store) admits(ctx context.Context, c *code, e Exchange) error {
	challenge := oauth2.S256ChallengeFromVerifier(e.Verifier)
	verified := isVerifier.MatchString(e.Verifier) && subtle.ConstantTimeCompare([]byte(challenge), []byte(c.Challenge)) == 1
	switch {
	case !st.Tenancy.Now().Before(c.ExpiresAt.Time):
		return refuse(InvalidGrant, "The code is not valid.")
	case c.ClientID != e.ClientID:
		return refuse(InvalidGrant, "The code was given to another application.")
	case c.RedirectURI != e.RedirectURI:
		return refuse(InvalidGrant, "redirect_uri is not that of the authorization request.")
	case !verified:
		return refuse(InvalidGrant, "code_verifier is not that of the authorization request.")
	case !st.isResource(e.Resource):
		return foreign()
	}
	refused, err := st.connects(ctx, c.OrgID, c.UserID)
	if refused != nil {
		return refuse(InvalidGrant, refused.Description)
	}
	return err
}

// errUsed is the error of a code that another request has used at the same time, and of an application that another one has connected.
var errUsed = errors.New("grant: the code or the application has changed")

// connect stores a new connection, and notes it in the code, in one transaction.
func (st Store) connect(ctx context.Context, was table.Item, c *code, client *Client) (*Tokens, error) {
	t := &tenancy.Token{
		OrgID: c.OrgID, UserID: c.UserID, Name: client.Name, Kind: tenancy.KindOAuth, Scopes: c.Scopes, EventIDs: []int64{},
		ObfuscatePII: true, Grant: &tenancy.Grant{ClientID: client.ID, Mark: random()},
	}
	s := newSecrets(random(), nil, t.Grant.Mark)
	access := st.issue(t, s, c.Scopes)
	if err := tenancy.Tokens.Create(ctx, st.Tenancy, t, use{c, was, t, client}); err != nil {
		return nil, err
	}
	return st.shown(t, s, access), nil
}

// use is the operation that notes in a code the connection that it was exchanged for.
type use struct {
	code       *code
	was        table.Item
	connection *tenancy.Token
	client     *Client
}

// Reads, More and Touches return nothing: the write has a condition.
func (use) Reads() []table.Key           { return nil }
func (use) More(write.Items) []table.Key { return nil }
func (use) Touches(write.Items) []string { return nil }

// Plan returns the write of the code, with the id of the connection, and the condition that the application is as it was read: one that
// the operator has disabled since gets nothing. An application that has registered itself and is connected for the first time has no end
// any more.
func (u use) Plan(context.Context, write.Items) (*write.Plan, error) {
	used := *u.code
	used.Connection = u.connection.ID
	item, err := used.item(u.was.Key, u.was.Version+1)
	if err != nil {
		return nil, err
	}
	application, err := u.client.kept()
	return &write.Plan{Writes: []table.Write{table.Replace(item, u.was.Version).Or(errUsed), application.Or(errUsed)}}, err
}
