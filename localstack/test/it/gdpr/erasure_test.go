package gdpr_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/contact"
	"lectern/shared/keys"
	"lectern/shared/layout"
)

// canary is in every text of the person, in any case, and number in each of the phone numbers; both
// are nowhere else.
const (
	canary = "quetzalcoatlus"
	number = "5550142987"
)

const address = "Ada." + canary + "@example.org"

// log is a writer of the service's log.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// person is a contact who has everything that a contact can have.
type person struct {
	*office
	second *it.Contacts
	id     string
	// there and left are sessions on which the contact is and was.
	there, left string
	fine, down  *receiver
}

// texts returns values of all standard fields of contacts that take any text.
func texts() object {
	all := object{}
	for _, name := range contact.Kind.Fields {
		switch {
		case name == "email":
			all[name] = address
		case name == "address_country":
			all[name] = "DE"
		case strings.HasPrefix(name, "phone_"):
			all[name] = "+49 " + number
		case strings.HasSuffix(name, "_url"):
			all[name] = "https://example.org/" + canary
		default:
			all[name] = name + " " + canary
		}
	}
	return all
}

func newPerson(t *testing.T, o *office) *person {
	t.Helper()
	p := &person{office: o, fine: newReceiver(t, http.StatusOK), down: newReceiver(t, http.StatusInternalServerError)}
	for _, r := range []*receiver{p.fine, p.down} {
		o.Call(t, 200, http.MethodPost, "/v1/webhooks/create", object{"url": r.URL, "events": []any{
			"contact.created", "contact.updated", "contact.event.associated", "contact.event.disassociated", "session.created", "session.updated",
			"session.speaker.attached", "session.speaker.detached", "sponsor.created", "sponsor.updated",
		}})
	}
	o.SetFeature("translated_fields", true)
	seat := o.NewField("Seat", "text", object{"contains_pii": true})
	shirt := o.NewField("Shirt", "text", object{"scope": "global"})
	made := it.Merged(texts(), object{
		"custom_fields": object{seat: canary, shirt: canary}, "translations": object{"de": object{"about": "Von " + canary}},
	})
	keyed := []string{"Idempotency-Key", "the person itself"}
	p.id = entity(o.CallContacts(200, http.MethodPost, "/create", made, keyed...).JSON(t)).ID()
	require.Equal(t, p.id, entity(o.CallContacts(200, http.MethodPost, "/create", made, keyed...).JSON(t)).ID())
	o.Put(200, p.id, object{"title": "Doctor " + canary, "custom_fields": object{seat: "12 " + canary}})
	p.second = o.InNewEvent()
	row := p.second.NewField("Row", "text")
	p.second.Create(200, object{"email": strings.ToUpper(address), "custom_fields": object{row: canary}})

	speaking := []any{object{"email": address, "core_role": "speaker"}}
	p.there = o.Client.Create(200, object{"title": "A talk", "participants": speaking}).ID()
	p.left = o.Client.Create(200, object{"title": "Another talk", "participants": speaking}).ID()
	o.Client.Put(200, p.left, object{"participants": []any{}})
	parent := o.Client.Create(200, object{"title": "A workshop"}).ID()
	o.NewSubsession(parent, "A part", object{"participants": speaking})
	o.Client.Put(200, parent, object{"title": "A longer workshop"})
	p.addFiles()
	p.addAwards()
	vip := o.NewField("VIP", "checkbox")
	o.Put(200, p.id, object{"title": "Dr", "custom_fields": object{vip: true}})
	o.Do(200, http.MethodPost, "/sponsors/create", object{"name": "Acme", "contacts": []any{object{"contact_id": p.id, "is_primary": true}}})

	key := []string{"Idempotency-Key", "a key of " + canary[:4]}
	other := o.CallContacts(200, http.MethodPost, "/create", object{"email": "twin@example.org", "about": "Not a " + "twin"}, key...).JSON(t)
	o.CallContacts(409, http.MethodPut, "/"+entity(other).ID(), object{"email": address})
	for range 2 {
		done := o.BulkUnder("/contacts/bulk", "a bulk", it.Updating(p.id, object{"about": "In bulk " + canary}),
			it.Updating(p.id, object{"email": "no address of " + canary}), it.Updating(entity(other).ID(), object{"email": address}),
			it.Updating(p.id, object{"custom_fields": object{"Of " + canary: "12"}}))
		require.Equal(t, 3, done.Stats.Failed)
	}
	o.Search(object{"search": canary})
	o.Call(t, 200, http.MethodGet, o.EventPath("/participants?email="+address), nil)
	return p
}

