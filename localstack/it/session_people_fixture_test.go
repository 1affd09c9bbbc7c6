package it_test

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"
)

// troupe is a desk with people and companies for its sessions. They are called by
// name; Ann's address is ann@example.org.
type troupe struct {
	*desk
	// ids are those of contacts and accounts by name.
	ids map[string]string
}

// newTroupe starts a region with contacts of these names on its event.
func newTroupe(d *desk, names ...string) *troupe {
	d.t.Helper()
	t := &troupe{d, map[string]string{}}
	for _, name := range names {
		t.hire(name)
	}
	return t
}

func (t *troupe) hire(name string, more ...object) entity {
	t.t.Helper()
	made := t.person(emailOf(name), append([]object{{"first_name": name}}, more...)...)
	t.ids[name] = made.id()
	return made
}

// speakers makes n contacts and gives them as speakers of a session.
func (t *troupe) speakers(n int) []object {
	t.t.Helper()
	people := make([]object, n)
	for i := range people {
		name := fmt.Sprintf("P%d", i)
		t.hire(name)
		people[i] = t.part(name, "speaker")
	}
	return people
}

func emailOf(name string) string { return strings.ToLower(name) + "@example.org" }

// sign makes a new account in a role, or gives the role to one of that name.
func (t *troupe) sign(role, name string, more ...object) entity {
	t.t.Helper()
	body := merged(object{"name": name}, more...)
	if id, known := t.ids[name]; known {
		body = object{"account_id": id}
	}
	made := t.send(200, http.MethodPost, "/"+role+"s/create", body)
	t.ids[name] = made.id()
	return made
}

// fire deletes a contact, or an account in a role, from the event; rehire undoes it.
func (t *troupe) fire(kind, name string) {
	t.t.Helper()
	t.drop(kind, t.ids[name])
}

func (t *troupe) rehire(kind, name string) {
	t.t.Helper()
	t.revive(kind, t.ids[name])
}

// part puts a person into a role by its slug, as participants are written.
func (t *troupe) part(name, slug string, more ...object) object {
	t.t.Helper()
	require.Contains(t.t, t.ids, name)
	return merged(object{"contact_id": t.ids[name], "role_slug": slug}, more...)
}

// role makes a custom role and gives it; its slug is its name in small letters.
func (t *troupe) role(name, core string, more ...object) entity {
	t.t.Helper()
	return t.done("participant-role-create", merged(object{"name": name, "core_role": core}, more...))
}

// accounts are the ids of accounts.
func (t *troupe) accounts(names ...string) []string {
	t.t.Helper()
	ids := make([]string, len(names))
	for i, name := range names {
		require.Contains(t.t, t.ids, name)
		ids[i] = t.ids[name]
	}
	return ids
}

// billed are the participants that a session shows, such as "Ann speaker".
func billed(r entity) []string {
	names := []string{}
	for _, p := range r.list("participants") {
		names = append(names, p.text("first_name")+" "+p.at("participant_role.slug").(string))
	}
	return names
}

// named are the people of a legacy array.
func named(r entity, array string) []string { return texts(r.list(array), "first_name") }

// entriesOf are the session_participant_ids by who is billed.
func entriesOf(r entity) map[string]string {
	ids := map[string]string{}
	for i, who := range billed(r) {
		ids[who] = r.list("participants")[i].text("session_participant_id")
	}
	return ids
}
