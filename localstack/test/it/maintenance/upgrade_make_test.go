package maintenance_test

import (
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/demo"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/metadata"
)

// makeUpgrade writes the fixture anew, as a release is tagged: the next one is then
// held to what this one has written (testdata/upgrade/README.md).
var makeUpgrade = flag.Bool("make-upgrade", false, "write the fixture of the upgrade test anew")

// oldTown is the content of the fixture: an organization with two events, and another one.
type oldTown struct {
	*it.People
	there, stranger *it.People
	notes           upgradeNotes
	// entries are the ids of settings, and values the names of fields, by name.
	entries, values map[string]string
}

// TestMakeUpgrade does nothing without its flag.
func TestMakeUpgrade(t *testing.T) {
	if !*makeUpgrade {
		return
	}
	s, e := it.StartWithEngine(t, nil, stacktest.Features(slices.Concat(demo.Features, []string{"translated_fields", "primary_speakers"})...))
	d := &it.Client{Stack: s, T: t}
	town := &oldTown{
		People: it.NewPeople(d), there: it.NewPeople(d.InNewEvent("sessions_2_0")),
		stranger: it.NewPeople(&it.Client{Stack: s.NewOrganization(t, "sessions_2_0"), T: t}),
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
	e.RequireWhole(t)
	pack(t, upgradeItems, e.Scan(t)...)
	pack(t, upgradeAnswers, town.notes)
}

// makeTenants makes members and tokens in every state.
func (o *oldTown) makeTenants() {
	in := object{"org_id": o.Org}
	member := func(name string, more object) any {
		body := it.Merged(in, object{"name": name, "email": strings.ToLower(name) + "@example.org", "role": "member"}, more)
		return o.Operator(o.T, "member-create", body)["id"]
	}
	token := func(name string, more object) any {
		made := o.Operator(o.T, "token-create", it.Merged(in, object{"user_id": o.Member, "name": name}, more))
		o.notes.Tokens[name] = made["token"].(string)
		return made["id"]
	}
	gone, back := member("Gone", nil), member("Back", object{"manage_users": true})
	guest := member("Guest", object{"role": "event_only", "event_ids": []int64{o.there.Event}})
	token("of a removed member", object{"user_id": gone, "scopes": []string{"read:events"}})
	for _, id := range []any{gone, back} {
		o.Operator(o.T, "member-remove", it.Merged(in, object{"user_id": id}))
	}
	o.Operator(o.T, "member-restore", it.Merged(in, object{"user_id": back}))
	o.Operator(o.T, "member-update", it.Merged(in, object{"user_id": back, "name": "Back again"}))
	token("guest", object{"user_id": guest, "scopes": []string{"read:events", "read:sessions", "read:contacts"}})
	token("reader", object{"scopes": []string{"read:events", "read:sessions", "read:contacts"}, "event_ids": []int64{o.Event}})
	token("legacy", object{"kind": "legacy"})
	token("log", object{"kind": "log_export"})
	id := token("revoked", object{"scopes": []string{"read:events"}})
	o.Operator(o.T, "token-revoke", it.Merged(in, object{"token_id": id}))
	o.Operator(o.T, "organization-update", it.Merged(in, object{"name": "Old Town"}))
	o.Command("event-update", object{"name": "Old Town Days", "integration_mappings": []object{{"source": "crm", "external_id": "7"}},
		"custom_fields": []object{{"name": "Motto", "type": "text", "value": "Onward"}}})
}

// makeSettings makes settings of every kind: some are changed, one of each is deleted.
func (o *oldTown) makeSettings() {
	for _, kind := range metadata.Kinds {
		for _, name := range []string{"First", "Second", "Third", "Dropped"} {
			o.entries[string(kind)+" "+name] = o.NewEntry(string(kind), name).ID()
		}
		o.Do(200, http.MethodPut, "/"+string(kind)+"/"+o.entries[string(kind)+" Second"], object{"name": "Changed"})
		o.DeleteRecord(string(kind), o.entries[string(kind)+" Dropped"])
	}
	for _, name := range []string{"Waiting", "Dropped", "Back"} {
		o.entries["statuses "+name] = o.NewEntry("statuses", name, object{"status": "pending"}).ID()
	}
	o.DeleteRecord("statuses", o.entries["statuses Dropped"])
	o.DeleteRecord("statuses", o.entries["statuses Back"])
	o.RestoreRecord("statuses", o.entries["statuses Back"])
	for _, module := range []string{"session", "contact", "account"} {
		of := object{"module_id": module}
		o.values[module+" text"] = o.NewField("Remark", "text", of)
		o.values[module+" number"] = o.NewField("Weight", "number", of)
		o.values[module+" choice"] = o.NewField("Size", "dropdown", of, object{"options": []string{"S", "M", "L"}, "multiple": true})
		if module != "session" {
			o.values[module+" global"] = o.NewField("Everywhere", "text", of, it.GlobalScope)
		}
		made := o.Do(200, http.MethodPost, "/fields/create", it.Merged(of, object{"name": "Dropped", "type": "text"}))
		o.DeleteRecord("fields", made.ID())
	}
	o.values["there"] = o.there.NewField("Seat", "text", object{"module_id": "contact"})
	owned := o.Command("connector-field-create", object{"name": "Stage", "type": "dropdown", "module_id": "session", "source": "crm", "options": []string{"A", "B"}})
	o.Command("connector-field-update", object{"field_id": owned.ID(), "name": "Stage of the deal"})
	host := o.Command("participant-role-create", object{"name": "Host", "core_role": "moderator"})
	o.entries["role"] = host.ID()
	gone := o.Command("participant-role-create", object{"name": "Usher", "core_role": "speaker"})
	o.Command("participant-role-update", object{"role_id": host.ID(), "name": "Workshop host"})
	o.Command("participant-role-delete", object{"role_id": gone.ID()})
	o.there.NewEntry("tracks", "Over there")
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
		o.AddContact(name, more)
		if i%3 == 0 {
			o.there.IDs[name] = o.there.NewContact(it.EmailOf(name), object{"custom_fields": object{o.values["there"]: fmt.Sprint(i)}}).ID()
		}
	}
	contact := func(name string) string { return "/contacts/" + o.IDs[name] }
	o.Do(200, http.MethodPut, contact("Bob"), object{"first_name": "Robert", "email": "robert@example.org"})
	o.Do(200, http.MethodPut, contact("Ann"), object{"phone": "+33 1 23 45 67"})
	o.there.Do(200, http.MethodPut, contact("Ann"), object{"custom_fields": object{o.values["there"]: "changed"}})
	for _, name := range []string{"Yin", "Zoe", "Xen"} {
		o.DeleteRecord("contacts", o.IDs[name])
	}
	o.RestoreRecord("contacts", o.IDs["Zoe"])
	o.there.DeleteRecord("contacts", o.IDs["Gus"])
	o.there.AddContact("Una")
}

