package batteries_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// quarry is a search of people or accounts: where it is, which role on the event it
// goes by, and whether its people are those on sessions.
type quarry struct {
	name, role       string
	bySession, whole bool
}

// The searches of people and accounts.
var (
	allContacts     = quarry{name: "contacts", role: "contact"}
	allOrganization = quarry{name: "contacts", role: "contact", whole: true}
	allSponsors     = quarry{name: "sponsors", role: "sponsor"}
	allExhibitors   = quarry{name: "exhibitors", role: "exhibitor"}
	allSpeakers     = quarry{name: "speakers", role: "contact", bySession: true}
	allParticipants = quarry{name: "participants", role: "contact", bySession: true}
	hunted          = []quarry{allContacts, allContacts, allOrganization, allSponsors, allExhibitors, allSpeakers, allSpeakers, allParticipants, allParticipants, allParticipants}
)

// hunt is a search of people or accounts, and what it means: the naive reading of
// spec.md section 4.3 and gaps.md section 1.
type hunt struct {
	ask
	quarry
	event  int64
	roleID []string
	slugs  []string
	email  string
}

func (m *model) family(c quarry) *family[*member] {
	if c == allSponsors || c == allExhibitors {
		return m.accounts
	}
	return m.contacts
}

// seek makes a random search of people or accounts, of a part that may have results.
func seek(r *rand.Rand, m *model) hunt {
	q := hunt{quarry: it.OneOf(r, hunted)}
	q.text = fragment(r)
	q.leaf(r)
	switch {
	case q.whole:
	case q.bySession:
		q.event = m.events[0]
		q.ids = categories(r, m)
	default:
		q.event = it.OneOf(r, m.events)
	}
	family := m.family(q.quarry)
	ids := family.some(func(*member) bool { return true })
	var all []dated
	for _, id := range ids {
		all = append(all, sighting{family.state(id), q.event})
	}
	names := []string{"createdAt", "updatedAt"}
	q.ranges, q.sort = spans(r, all, names), sorts(r, names)
	if q.quarry == allParticipants {
		q.wanted(r, m, ids)
	}
	return q
}

// wanted draws what only participants are searched by.
func (q *hunt) wanted(r *rand.Rand, m *model, ids []string) {
	for _, role := range m.roles {
		if chance(r, 5) {
			q.roleID = append(q.roleID, role.id)
		}
		if chance(r, 5) {
			q.slugs = append(q.slugs, role.slug)
		}
	}
	if len(ids) > 0 && chance(r, 6) {
		q.email = strings.ToUpper(m.contacts.state(it.OneOf(r, ids)).values["email"])
	}
}

// roleFilters are the two filters by role, each of which a person passes by a role of
// its own: by id and by slug. Speakers pass both by theirs.
func (q hunt) roleFilters() [2]func(sessionRole) bool {
	if q.quarry == allSpeakers {
		speaks := func(role sessionRole) bool { return role.slug == "speaker" }
		return [2]func(sessionRole) bool{speaks, speaks}
	}
	return [2]func(sessionRole) bool{
		func(role sessionRole) bool { return len(q.roleID) == 0 || slices.Contains(q.roleID, role.id) },
		func(role sessionRole) bool { return len(q.slugs) == 0 || slices.Contains(q.slugs, role.slug) },
	}
}

// keeps is whether a member as it stands on the event is among the results, but for
// the sessions that it must be on.
func (q hunt) keeps(s sighting) bool {
	return (q.whole || s.holds(q.event, q.role)) && (q.email == "" || strings.EqualFold(q.email, s.values["email"])) &&
		q.timely(s) && s.mentions(q.text)
}

// counts is whether having a role on the session is what the search asks for.
func (q hunt) counts(s *state, live func(id string) bool) bool {
	return s.deleted == 0 && (len(q.ids) == 0 || s.parent == "" && q.categorized(s, live))
}

// request is the search as a client sends it.
func (q hunt) request(s *stacktest.Stack) it.Request {
	filters := q.filters()
	put := func(name string, value any, there bool) {
		if there {
			filters[name] = value
		}
	}
	put("search", q.text, q.text != "")
	put("roleIds", q.roleID, len(q.roleID) > 0)
	put("roleSlugs", q.slugs, len(q.slugs) > 0)
	put("email", q.email, q.email != "")
	body := map[string]any{"filters": filters, "sort": json.RawMessage(q.sortText())}
	return it.Request{Method: "POST", Path: fmt.Sprintf("%s?page=%d&pageSize=%d", q.path(s), q.page, q.size), Body: body}
}

func (q hunt) path(s *stacktest.Stack) string {
	if q.whole {
		return fmt.Sprintf("/v1/organization/%d/%s", s.Org, q.name)
	}
	return s.In(q.event).EventPath("/" + q.name)
}

// single is the address of one of the results.
func (q hunt) single(s *stacktest.Stack, p *shownMember) string {
	if q.quarry == allParticipants {
		return q.path(s) + "?email=" + url.QueryEscape(p.values["email"])
	}
	return q.path(s) + "/" + p.id
}

func (q hunt) String() string {
	return fmt.Sprintf("%s whole=%v event=%d roles=%v slugs=%v email=%q %s", q.name, q.whole, q.event, q.roleID, q.slugs, q.email, q.ask)
}