// addFiles adds a file of the person to a session, and replaces its bytes once.
func (p *person) addFiles() {
	p.T.Helper()
	shelf := it.Shelf{Client: p.Client, Session: p.there}
	add := func(status int, rest, text string) string {
		begun := entity(p.Do(status, http.MethodPost, shelf.Path(rest), object{
			"filename": canary + ".txt", "title": "Slides of " + canary, "assigned_participant_id": p.id, "size_bytes": len(text),
		}).At("data").(object))
		require.Equal(p.T, http.StatusOK, it.SendUpload(p.T, begun, text))
		shelf.Complete(begun.ID())
		return begun.ID()
	}
	id := add(201, "", "The first slides of "+canary)
	add(200, "/"+id+"/replace", "The slides of "+canary)
}

// bytes returns what stands in all objects of the bucket.
func (p *person) bytes() (all []string) {
	p.T.Helper()
	for _, key := range p.StoredKeys(p.T, "") {
		text, err := p.Bucket(p.T).First(p.T.Context(), key, 1<<20)
		require.NoError(p.T, err)
		all = append(all, key+" "+string(text))
	}
	return all
}

// settle waits until the receivers have what was published of the person.
func (p *person) settle() {
	p.T.Helper()
	require.Eventually(p.T, func() bool {
		all := strings.Join(p.fine.received(), "\n")
		return strings.Contains(all, "In bulk "+canary) && strings.Contains(all, "session.speaker.detached") && strings.Contains(all, "Acme") &&
			strings.Contains(all, "A longer workshop") && strings.Contains(all, "Slides of "+canary)
	}, patience, pause)
}

// tells reports whether a text has a part of the person's texts.
func tells(text string) bool {
	return strings.Contains(strings.ToLower(text), canary) || strings.Contains(text, number)
}

// found returns where a person's texts stand in the table.
func found(dump it.Dump) (where []string) {
	for key, item := range dump {
		if tells(key.PK + key.SK + item.Data) {
			where = append(where, fmt.Sprintf("%s %s: %.300s", key.PK, key.SK, item.Data))
		}
	}
	return where
}

// requireDeclared requires that a person's texts stand in the table, and only in items that declare it.
func requireDeclared(t *testing.T, dump it.Dump) {
	t.Helper()
	require.NotEmpty(t, found(dump))
	for key, item := range dump {
		if tells(key.PK + key.SK + item.Data) {
			pattern, known := layout.Find(key)
			require.True(t, known && pattern.Personal == keys.Person, "%v: %s", key, item.Data)
		}
	}
}

// TestAnErasedPersonIsNowhere: before the erasure, a person's texts are only in items that declare it;
// afterwards no item of the table, no object of the bucket, no line of the log and no message of the queues
// has any of them.
func TestAnErasedPersonIsNowhere(t *testing.T) {
	lines, folder := &log{}, t.TempDir()
	o := newOffice(t, stacktest.WithLog(lines), stacktest.Ingesting(), stacktest.InFolder(folder))
	o.Inside(t, slow)
	engine := it.EngineOf(t, o.Stack)
	p := newPerson(t, o)
	p.settle()
	access := o.after(o.ask(201, asking("access", address)).ID(), "completed")
	requireDeclared(t, engine.Dump(t))
	require.Len(t, slices.DeleteFunc(p.bytes(), func(text string) bool { return !tells(text) }), 2)

	begun := o.ask(201, asking("erasure", " "+strings.ToUpper(address)))
	require.Equal(t, "pending", begun["status"])
	require.Equal(t, true, begun["matching_user_exists"])
	require.Equal(t, []any{p.id}, begun.At("response.contact_records"))
	require.ElementsMatch(t, []any{float64(o.Event), float64(p.second.Event)}, begun.At("response.event_users"))
	o.after(begun.ID(), "processing")
	done := o.after(begun.ID(), "completed")
	require.Equal(t, "A***@E***.ORG", done["identity_value"])
	require.Empty(t, found(engine.Dump(t)))
	require.False(t, slices.ContainsFunc(p.bytes(), tells))
	require.Contains(t, lines.String(), p.id, "the log has the requests")
	require.False(t, tells(lines.String()))
	sent, err := os.ReadFile(filepath.Join(folder, "queues.journal"))
	require.NoError(t, err)
	for _, queue := range []string{"webhooks", "deliveries", "work"} {
		require.Contains(t, string(sent), `{"queue":"`+queue+`"`, "the journal has every message since the start")
	}
	require.Contains(t, string(sent), p.id)
	require.False(t, tells(string(sent)))
	for key, item := range engine.Dump(t).Below(contact.Kind.PK(o.Org, p.id)) {
		if strings.HasPrefix(key.SK, "H#") {
			require.NotRegexp(t, `"(old|new)":[^n]`, item.Data, "a change keeps the names of its fields alone")
		}
	}

	p.requireErased(access)
}

