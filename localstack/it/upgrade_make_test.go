package it_test

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/demo"
	"lectern/localstack/stacktest"
	"lectern/shared/metadata"
)

// makeUpgrade writes the fixture anew, as a release is tagged: the next one is then
// held to what this one has written (testdata/upgrade/README.md).
var makeUpgrade = flag.Bool("make-upgrade", false, "write the fixture of the upgrade test anew")

// oldTown is the content of the fixture: an organization with two events, and another one.
type oldTown struct {
	*troupe
	there, stranger *troupe
	notes           upgradeNotes
	// entries are the ids of settings, and values the names of fields, by name.
	entries, values map[string]string
}

// TestMakeUpgrade does nothing without its flag.
func TestMakeUpgrade(t *testing.T) {
	if !*makeUpgrade {
		return
	}
	s, e := startOpen(t, nil, stacktest.Features(slices.Concat(demo.Features, []string{"translated_fields", "primary_speakers"})...))
	d := &desk{s, t}
	town := &oldTown{
		troupe: newTroupe(d), there: newTroupe(d.elsewhere("sessions_2_0")),
		stranger: newTroupe(&desk{s.NewOrganization(t, "sessions_2_0"), t}),
		entries:  map[string]string{}, values: map[string]string{},
	}
	town.notes = upgradeNotes{Org: s.Org, Member: s.Member, Event: s.Event, There: town.there.Event, Stranger: town.stranger.Org,
		StrangerEvent: town.stranger.Event, Tokens: map[string]string{"all": s.Token, "stranger": town.stranger.Token}}
	town.makeTenants()
	town.makeSettings()
	town.makePeople()
	town.makeCompanies()
	town.makeSessions()
	town.makeSubsessions()
	town.makeStranger()
	town.makeKeys()
	town.notes.Statuses = map[string]int{}
	for _, q := range town.questions() {
		answer := q.ask(t, s, town.notes)
		town.notes.Statuses[fmt.Sprint(answer.Status)]++
		town.notes.Questions = append(town.notes.Questions, answer)
	}
	e.whole(t)
	pack(t, upgradeItems, e.scan(t)...)
	pack(t, upgradeAnswers, town.notes)
}

// makeTenants makes members and tokens in every state.
func (o *oldTown) makeTenants() {
	in := object{"org_id": o.Org}
	member := func(name string, more object) any {
		body := merged(in, object{"name": name, "email": strings.ToLower(name) + "@example.org", "role": "member"}, more)
		return o.Operator(o.t, "member-create", body)["id"]
	}
	token := func(name string, more object) any {
		made := o.Operator(o.t, "token-create", merged(in, object{"user_id": o.Member, "name": name}, more))
		o.notes.Tokens[name] = made["token"].(string)
		return made["id"]
	}
	gone, back := member("Gone", nil), member("Back", object{"manage_users": true})
	guest := member("Guest", object{"role": "event_only", "event_ids": []int64{o.there.Event}})
	token("of a removed member", object{"user_id": gone, "scopes": []string{"read:events"}})
	for _, id := range []any{gone, back} {
		o.Operator(o.t, "member-remove", merged(in, object{"user_id": id}))
	}
	o.Operator(o.t, "member-restore", merged(in, object{"user_id": back}))
	o.Operator(o.t, "member-update", merged(in, object{"user_id": back, "name": "Back again"}))
	token("guest", object{"user_id": guest, "scopes": []string{"read:events", "read:sessions", "read:contacts"}})
	token("reader", object{"scopes": []string{"read:events", "read:sessions", "read:contacts"}, "event_ids": []int64{o.Event}})
	token("legacy", object{"kind": "legacy"})
	token("log", object{"kind": "log_export"})
	id := token("revoked", object{"scopes": []string{"read:events"}})
	o.Operator(o.t, "token-revoke", merged(in, object{"token_id": id}))
	o.Operator(o.t, "organization-update", merged(in, object{"name": "Old Town"}))
	o.done("event-update", object{"name": "Old Town Days", "integration_mappings": []object{{"source": "crm", "external_id": "7"}},
		"custom_fields": []object{{"name": "Motto", "type": "text", "value": "Onward"}}})
}

