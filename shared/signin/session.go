package signin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"maps"
	"slices"
	"strings"

	"lectern/shared/record"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// session is the stored part of a session: who the person was at the sign-in.
type session struct {
	Email string `json:"email"`
	Name  string `json:"name"`
	// Hosted is the domain that Google hosts for the person; empty without.
	Hosted string `json:"hosted,omitempty"`
	// Issuer and Client name the provider that has verified the address.
	Issuer    string       `json:"issuer"`
	Client    string       `json:"client"`
	Members   []membership `json:"members"`
	StartedAt wire.Time    `json:"started_at"`
	SeenAt    wire.Time    `json:"seen_at"`
}

// membership names a member, and the provider that the organization trusts for the member.
type membership struct {
	Org      int64 `json:"org"`
	User     int64 `json:"user"`
	Provider int64 `json:"provider"`
}

const browsers = "browser"

// Started is a session that has started: the cookie for the browser, and the path to which it goes.
type Started struct{ Cookie, ReturnTo string }

// The actions of security events.
const (
	SignedIn  = "member.signed_in"
	SignedOut = "member.signed_out"
)

// start starts a session for a person, with a new cookie.
func (st Store) start(ctx context.Context, p *tenancy.Provider, who claims, returnTo string) (*Started, error) {
	members, err := st.members(ctx, p, who)
	if err != nil {
		return nil, err
	}
	now := wire.At(st.Tenancy.Now())
	s := &session{who.Email, who.Name, who.Hosted, p.Issuer, p.ClientID, members, now, now}
	active, err := st.activeMembers(ctx, s)
	if err != nil {
		return nil, err
	}
	if len(active) == 0 {
		return nil, &Refusal{NoMember, p.OrgID, errors.New("no active member has the address")}
	}
	cookie := secret.NewText()
	item, err := s.item(keyOf(browsers, cookie), 1)
	if err != nil {
		return nil, err
	}
	writes := append(st.events(ctx, members, SignedIn), table.Insert(item))
	return &Started{cookie, returnTo}, st.Tenancy.Table.Transact(ctx, writes...)
}

// isSame reports whether two addresses are the same but for the case of letters.
func isSame(a, b string) bool {
	return domainOf(a) != "" && domainOf(b) != "" && strings.EqualFold(a, b)
}

// maxMembers is the largest number of members that a person signs in as: their security events are in one transaction.
const maxMembers = 50

// members returns the active members with a person's address in all organizations that trust a provider for the person, first those in
// the provider's own.
func (st Store) members(ctx context.Context, p *tenancy.Provider, who claims) (found []membership, err error) {
	email := who.Email
	trusted, err := st.trusted(ctx, domainOf(email))
	if err != nil {
		return nil, err
	}
	for i, other := range append([]*tenancy.Provider{p}, trusted...) {
		if i > 0 && (other.ID == p.ID || !other.IsSame(p) || !trusts(other, email, who.Hosted)) {
			continue
		}
		all, err := st.Tenancy.MembersWith(ctx, other.OrgID, email)
		if err != nil {
			return nil, err
		}
		for _, m := range all {
			one := membership{m.OrgID, m.ID, other.ID}
			if m.Present() && isSame(m.Email, email) && !slices.Contains(found, one) {
				found = append(found, one)
			}
		}
	}
	return found[:min(len(found), maxMembers)], nil
}

// item returns the item of the session.
func (s *session) item(key table.Key, version int64) (table.Item, error) {
	item, err := record.Encode(key, version, s)
	item.Expires = s.StartedAt.Add(sessionLife).Unix()
	return item, err
}

// events returns the writes of the security events of a person, in each organization.
func (st Store) events(ctx context.Context, members []membership, action string) (writes []table.Write) {
	for _, m := range members {
		writes = append(writes, st.Tenancy.PersonWrites(ctx, m.Org, m.User, action)...)
	}
	return writes
}

// Session is a session of a browser, with the members that the person is now.
type Session struct {
	Email, Name string
	Members     []Member
	// FormToken is the text that each form of the session repeats, so that no other site can send it.
	FormToken string
}

// Member is a member with the organization.
type Member struct {
	*tenancy.Member
	Organization *tenancy.Organization
}

// Connects reports whether the member may connect applications.
func (m Member) Connects() bool { return m.MayConnect(m.Organization) }