// requireErased checks what the API shows of an erased person.
func (p *person) requireErased(access entity) {
	t := p.T
	t.Helper()
	for _, shown := range []entity{p.Get(200, p.id), p.GetFromOrganization(200, p.id), p.second.Get(200, p.id)} {
		require.Nil(t, shown["email"])
		require.Nil(t, shown["full_name"])
		require.Empty(t, shown["custom_fields"])
		require.NotEmpty(t, shown["friendly_id"])
	}
	session := p.Client.Get(200, p.there)
	require.Len(t, session.List("participants"), 1, "the role stays")
	require.NotContains(t, fmt.Sprint(session), canary)
	p.archive(404, access)
	require.Equal(t, "A***@e***.org", it.ByID(t, p.list(), access.ID())["identity_value"])
	require.Nil(t, it.ByID(t, p.list(), access.ID())["archive"])
	require.Eventually(t, func() bool {
		all := p.fine.received()
		last := len(all) - 1
		for last >= 0 && !tells(all[last]) {
			last--
		}
		told := strings.Join(all[last+1:], "\n")
		return strings.Contains(told, `"action":"contact.updated"`) && strings.Contains(told, p.id)
	}, patience, pause, "receivers learn of it")

	again := p.ask(201, asking("erasure", address))
	require.Equal(t, false, again["matching_user_exists"], "the address names nobody now")
	require.Empty(t, p.after(again.ID(), "completed").At("response.contact_records"))
	require.NotEqual(t, p.id, p.Create(200, object{"email": address}).ID(), "the address is free for a new contact")
	p.Put(200, p.id, object{"email": "new@example.org", "first_name": "New"})
	require.Equal(t, "new@example.org", p.Get(200, p.id)["email"])
}

// TestErasuresAreRepeated after a restore, which brings a person back: the keyed hash of the address
// finds the contact again, and no other.
func TestErasuresAreRepeated(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	first := o.Create(200, object{"email": "Ada@example.org"}).ID()
	o.after(o.ask(201, asking("erasure", "ada@example.org")).ID(), "completed")
	later := object{"org_id": o.Org, "since": time.Now().Add(time.Hour).UTC().Format(time.RFC3339)}
	require.Empty(t, o.Operator(t, "erasure-list", later)["results"])
	listed := entity(o.Operator(t, "erasure-list", object{"org_id": o.Org, "since": "2026-01-01T00:00:00Z"}))["results"].([]any)
	require.Len(t, listed, 1)
	restored, other := o.Create(200, object{"email": "ADA@example.org"}).ID(), o.Create(200, object{"email": "grace@example.org"}).ID()
	again := entity(o.Operator(t, "erasure-repeat", object{"org_id": o.Org, "erasures": listed})).List("results")
	require.Len(t, again, 1)
	require.Equal(t, []any{restored}, again[0].At("response.contact_records"))
	o.after(again[0].ID(), "completed")
	require.Nil(t, o.Get(200, restored)["email"])
	require.Nil(t, o.Get(200, first)["email"])
	require.Equal(t, "grace@example.org", o.Get(200, other)["email"])
	wrong := object{"org_id": 0, "since": "2026-01-01T00:00:00Z"}
	require.Equal(t, "org_id", it.RequireOperatorError(t, o.Stack, "erasure-list", wrong).Details["field"])
	// As before a change of the address that the restore has undone. Whoever got the contact after its erasure stays.
	former := o.Create(200, object{"email": "former@example.org"}).ID()
	o.Put(200, first, object{"email": "next@example.org"})
	listed[0].(map[string]any)["contacts"] = []any{former, first}
	again = entity(o.Operator(t, "erasure-repeat", object{"org_id": o.Org, "erasures": listed})).List("results")
	require.Equal(t, []any{"former@example.org"}, it.Column(again, "identity_value"))
	unknown := it.RequireOperatorError(t, o.Stack, "erasure-repeat", object{"org_id": 999, "erasures": listed})
	require.Equal(t, 404, unknown.Status)
}
