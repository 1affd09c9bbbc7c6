package auth

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Authenticator authenticates the tokens of one region. It caches tokens and members in memory.
// A cached entry is valid while the organization's auth version is the same as when the entry
// was read.
type Authenticator struct {
	table  *table.Table
	now    func() time.Time
	region string
	memory memory
}

// New returns an Authenticator for the region's table.
func New(t *table.Table, now func() time.Time, region string) *Authenticator {
	return &Authenticator{table: t, now: now, region: region}
}

// Authenticate returns the caller of a request with a text of a form: an API token, or the access token of an application. It
// reads the organization and, unless event is 0, the event of the path in one strongly consistent
// batch. It reads the token and its member too if the cached entry is missing or not valid. The
// error is a Refusal if the token is not accepted.
func (a *Authenticator) Authenticate(ctx context.Context, form Form, token string, event int64) (*Caller, error) {
	if token == "" {
		return nil, Refuse(ReasonMissing)
	}
	text, err := Parse(form, token)
	if err != nil {
		return nil, err
	}
	if text.Region != a.region {
		return nil, Refuse(ReasonRegion)
	}
	found, err := a.find(ctx, text, event)
	if err != nil {
		return nil, err
	}
	if reason := found.refused(text, a.now()); reason != "" {
		return nil, found.refusal(reason)
	}
	return &Caller{Token: *found.token, Member: *found.member, Org: *found.org, Event: found.event}, nil
}

// found has the records of a request; nil for records that do not exist.
type found struct {
	// token is the token as the text has it, and stored as it is stored (tenancy.Token.With).
	token, stored *tenancy.Token
	member        *tenancy.Member
	org           *tenancy.Organization
	event         *programme.Event
}

// Credential returns the text by which a request says who sends it, and the form that the text must have: an API token, or the access
// token of an application in the header Authorization. A request with two different texts is refused (gaps.md section 1).
func Credential(h http.Header) (Form, string, error) {
	token, authorization := h.Get("X-Access-Token"), h.Get("Authorization")
	scheme, text, _ := strings.Cut(authorization, " ")
	bearer, isBearer := strings.TrimSpace(text), strings.EqualFold(scheme, "Bearer")
	switch {
	case authorization == "", isBearer && bearer == token && !strings.HasPrefix(token, string(FormAccess)):
		return FormToken, token, nil
	case token != "" && (!isBearer || bearer != token):
		return "", "", Refuse(ReasonTwo)
	case !isBearer:
		return "", "", Refuse(ReasonMalformed)
	}
	return FormAccess, bearer, nil
}

// find reads the records of a token's text. For a text with a wrong secret, it reads only the
// first batch and caches nothing.
func (a *Authenticator) find(ctx context.Context, text Text, event int64) (found, error) {
	cached, known := a.memory.get(text)
	known = known && !cached.lacks(text)
	keys := []table.Key{orgKey(text)}
	if event != 0 {
		keys = append(keys, table.Key{PK: table.Event(text.Org, event), SK: "-"})
	}
	if !known {
		keys = append(keys, tokenKey(text))
	}
	got, err := a.table.GetMany(ctx, keys)
	if err != nil {
		return found{}, err
	}
	f, err := decoded(got, text, event)
	if known {
		f.token, f.member = cached.token.With(text.Hash()), cached.member
	}
	if err != nil || f.forged(text) != "" || f.org == nil || known && current(cached, f.org) {
		return f, err
	}
	return a.renew(ctx, text, f)
}

// current reports whether a cached entry is valid. It is never valid without an auth version:
// an earlier release, which did not raise the version, may have made the last change.
func current(cached entry, org *tenancy.Organization) bool {
	return org.Auth != 0 && cached.auth == org.Auth
}

// renew reads token, member and organization from one consistent snapshot, and caches token and
// member with the auth version of the organization. With separate reads, an old token could be
// cached with a new auth version.
func (a *Authenticator) renew(ctx context.Context, text Text, f found) (found, error) {
	keys := []table.Key{orgKey(text), tokenKey(text), {PK: tenancy.MemberPK(text.Org, text.User), SK: "-"}}
	got, err := a.table.TransactGet(ctx, keys)
	if err != nil {
		return f, err
	}
	event := f.event
	if f, err = decoded(got, text, 0); err != nil {
		return f, err
	}
	f.event = event
	if f.org != nil && f.forged(text) == "" {
		a.memory.put(text, entry{token: f.stored, member: f.member, auth: f.org.Auth})
	}
	return f, nil
}

func orgKey(text Text) table.Key { return table.Key{PK: table.Org(text.Org), SK: "-"} }

func tokenKey(text Text) table.Key {
	return table.Key{PK: tenancy.TokenPK(text.Org, text.ID), SK: "-"}
}

// decoded decodes the records of a text from the items read.
func decoded(got map[table.Key]table.Item, text Text, event int64) (f found, err error) {
	take(got, tenancy.TokenPK(text.Org, text.ID), tenancy.Tokens, &f.stored, &err)
	if f.stored != nil {
		f.token = f.stored.With(text.Hash())
	}
	take(got, tenancy.MemberPK(text.Org, text.User), tenancy.Members, &f.member, &err)
	take(got, table.Org(text.Org), tenancy.Organizations, &f.org, &err)
	take(got, table.Event(text.Org, event), programme.Events, &f.event, &err)
	return f, err
}

// take decodes the record of a partition into to. It does nothing after an earlier error.
func take[T any](got map[table.Key]table.Item, pk string, family tenancy.Family[T], to **T, err *error) {
	if *err == nil {
		*to, *err = family.In(got, pk)
	}
}

// forged returns the reason if the text is not the text of an issued token; otherwise it is
// empty.
func (f found) forged(text Text) Reason {
	switch {
	case f.token == nil || f.token.UserID != text.User || (f.token.Grant != nil) != (text.Form == FormAccess):
		return ReasonUnknown
	case subtle.ConstantTimeCompare(f.token.SecretHash, text.Hash()) != 1:
		return ReasonWrongSecret
	}
	return ""
}

// refused returns the reason for a refusal; empty if the token is accepted.
func (f found) refused(text Text, now time.Time) Reason {
	if reason := f.forged(text); reason != "" {
		return reason
	}
	switch {
	case f.token.RevokedAt != nil:
		return ReasonRevoked
	case f.token.Expired(now):
		return ReasonExpired
	case f.org == nil || f.org.Disabled:
		return ReasonOrganization
	case f.member == nil || !f.member.Present():
		return ReasonOwner
	}
	return ""
}

// refusal returns the Refusal for a reason, with the token if the token exists.
func (f found) refusal(reason Reason) error {
	r := &Refusal{Reason: reason}
	if reason != ReasonUnknown {
		r.Org, r.Token = f.token.OrgID, f.token.ID
	}
	return r
}
