package insights_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestLongTextsStay in each answer, also when the session is in the memory: short texts of large characters, and a field that has short
// texts on one event and long ones on another.
func TestLongTextsStay(t *testing.T) {
	a := newAsker(t)
	short, short2 := a.NewField("Short", "text"), a.NewField("Mixed", "text")
	other := &asker{it.ProgrammeOf(a.InNewEvent())}
	require.Equal(t, short2, other.NewField("Mixed", "wysiwyg"))
	text, long := strings.Repeat("日", 255), strings.Repeat("x", 3_000)
	a.Create(200, object{"title": "Here", "custom_fields": object{short: text, short2: text}})
	other.Create(200, object{"title": "There", "custom_fields": object{short2: long}})
	for range 3 {
		require.Equal(t, []any{text}, a.column("SELECT session.custom.short FROM sessions WHERE custom.short IS NOT NULL"))
		got := it.Entity(a.across(200, "SELECT session.custom.mixed AS mixed FROM sessions WHERE session.custom.mixed IS NOT NULL ORDER BY session.title").JSON(t))
		require.Equal(t, []any{map[string]any{"mixed": text}, map[string]any{"mixed": long}}, got["results"])
	}
}

// TestParticipantCount counts those that the session shows: no deleted contact.
func TestParticipantCount(t *testing.T) {
	a := newAsker(t)
	const query = "SELECT session.participant_count FROM sessions ORDER BY session.title"
	require.Equal(t, []any{1.0, 3.0}, a.column(query))
	a.DeletePerson("contacts", "Ann")
	require.Equal(t, []any{0.0, 2.0}, a.column(query))
	require.Equal(t, []any{"Beta"}, a.column("SELECT session.title FROM sessions WHERE participant_count = 2"))
	require.Equal(t, []any{2.0}, a.column("SELECT COUNT(participant.id) AS n FROM sessions JOIN participants"))
	a.RestorePerson("contacts", "Ann")
	require.Equal(t, []any{1.0, 3.0}, a.column(query))
}

// TestFieldsWithDigits: the name of a custom field may begin with a digit.
func TestFieldsWithDigits(t *testing.T) {
	a := newAsker(t)
	choice, year := a.NewField("2nd choice", "dropdown", object{"options": []any{"A", "B"}}), a.NewField("2027", "number")
	require.Equal(t, "2nd_choice 2027", choice+" "+year)
	a.Create(200, object{"title": "Gamma", "custom_fields": object{choice: "B", year: 1.5}})
	for _, condition := range []string{
		"session.custom.2nd_choice = 'B'", "custom.2nd_choice IN ('B')", "custom.2027 = 1.5", "session.custom.2027 BETWEEN 1.25 AND 2",
	} {
		require.Equal(t, []any{"Gamma"}, a.column("SELECT session.title FROM sessions WHERE "+condition), condition)
	}
	for _, s := range a.Do(200, "GET", "/insights/suggestions", nil).List("suggestions") {
		a.ask(s.Text("query"))
	}
}

// TestHugeNumbers: a sum that no number holds has no value.
func TestHugeNumbers(t *testing.T) {
	a := newAsker(t)
	huge := a.NewField("Huge", "number")
	for range 2 {
		a.Create(200, object{"title": "Huge", "custom_fields": object{huge: 1.5e308}})
	}
	require.Equal(t, []any{nil}, a.column("SELECT SUM(session.custom.huge) FROM sessions"))
	require.Equal(t, []any{1.5e308}, a.column("SELECT MAX(session.custom.huge) FROM sessions"))
	for _, aggregate := range []string{"sum", "avg", "max"} {
		got := it.Entity(a.across(200, "SELECT session.title, session.custom.huge AS huge FROM sessions WHERE title = 'Huge'", object{
			"pivot": object{"row": "session.title", "column": "session.title", "value": "huge", "aggregate": aggregate},
		}).JSON(t))
		require.Equal(t, map[bool]any{true: 1.5e308, false: nil}[aggregate == "max"], got["results"].([]any)[0].(map[string]any)["Huge"])
	}
}

// TestMasks hide texts that have an address or a number in them whole.
func TestMasks(t *testing.T) {
	a := newAsker(t)
	a.NewField("Private", "wysiwyg", object{"contains_pii": true})
	a.NewField("Address", "email", object{"contains_pii": true})
	a.NewField("Number", "phone", object{"contains_pii": true})
	for _, masked := range []struct{ field, text, want string }{
		{"private", "Write to j@example.org. She is ill", "***"}, {"private", "j@example.org", "***"}, {"private", "+49 (30) 123-4567", "***"},
		{"private", "60601-1234", "***"}, {"private", "1990-05-17", "***"}, {"private", "", "***"},
		{"address", "j.doe@mail.example.co.uk", "j***@m***.uk"}, {"address", "ada@example.org", "a***@e***.org"},
		{"number", "+49 (30) 123-4567", "***-***-4567"}, {"number", "+1 555 123 4567 #12", "***-***-6712"}, {"number", "1234", "***"},
	} {
		made := a.Create(200, object{"title": "Masked", "custom_fields": object{masked.field: masked.text}})
		query := fmt.Sprintf("SELECT session.custom.%s FROM sessions WHERE session.id = '%s'", masked.field, made.ID())
		got := a.column(query, object{"obfuscatePii": true})
		if masked.text == "" {
			require.Contains(t, [][]any{{nil}, {masked.want}}, got)
			continue
		}
		require.Equal(t, []any{masked.want}, got, masked.text)
	}
}

// TestOnlyIDs: conditions on ids find what is there and on the event.
func TestOnlyIDs(t *testing.T) {
	a := newAsker(t)
	ann, ben := a.IDs["Ann"], a.IDs["Ben"]
	for condition, want := range map[string][]any{
		"contact.id = '" + ann + "'": {"Ann"}, "contact.id IN ('" + ann + "', '" + ben + "', 'x')": {"Ann", "Ben"}, "contact.id = '" + ann + "' AND contact.id = '" + ben + "'": {},
		"contact.id IN ('" + ann + "') AND contact.id NOT IN ('" + ann + "')": {}, "contact.id != '" + ann + "'": {"Ben", "Cid"}, "contact.id = '" + ann + "' OR contact.id = '" + ben + "'": {"Ann", "Ben"},
	} {
		require.Equal(t, want, a.column("SELECT contact.first_name FROM contacts WHERE "+condition+" ORDER BY first_name"), condition)
		require.Len(t, a.column("SELECT contact.first_name FROM contacts JOIN events WHERE "+condition), len(want), condition)
	}
	sponsor := a.column("SELECT sponsor.id FROM sponsors")[0].(string)
	require.Equal(t, []any{"Acme"}, a.column("SELECT sponsor.name FROM sponsors WHERE id = '"+sponsor+"'"))
	require.Empty(t, a.column("SELECT sponsor.name FROM sponsors WHERE id = '"+ann+"'"))
	require.Equal(t, []any{"Cid"}, a.column("SELECT contact.first_name FROM sponsors JOIN contacts WHERE sponsor.id = '"+sponsor+"' AND contact.id = '"+a.IDs["Cid"]+"'"))
}
