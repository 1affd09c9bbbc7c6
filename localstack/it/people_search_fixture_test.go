package it_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// crowd is a troupe whose people are on sessions.
type crowd struct {
	*troupe
	// who are the contacts, and held the sessions, by name or title.
	who, held map[string]entity
}

func newCrowd(t *testing.T, features ...string) *crowd {
	t.Helper()
	return crowdOf(newDesk(t, features...))
}

func crowdOf(d *desk) *crowd { return &crowd{newTroupe(d), map[string]entity{}, map[string]entity{}} }

// there is the crowd of another event of the organization.
func (c *crowd) there(features ...string) *crowd { return crowdOf(c.elsewhere(features...)) }

// seenBy is the crowd as another caller asks for it.
func (c *crowd) seenBy(d *desk) *crowd { return &crowd{&troupe{d, c.ids}, c.who, c.held} }

// meet puts people on the event.
func (c *crowd) meet(names ...string) {
	c.t.Helper()
	for _, name := range names {
		c.who[name] = c.hire(name)
	}
}

// places are participants as they are written: of "Ann speaker", the person and
// the slug of the role.
func places(people []string) []object {
	entries := make([]object, len(people))
	for i, person := range people {
		name, slug, _ := strings.Cut(person, " ")
		entries[i] = object{"email": emailOf(name), "role_slug": slug}
	}
	return entries
}

// hold makes a session with people on it and gives its id.
func (c *crowd) hold(title string, more object, people ...string) string {
	c.t.Helper()
	c.held[title] = c.create(200, merged(object{"title": title, "participants": places(people)}, more))
	return c.held[title].id()
}

// recast replaces the people of a session.
func (c *crowd) recast(title string, people ...string) {
	c.t.Helper()
	c.put(200, c.held[title].id(), object{"participants": places(people)})
}

// custom makes a custom role and gives its id.
func (c *crowd) custom(name, core string) string {
	c.t.Helper()
	return c.role(name, core).id()
}

// sessions are the ids of sessions in the order they were made.
func (c *crowd) sessions(titles ...string) []any {
	var all []entity
	for _, title := range titles {
		require.Contains(c.t, c.held, title)
		all = append(all, c.held[title])
	}
	slices.SortFunc(all, oldestFirst)
	return column(all, "id")
}

func (c *crowd) id(name string) string {
	c.t.Helper()
	require.Contains(c.t, c.ids, name)
	return c.ids[name]
}

// find is a search of people: of speakers or participants.
func (c *crowd) find(what string, body any, parts ...string) found {
	c.t.Helper()
	return stacktest.Call[found](c.Stack, 200, http.MethodPost, c.EventPath("/"+what+query(parts)), body)
}

// names are those whom a search by filters alone finds, in the order of their names.
func (c *crowd) names(what string, filters object) string {
	c.t.Helper()
	answer := c.find(what, object{"filters": merged(filters)}, "pageSize=100")
	require.Len(c.t, answer.Results, answer.Pagination.TotalResults)
	names := texts(answer.Results, "full_name")
	slices.Sort(names)
	return strings.Join(names, " ")
}

// participant is the participant with the address of a name.
func (c *crowd) participant(status int, name string) entity {
	c.t.Helper()
	return c.send(status, http.MethodGet, "/participants?email="+emailOf(name), nil)
}

// rolesOf are a participant's roles, each with the sessions it is held on.
func rolesOf(participant entity) map[string]any {
	roles := map[string]any{}
	for _, role := range participant.list("roles") {
		roles[role.text("slug")] = role["sessionIds"]
	}
	return roles
}

// roleIDs are the ids of the roles of the event by name in small letters.
func (c *crowd) roleIDs() map[string]string {
	c.t.Helper()
	ids := map[string]string{}
	for _, role := range c.array("/participant-roles") {
		ids[strings.ToLower(role.text("name"))] = role.id()
	}
	return ids
}