// makeSettings makes settings of every kind: some are changed, one of each is deleted.
func (o *oldTown) makeSettings() {
	for _, kind := range metadata.Kinds {
		for _, name := range []string{"First", "Second", "Third", "Dropped"} {
			o.entries[string(kind)+" "+name] = o.entry(string(kind), name).id()
		}
		o.send(200, http.MethodPut, "/"+string(kind)+"/"+o.entries[string(kind)+" Second"], object{"name": "Changed"})
		o.drop(string(kind), o.entries[string(kind)+" Dropped"])
	}
	for _, name := range []string{"Waiting", "Dropped", "Back"} {
		o.entries["statuses "+name] = o.entry("statuses", name, object{"status": "pending"}).id()
	}
	o.drop("statuses", o.entries["statuses Dropped"])
	o.drop("statuses", o.entries["statuses Back"])
	o.revive("statuses", o.entries["statuses Back"])
	for _, module := range []string{"session", "contact", "account"} {
		of := object{"module_id": module}
		o.values[module+" text"] = o.field("Remark", "text", of)
		o.values[module+" number"] = o.field("Weight", "number", of)
		o.values[module+" choice"] = o.field("Size", "dropdown", of, object{"options": []string{"S", "M", "L"}, "multiple": true})
		if module != "session" {
			o.values[module+" global"] = o.field("Everywhere", "text", of, organizationWide)
		}
		made := o.send(200, http.MethodPost, "/fields/create", merged(of, object{"name": "Dropped", "type": "text"}))
		o.drop("fields", made.id())
	}
	o.values["there"] = o.there.field("Seat", "text", object{"module_id": "contact"})
	owned := o.done("connector-field-create", object{"name": "Stage", "type": "dropdown", "module_id": "session", "source": "crm", "options": []string{"A", "B"}})
	o.done("connector-field-update", object{"field_id": owned.id(), "name": "Stage of the deal"})
	host := o.done("participant-role-create", object{"name": "Host", "core_role": "moderator"})
	o.entries["role"] = host.id()
	gone := o.done("participant-role-create", object{"name": "Usher", "core_role": "speaker"})
	o.done("participant-role-update", object{"role_id": host.id(), "name": "Workshop host"})
	o.done("participant-role-delete", object{"role_id": gone.id()})
	o.there.entry("tracks", "Over there")
}

var townspeople = strings.Fields("Ann Bob Cid Dot Eve Fay Gus Hal Ida Jan Kay Lou Max Ned Ola Pat Quin Ray Sue Tom Uma Vic Wes Xen Yin Zoe")

// makePeople makes contacts on one event, and on both, with values of fields.
func (o *oldTown) makePeople() {
	for i, name := range townspeople {
		more := object{"last_name": "Old", "company": fmt.Sprintf("Company %d", i%5), "title": "Smith", "about": "<p>" + strings.Repeat(name+" works here. ", i) + "</p>",
			"address_country": "France", "custom_fields": object{o.values["contact text"]: "of " + name, o.values["contact number"]: i, o.values["contact global"]: "all"}}
		if i%4 == 0 {
			more["translations"] = object{"de": object{"title": "Schmied"}}
		}
		o.hire(name, more)
		if i%3 == 0 {
			o.there.ids[name] = o.there.person(emailOf(name), object{"custom_fields": object{o.values["there"]: fmt.Sprint(i)}}).id()
		}
	}
	contact := func(name string) string { return "/contacts/" + o.ids[name] }
	o.send(200, http.MethodPut, contact("Bob"), object{"first_name": "Robert", "email": "robert@example.org"})
	o.send(200, http.MethodPut, contact("Ann"), object{"phone": "+33 1 23 45 67"})
	o.there.send(200, http.MethodPut, contact("Ann"), object{"custom_fields": object{o.values["there"]: "changed"}})
	for _, name := range []string{"Yin", "Zoe", "Xen"} {
		o.drop("contacts", o.ids[name])
	}
	o.revive("contacts", o.ids["Zoe"])
	o.there.drop("contacts", o.ids["Gus"])
	o.there.hire("Una")
}

// makeCompanies makes accounts in one role, and in both, with their contacts.
func (o *oldTown) makeCompanies() {
	for i, name := range []string{"Acme", "Bolt", "Cork", "Dune", "Elm"} {
		more := object{"description": "Makers of " + name, "custom_fields": object{o.values["account text"]: name},
			"contacts": []object{{"contact_id": o.ids[townspeople[i]], "is_primary": true}, {"contact_id": o.ids[townspeople[i+5]]}}}
		o.sign("sponsor", name, more)
		if i%2 == 0 {
			o.sign("exhibitor", name)
			o.there.ids[name] = o.ids[name]
			o.there.sign("sponsor", name)
		}
	}
	o.sign("exhibitor", "Foil")
	o.drop("sponsors", o.ids["Bolt"])
	o.drop("sponsors", o.ids["Dune"])
	o.revive("sponsors", o.ids["Dune"])
	o.send(200, http.MethodPut, "/exhibitors/"+o.ids["Elm"], object{"name": "Elm Works"})
}

