package insights_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestContactsOnSessions are all that a caller without read:contacts sees, and not which companies they belong to.
func TestContactsOnSessions(t *testing.T) {
	a := newAsker(t)
	a.AddContact("Dan")
	const (
		everyone  = "SELECT contact.first_name FROM contacts ORDER BY contact.first_name"
		companies = "SELECT sponsor.name, contact.first_name FROM sponsors JOIN contacts"
	)
	other := &asker{it.ProgrammeOf(a.WithToken(a.NewToken(t, "read:insights")))}
	require.Equal(t, []any{"Ann", "Ben", "Cid", "Dan"}, a.column(everyone))
	require.Equal(t, []any{"Ann", "Ben", "Cid"}, other.column(everyone))
	require.Equal(t, []any{"Ann", "Ben"}, other.column("SELECT speaker.first_name FROM speakers ORDER BY speaker.first_name"))
	require.Empty(t, other.column("SELECT contact.first_name FROM contacts WHERE contact.id = '"+a.IDs["Dan"]+"'"))
	require.Len(t, other.column("SELECT contact.first_name FROM contacts WHERE contact.id = '"+a.IDs["Cid"]+"'"), 1)
	few := &asker{it.ProgrammeOf(a.reading(1).WithToken(other.Token))}
	require.Len(t, few.column("SELECT contact.first_name FROM contacts WHERE contact.id = '"+a.IDs["Cid"]+"'"), 1)
	few.answer(400, everyone)
	require.Equal(t, []any{map[string]any{"sponsor.name": "Acme", "contact.first_name": "Cid"}}, a.ask(companies))
	require.Empty(t, other.ask(companies))
	require.Len(t, other.ask("FIND Sponsor WITH contacts"), 1)
	require.Equal(t, []any{3.0}, other.column("SELECT COUNT(DISTINCT contact.id) FROM sessions JOIN contacts"))
}

// TestMaskedDates: a masked field that is no text shows nothing of its value.
func TestMaskedDates(t *testing.T) {
	a := newAsker(t)
	values := object{}
	for name, kind := range map[string]string{"Born": "date", "Moved": "datetime", "Shoe": "number", "Vegan": "checkbox"} {
		values[a.NewField(name, kind, object{"contains_pii": true})] = map[string]any{
			"date": "1990-05-11", "datetime": "1990-05-11T10:00:00Z", "number": 5551234567.0, "checkbox": true,
		}[kind]
	}
	a.Create(200, object{"title": "Private", "custom_fields": values})
	const query = "SELECT session.custom.born, session.custom.moved, session.custom.shoe, session.custom.vegan FROM sessions WHERE session.title = 'Private'"
	for _, row := range a.ask(query, object{"obfuscatePii": true}) {
		require.Equal(t, map[string]any{
			"session.custom.born": "***", "session.custom.moved": "***", "session.custom.shoe": "***", "session.custom.vegan": "***",
		}, row)
	}
	require.Equal(t, "1990-05-11", a.ask(query)[0].(map[string]any)["session.custom.born"])
}

// TestPersonalOnOneEvent: a field that is personal data on one of the events is so in a query about both.
func TestPersonalOnOneEvent(t *testing.T) {
	a := newAsker(t)
	other := &asker{it.ProgrammeOf(a.InNewEvent())}
	const query = "SELECT session.custom.badge FROM sessions WHERE session.title = 'Badged'"
	for _, at := range []*asker{a, other} {
		badge := at.NewField("Badge", "text", object{"contains_pii": at == other})
		at.Create(200, object{"title": "Badged", "custom_fields": object{badge: "crimson"}})
	}
	require.Equal(t, []any{"crimson"}, a.column(query, object{"obfuscatePii": true}))
	require.Equal(t, []any{"***"}, other.column(query, object{"obfuscatePii": true}))
	hidden := map[string]any{"session.custom.badge": "***"}
	require.Equal(t, []any{hidden, hidden}, it.Entity(a.across(200, query).JSON(t))["results"])
	a.across(400, query+" AND session.custom.badge = 'crimson'")

	born := a.NewField("Born", "date", object{"contains_pii": true})
	a.Create(200, object{"title": "Dated", "custom_fields": object{born: "1990-05-11"}})
	other.NewField("Born", "text")
	dated := it.Entity(a.across(200, "SELECT session.custom.born FROM sessions WHERE session.title = 'Dated'").JSON(t))
	require.Equal(t, []any{map[string]any{"session.custom.born": "***"}}, dated["results"], "a date on one event, a text on the other")
}

// TestTheContactOfAFile is shown while the contact is on the session and on the event.
func TestTheContactOfAFile(t *testing.T) {
	a := newAsker(t)
	session := a.Create(200, object{"title": "Filed", "participants": it.ParticipantsOf([]string{"Ann speaker"})}).ID()
	shelf := it.Shelf{Client: a.Client, Session: session}
	shelf.Add(object{"assigned_participant_id": a.IDs["Ann"]})
	const query, people = "SELECT file.assigned_participant_id FROM files", "SELECT contact.first_name FROM files JOIN contacts"
	require.Equal(t, []any{a.IDs["Ann"]}, a.column(query))
	require.Equal(t, []any{"Ann"}, a.column(people))
	a.Do(200, http.MethodDelete, "/contacts/"+a.IDs["Ann"], nil)
	require.Equal(t, []any{nil}, a.column(query))
	require.Empty(t, a.column(people))
}