// Session returns the session of a cookie; nil for an unknown cookie, and for a session that has ended: by time, or since the person is
// no member any more.
func (st Store) Session(ctx context.Context, cookie string) (*Session, error) {
	item, stored, err := st.stored(ctx, cookie)
	if err != nil || stored == nil {
		return nil, err
	}
	now := st.Tenancy.Now()
	if now.Sub(stored.SeenAt.Time) >= idleLife || now.Sub(stored.StartedAt.Time) >= sessionLife {
		return nil, nil
	}
	members, err := st.activeMembers(ctx, stored)
	if err != nil {
		return nil, err
	}
	if len(members) == 0 {
		return nil, st.Tenancy.Table.Transact(ctx, table.Delete(item.Key)) // It must not come back with the member.
	}
	if err := st.seen(ctx, item, stored); err != nil {
		return nil, err
	}
	return &Session{stored.Email, stored.Name, members, formToken(cookie)}, nil
}

// stored returns the session of a cookie with the item; nil for an unknown cookie.
func (st Store) stored(ctx context.Context, cookie string) (item table.Item, s *session, err error) {
	item, err = st.Tenancy.Table.Get(ctx, keyOf(browsers, cookie))
	if errors.Is(err, table.ErrNotFound) {
		return item, nil, nil
	}
	if err == nil {
		s, err = record.Decode[session](item)
	}
	return item, s, err
}

// seen notes that a session was used, unless it has been noted lately, or another request notes it.
func (st Store) seen(ctx context.Context, item table.Item, stored *session) error {
	now := st.Tenancy.Now()
	if now.Sub(stored.SeenAt.Time) < seenEvery {
		return nil
	}
	stored.SeenAt = wire.At(now)
	next, err := stored.item(item.Key, item.Version+1)
	if err != nil {
		return err
	}
	err = st.Tenancy.Table.Transact(ctx, table.Replace(next, item.Version))
	if errors.Is(err, table.ErrStale) {
		return nil
	}
	return err
}

// activeMembers returns the members of a session whose organizations still trust the provider for the address.
func (st Store) activeMembers(ctx context.Context, s *session) (members []Member, err error) {
	keys := map[table.Key]bool{}
	for _, m := range s.Members {
		for _, pk := range []string{tenancy.MemberPK(m.Org, m.User), table.Org(m.Org), tenancy.ProviderPK(m.Org, m.Provider)} {
			keys[table.Key{PK: pk, SK: "-"}] = true
		}
	}
	got, err := st.Tenancy.Table.GetMany(ctx, slices.Collect(maps.Keys(keys)))
	if err != nil {
		return nil, err
	}
	for _, one := range s.Members {
		m, err := s.activeMember(got, one)
		if err != nil {
			return nil, err
		}
		if m != nil {
			members = append(members, *m)
		}
	}
	return members, nil
}

// activeMember returns a member with the organization, from items that were read. It returns nil if the member has not been active all the
// time since the sign-in or has another address, if the organization is disabled, or if it does not trust the provider for the address.
func (s *session) activeMember(got write.Items, one membership) (*Member, error) {
	p, err := tenancy.Providers.In(got, tenancy.ProviderPK(one.Org, one.Provider))
	if err != nil || p == nil || !s.isTrustedBy(p) {
		return nil, err
	}
	m, err := tenancy.Members.In(got, tenancy.MemberPK(one.Org, one.User))
	if err != nil || m == nil || !m.Present() || m.AbsentSince(s.StartedAt) || !isSame(m.Email, s.Email) {
		return nil, err
	}
	o, err := tenancy.Organizations.In(got, table.Org(one.Org))
	if err != nil || o == nil || o.Disabled {
		return nil, err
	}
	return &Member{m, o}, nil
}

// isTrustedBy reports whether a provider is the one of the session, and is trusted for the address.
func (s *session) isTrustedBy(p *tenancy.Provider) bool {
	return !p.Disabled && trusts(p, s.Email, s.Hosted) && p.Issuer == s.Issuer && p.ClientID == s.Client
}

// End ends the session of a cookie. An unknown cookie is ignored.
func (st Store) End(ctx context.Context, cookie string) error {
	item, stored, err := st.stored(ctx, cookie)
	if err != nil || stored == nil {
		return err
	}
	return st.Tenancy.Table.Transact(ctx, append(st.events(ctx, stored.Members, SignedOut), table.Delete(item.Key))...)
}

// formToken returns the text for the forms of a session. It follows from the cookie, which no other site has.
func formToken(cookie string) string {
	h := hmac.New(sha256.New, []byte(cookie))
	h.Write([]byte("form"))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// IsForm reports whether a text is that of the session's forms.
func (s *Session) IsForm(text string) bool { return hmac.Equal([]byte(text), []byte(s.FormToken)) }