// makeSessions makes sessions and abstracts, a composition among them.
func (o *oldTown) makeSessions() {
	kinds := []string{"First", "Changed", "Third"}
	o.entries["tracks Changed"], o.entries["rooms Changed"], o.entries["tags Changed"] = o.entries["tracks Second"], o.entries["rooms Second"], o.entries["tags Second"]
	for i := range 32 {
		name := kinds[i%3]
		first, second := townspeople[i%20], townspeople[(i+7)%20]
		o.notes.Sessions = append(o.notes.Sessions, o.create(200, object{
			"title": fmt.Sprintf("Session %d of the old town", i), "description": "<p>" + strings.Repeat("Told before. ", i%7) + "</p>", "is_abstract": i%5 == 4,
			"track_id": o.entries["tracks "+name], "room_id": o.entries["rooms "+name], "tag_ids": []string{o.entries["tags "+name]},
			"starts_at": fmt.Sprintf("2027-05-11T%02d:00:00Z", 14+i%8), "ends_at": fmt.Sprintf("2027-05-11T%02d:45:00Z", 14+i%8),
			"custom_fields": object{o.values["session text"]: "remark " + name, o.values["session number"]: i, o.values["session choice"]: []string{"S", "L"}},
			"participants":  []object{o.part(first, "speaker"), {"contact_id": o.ids[second], "role_id": o.entries["role"]}},
			"sponsor_ids":   []string{o.ids["Acme"]}, "translations": object{"de": object{"title": fmt.Sprintf("Sitzung %d", i)}},
		}).id())
	}
	ids := o.notes.Sessions
	for _, i := range []int{1, 2, 3, 6, 7} {
		o.put(200, ids[i], object{"title": fmt.Sprintf("Changed %d", i), "status": "accepted"})
	}
	o.put(200, ids[1], object{"custom_status_id": o.entries["statuses Waiting"], "participants": []object{o.part("Kay", "speaker"), o.part("Ann", "moderator")}})
	o.fields(200, ids[2], object{o.values["session text"]: "another remark"})
	for _, i := range []int{10, 11, 12} {
		o.remove(200, ids[i])
	}
	o.restore(200, ids[12])
	o.done("session-link", link(ids[15], ids[16], "merged_session"))
	o.done("session-link", link(ids[15], ids[4], "composed_into_session"))
	o.done("session-link", link(ids[17], ids[18], "merged_session"))
	o.done("session-unlink", object{"source_id": ids[18]})
	o.done("session-withdraw", object{"session_id": ids[20], "who": "Ann", "why": "Ill"})
	o.done("session-duplicate", object{"session_id": ids[21]})
	o.drop("contacts", o.ids["Tom"])
	for i := range 4 {
		o.there.create(200, object{"title": fmt.Sprintf("Over there %d", i), "participants": []object{{"contact_id": o.ids["Ann"], "core_role": "speaker"}}})
	}
}

// makeSubsessions gives two sessions parts, of which one is deleted and one restored.
func (o *oldTown) makeSubsessions() {
	var parts []string
	for i := range 5 {
		part := o.sub(o.notes.Sessions[i%2], fmt.Sprintf("Part %d", i), object{"participants": []object{o.part("Ida", "speaker")}})
		parts = append(parts, part.id())
	}
	o.remove(200, parts[0])
	o.remove(200, parts[1])
	o.restore(200, parts[1])
	o.notes.Parts = parts
}

// makeStranger makes little in another organization.
func (o *oldTown) makeStranger() {
	o.stranger.hire("Ann", object{"last_name": "Stranger"})
	o.stranger.create(200, object{"title": "Elsewhere", "participants": []object{o.stranger.part("Ann", "speaker")}})
	o.stranger.sign("sponsor", "Acme")
	o.stranger.entry("tracks", "Elsewhere")
}

// makeKeys makes what is done once under an Idempotency-Key, and keeps the requests.
func (o *oldTown) makeKeys() {
	for i, r := range []upgradeRequest{
		{Path: "/sessions/create", Body: object{"title": "Under a key"}},
		{Path: "/contacts/create", Body: object{"email": "key@example.org"}},
		{Path: "/sponsors/create", Body: object{"name": "Key Works"}},
		{Path: "/tracks/create", Body: object{"name": "Under a key"}},
		{Path: "/fields/create", Body: object{"name": "Under a key", "type": "text", "module_id": "session"}},
		{Path: "/sessions/bulk", Body: object{"operations": []object{
			creating(object{"title": "Bulk 1"}), creating(object{"title": "Bulk 2"}), updating(o.notes.Sessions[25], object{"title": "By bulk"}), deleting(unknownID)}}},
		{Path: "/contacts/bulk", Body: object{"operations": []object{creating(object{"email": "bulk@example.org"}), creating(object{"email": "bulk@example.org"})}}},
	} {
		r.Key = fmt.Sprint("old-", i)
		answer := o.send(200, http.MethodPost, r.Path, r.Body, keyHeader, r.Key)
		if r.ID = answer.id(); r.ID == "" {
			r.IDs = texts(answer.list("results"), "id")
		}
		require.NotEmpty(o.t, r.ID+strings.Join(r.IDs, ""))
		o.notes.Requests = append(o.notes.Requests, r)
	}
}
