package auth

import (
	"context"
	"crypto/subtle"
	"time"

	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Authenticator recognizes the tokens of one region. It keeps tokens and members in memory
// and uses them only while their organization's auth version is the one they were read with.
type Authenticator struct {
	table  *table.Table
	now    func() time.Time
	region string
	memory memory
}

// New makes an Authenticator for the region's table.
func New(t *table.Table, now func() time.Time, region string) *Authenticator {
	return &Authenticator{table: t, now: now, region: region}
}

// Authenticate returns the caller who bears a token. It reads the organization and, unless
// event is 0, the event of the path, strongly consistent in one batch; the token and its
// maker too where the memory does not hold them as they are. A token that is not accepted
// gives a Refusal.
func (a *Authenticator) Authenticate(ctx context.Context, token string, event int64) (*Caller, error) {
	if token == "" {
		return nil, Refuse(ReasonMissing)
	}
	text, err := Parse(token)
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

// found is what stands behind a token's text; nil where there is nothing.
type found struct {
	token  *tenancy.Token
	member *tenancy.Member
	org    *tenancy.Organization
	event  *programme.Event
}

// find reads what stands behind a token's text. A text with a wrong secret has nothing read
// beyond the first batch, and nothing kept.
func (a *Authenticator) find(ctx context.Context, text Text, event int64) (found, error) {
	kept, known := a.memory.get(text)
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
		f.token, f.member = kept.token, kept.member
	}
	if err != nil || f.forged(text) != "" || f.org == nil || known && current(kept, f.org) {
		return f, err
	}
	return a.renew(ctx, text, f)
}

// current reports whether nothing that kept holds has changed. Without an auth version
// nobody knows: a release that does not raise it may have made the last change.
func current(kept entry, org *tenancy.Organization) bool {
	return org.Auth != 0 && kept.auth == org.Auth
}

// renew reads token, member and organization of one moment, and keeps the first two under
// the auth version that the organization had then. Reads one after another could give an
// old token beside a new version, also while their transaction becomes visible.
func (a *Authenticator) renew(ctx context.Context, text Text, f found) (found, error) {
	keys := []table.Key{orgKey(text), tokenKey(text), {PK: tenancy.MemberPK(text.Org, text.User), SK: "-"}}
	got, err := a.table.Together(ctx, keys)
	if err != nil {
		return f, err
	}
	event := f.event
	if f, err = decoded(got, text, 0); err != nil {
		return f, err
	}
	f.event = event
	if f.org != nil && f.forged(text) == "" {
		a.memory.put(text, entry{token: f.token, member: f.member, auth: f.org.Auth})
	}
	return f, nil
}

func orgKey(text Text) table.Key { return table.Key{PK: table.Org(text.Org), SK: "-"} }

func tokenKey(text Text) table.Key {
	return table.Key{PK: tenancy.TokenPK(text.Org, text.ID), SK: "-"}
}

// decoded reads the records of a text among the items.
func decoded(got map[table.Key]table.Item, text Text, event int64) (f found, err error) {
	take(got, tenancy.TokenPK(text.Org, text.ID), tenancy.Tokens, &f.token, &err)
	take(got, tenancy.MemberPK(text.Org, text.User), tenancy.Members, &f.member, &err)
	take(got, table.Org(text.Org), tenancy.Organizations, &f.org, &err)
	take(got, table.Event(text.Org, event), programme.Events, &f.event, &err)
	return f, err
}

// take reads the record of a partition, if there is one and no error so far.
func take[T any](got map[table.Key]table.Item, pk string, family tenancy.Family[T], to **T, err *error) {
	if item, ok := got[table.Key{PK: pk, SK: "-"}]; ok && *err == nil {
		*to, *err = family.Decode(item)
	}
}

// forged returns why the bearer was never given this text; empty if they were.
func (f found) forged(text Text) Reason {
	switch {
	case f.token == nil || f.token.UserID != text.User:
		return ReasonUnknown
	case subtle.ConstantTimeCompare(f.token.SecretHash, text.Hash()) != 1:
		return ReasonWrongSecret
	}
	return ""
}

// refused returns why the records do not let the bearer in; empty if they do.
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

// refusal names the token if it is known, for the log.
func (f found) refusal(reason Reason) error {
	r := &Refusal{Reason: reason}
	if reason != ReasonUnknown {
		r.Org, r.Token = f.token.OrgID, f.token.ID
	}
	return r
}