// makeCompanies makes accounts in one role, and in both, with their contacts.
func (o *oldTown) makeCompanies() {
	for i, name := range []string{"Acme", "Bolt", "Cork", "Dune", "Elm"} {
		more := object{"description": "Makers of " + name, "custom_fields": object{o.values["account text"]: name},
			"contacts": []object{{"contact_id": o.IDs[townspeople[i]], "is_primary": true}, {"contact_id": o.IDs[townspeople[i+5]]}}}
		o.AddAccount("sponsor", name, more)
		if i%2 == 0 {
			o.AddAccount("exhibitor", name)
			o.there.IDs[name] = o.IDs[name]
			o.there.AddAccount("sponsor", name)
		}
	}
	o.AddAccount("exhibitor", "Foil")
	o.DeleteRecord("sponsors", o.IDs["Bolt"])
	o.DeleteRecord("sponsors", o.IDs["Dune"])
	o.RestoreRecord("sponsors", o.IDs["Dune"])
	o.Do(200, http.MethodPut, "/exhibitors/"+o.IDs["Elm"], object{"name": "Elm Works"})
}

// makeSessions makes sessions and abstracts, a composition among them.
func (o *oldTown) makeSessions() {
	kinds := []string{"First", "Changed", "Third"}
	o.entries["tracks Changed"], o.entries["rooms Changed"], o.entries["tags Changed"] = o.entries["tracks Second"], o.entries["rooms Second"], o.entries["tags Second"]
	for i := range 32 {
		name := kinds[i%3]
		first, second := townspeople[i%20], townspeople[(i+7)%20]
		o.notes.Sessions = append(o.notes.Sessions, o.Create(200, object{
			"title": fmt.Sprintf("Session %d of the old town", i), "description": "<p>" + strings.Repeat("Told before. ", i%7) + "</p>", "is_abstract": i%5 == 4,
			"track_id": o.entries["tracks "+name], "room_id": o.entries["rooms "+name], "tag_ids": []string{o.entries["tags "+name]},
			"starts_at": fmt.Sprintf("2027-05-11T%02d:00:00Z", 14+i%8), "ends_at": fmt.Sprintf("2027-05-11T%02d:45:00Z", 14+i%8),
			"custom_fields": object{o.values["session text"]: "remark " + name, o.values["session number"]: i, o.values["session choice"]: []string{"S", "L"}},
			"participants":  []object{o.Participant(first, "speaker"), {"contact_id": o.IDs[second], "role_id": o.entries["role"]}},
			"sponsor_ids":   []string{o.IDs["Acme"]}, "translations": object{"de": object{"title": fmt.Sprintf("Sitzung %d", i)}},
		}).ID())
	}
	ids := o.notes.Sessions
	for _, i := range []int{1, 2, 3, 6, 7} {
		o.Put(200, ids[i], object{"title": fmt.Sprintf("Changed %d", i), "status": "accepted"})
	}
	o.Put(200, ids[1], object{"custom_status_id": o.entries["statuses Waiting"], "participants": []object{o.Participant("Kay", "speaker"), o.Participant("Ann", "moderator")}})
	o.PutFields(200, ids[2], object{o.values["session text"]: "another remark"})
	for _, i := range []int{10, 11, 12} {
		o.Delete(200, ids[i])
	}
	o.Restore(200, ids[12])
	o.Command("session-link", it.Link(ids[15], ids[16], "merged_session"))
	o.Command("session-link", it.Link(ids[15], ids[4], "composed_into_session"))
	o.Command("session-link", it.Link(ids[17], ids[18], "merged_session"))
	o.Command("session-unlink", object{"source_id": ids[18]})
	o.Command("session-withdraw", object{"session_id": ids[20], "who": "Ann", "why": "Ill"})
	o.Command("session-duplicate", object{"session_id": ids[21]})
	o.DeleteRecord("contacts", o.IDs["Tom"])
	for i := range 4 {
		o.there.Create(200, object{"title": fmt.Sprintf("Over there %d", i), "participants": []object{{"contact_id": o.IDs["Ann"], "core_role": "speaker"}}})
	}
}

// makeSubsessions gives two sessions parts, of which one is deleted and one restored.
func (o *oldTown) makeSubsessions() {
	var parts []string
	for i := range 5 {
		part := o.NewSubsession(o.notes.Sessions[i%2], fmt.Sprintf("Part %d", i), object{"participants": []object{o.Participant("Ida", "speaker")}})
		parts = append(parts, part.ID())
	}
	o.Delete(200, parts[0])
	o.Delete(200, parts[1])
	o.Restore(200, parts[1])
	o.notes.Parts = parts
}

// makeStranger makes little in another organization.
func (o *oldTown) makeStranger() {
	o.stranger.AddContact("Ann", object{"last_name": "Stranger"})
	o.stranger.Create(200, object{"title": "Elsewhere", "participants": []object{o.stranger.Participant("Ann", "speaker")}})
	o.stranger.AddAccount("sponsor", "Acme")
	o.stranger.NewEntry("tracks", "Elsewhere")
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
			it.Creating(object{"title": "Bulk 1"}), it.Creating(object{"title": "Bulk 2"}), it.Updating(o.notes.Sessions[25], object{"title": "By bulk"}), it.Deleting(it.UnknownID)}}},
		{Path: "/contacts/bulk", Body: object{"operations": []object{it.Creating(object{"email": "bulk@example.org"}), it.Creating(object{"email": "bulk@example.org"})}}},
	} {
		r.Key = fmt.Sprint("old-", i)
		answer := o.Do(200, http.MethodPost, r.Path, r.Body, it.KeyHeader, r.Key)
		if r.ID = answer.ID(); r.ID == "" {
			r.IDs = it.Texts(answer.List("results"), "id")
		}
		require.NotEmpty(o.T, r.ID+strings.Join(r.IDs, ""))
		o.notes.Requests = append(o.notes.Requests, r)
	}
}
