package insights_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// person has the personal data of a contact. The masks of all addresses are equal, as are those of all phones.
type person struct {
	email, phone, gender, badge string
	level                       float64
}

// twins are two events of two organizations that differ in personal data alone. What a caller who sees such data masked gets of both is
// equal, so no answer depends on the data.
type twins struct {
	all []*asker
	// raw are texts of personal data that no answer has.
	raw []string
}

// newTwins makes the events. In the second Ann and Ben have other orders and other equal values than in the first.
func newTwins(t *testing.T) *twins {
	t.Helper()
	first := it.NewProgramme(t, "sessions_2_0", "participant_roles")
	second := it.ProgrammeOf(&it.Client{Stack: first.NewOrganization(t, "sessions_2_0", "participant_roles"), T: t})
	made := &twins{}
	for i, p := range []*it.Programme{first, second} {
		a := &asker{p}
		ann := person{"aaron@beta.org", "+1 555 111 0000", "female", "crimson", 5}
		ben := person{"azure@blue.org", "+1 555 999 0000", "male", "emerald", 10}
		if i == 1 {
			ann, ben = ben, person{"acorn@bold.org", "+1 555 222 0000", "male", "emerald", 10}
		}
		a.fill(ann, ben)
		made.all = append(made.all, a)
	}
	made.raw = []string{"aaron", "azure", "acorn", "555", "male", "crimson", "emerald", "hidden note", "hidden deal"}
	return made
}

// fill makes contacts, sessions and a sponsor with personal data.
func (a *asker) fill(ann, ben person) {
	private := object{"contains_pii": true}
	contact := object{"module_id": "contact"}
	badge, level := a.NewField("Badge", "text", private, contact), a.NewField("Level", "number", private, contact)
	note, deal := a.NewField("Note", "text", private), a.NewField("Deal", "text", private, object{"module_id": "account"})
	for i, name := range []string{"Ann", "Ben"} {
		p := []person{ann, ben}[i]
		a.Contacts[name] = a.NewContact(p.email, object{
			"first_name": name, "phone_mobile": p.phone, "gender": p.gender, "custom_fields": object{badge: p.badge, level: p.level},
		})
		a.IDs[name] = a.Contacts[name].ID()
	}
	for _, title := range []string{"Alpha", "Beta"} {
		a.AddSession(title, object{
			"custom_fields": object{note: "hidden note " + ann.badge + title},
			"participants":  []any{a.Participant("Ann", "speaker"), a.Participant("Ben", "moderator")},
		})
	}
	for _, kind := range []string{"sponsors", "exhibitors"} {
		a.Do(200, http.MethodPost, "/"+kind+"/create", object{
			"name": "Acme", "custom_fields": object{deal: "hidden deal " + ben.email}, "contacts": []any{object{"contact_id": a.IDs["Ann"]}},
		})
	}
}

// changing are ids and times, and number is the number of the event after its name or, in CSV, after an id.
var (
	changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z`)
	number   = regexp.MustCompile(`(event_id":|\nID,)\d+`)
)

// plain returns an answer without ids and times. Rows are sorted unless the request orders them.
func plain(t *testing.T, a stacktest.Answer, ordered bool) string {
	t.Helper()
	text := number.ReplaceAllString(changing.ReplaceAllString(string(a.Body), "ID"), "$1")
	text = strings.ReplaceAll(text, `event_id":,`, `event_id":0,`)
	if ordered || a.Status != http.StatusOK {
		return text
	}
	var answer map[string]any
	if json.Unmarshal([]byte(text), &answer) != nil {
		lines := strings.Split(text, "\r\n")
		slices.Sort(lines)
		return strings.Join(lines, "\n")
	}
	rows := []string{}
	for _, row := range answer["results"].([]any) {
		rows = append(rows, fmt.Sprint(row))
	}
	slices.Sort(rows)
	return fmt.Sprint(rows, answer["pagination"])
}

// ask sends a request to both events as each kind of caller who sees personal data masked, and requires equal answers with a status.
func (w *twins) ask(t *testing.T, status int, path string, body object) (answer string) {
	t.Helper()
	for caller := range 3 {
		var answers []string
		for _, a := range w.all {
			as, sent := a.Stack, it.Merged(body)
			switch caller {
			case 1:
				as, sent["obfuscatePii"] = as.As(w.token(t, a, object{"scopes": []any{"read:insights"}})), false
			case 2:
				as, sent["obfuscatePii"] = as.As(w.token(t, a, object{"scopes": []any{}, "kind": "legacy", "obfuscate_pii": true})), false
			}
			got := as.Call(t, status, http.MethodPost, strings.Replace(path, "EVENT", fmt.Sprint(a.Event), 1), sent)
			answer = plain(t, got, strings.Contains(fmt.Sprint(body), "ORDER BY") || body["sortBy"] != nil)
			for _, raw := range w.raw {
				if !strings.Contains(fmt.Sprint(body), raw) {
					require.NotContains(t, answer, raw, "%v", body)
				}
			}
			answers = append(answers, answer)
		}
		require.Equal(t, answers[0], answers[1], "caller %d: %v", caller, body)
	}
	return answer
}

// tokens keeps the tokens of a test by event and properties.
var tokens = map[string]string{}

func (w *twins) token(t *testing.T, a *asker, properties object) string {
	t.Helper()
	key := fmt.Sprint(a.URL, a.Event, properties)
	if tokens[key] == "" {
		tokens[key] = a.TokenWith(t, it.Merged(properties, object{"limit": 1_000_000}))
	}
	return tokens[key]
}

// maskedFields are fields with personal data, and where they come from.
var maskedFields = [][2]string{
	{"contact.email", "contacts"}, {"email", "contacts"}, {"contacts.phone_mobile", "contacts"}, {"contact.gender", "contacts"},
	{"contact.custom.badge", "contacts"}, {"custom.badge", "contacts"}, {"speaker.email", "speakers"}, {"speaker.custom.badge", "sessions JOIN speakers"},
	{"participant.email", "participants"}, {"participant_contact.email", "participant_contacts JOIN sessions"}, {"contact.email", "sessions JOIN contacts"},
	{"contact.email", "sponsors JOIN contacts"}, {"contact.custom.badge", "participants LEFT JOIN contacts"}, {"session.custom.note", "sessions"},
	{"session.custom.note", "contacts JOIN sessions"}, {"sponsor.custom.deal", "sponsors"}, {"exhibitor.custom.deal", "exhibitors JOIN contacts"},
}

// reveals are queries that would tell something of a field FIELD of ENTITIES.
var reveals = []string{
	"SELECT COUNT(*) FROM ENTITIES WHERE FIELD = 'aaron@beta.org'", "SELECT COUNT(*) FROM ENTITIES WHERE FIELD != 'crimson'",
	"SELECT COUNT(*) FROM ENTITIES WHERE FIELD < 'n'", "SELECT COUNT(*) FROM ENTITIES WHERE FIELD >= 'aaron@beta.org'",
	"SELECT COUNT(*) FROM ENTITIES WHERE FIELD LIKE 'a_ron%'", "SELECT COUNT(*) FROM ENTITIES WHERE FIELD NOT LIKE '%'",
	"SELECT COUNT(*) FROM ENTITIES WHERE FIELD CONTAINS 'ron'", "SELECT COUNT(*) FROM ENTITIES WHERE FIELD IN ('crimson', 'female')",
	"SELECT COUNT(*) FROM ENTITIES WHERE FIELD NOT IN ('crimson')", "SELECT COUNT(*) FROM ENTITIES WHERE FIELD BETWEEN 'a' AND 'b'",
	"SELECT COUNT(*) FROM ENTITIES WHERE FIELD IS NULL", "SELECT COUNT(*) FROM ENTITIES WHERE FIELD IS NOT NULL",
	"SELECT COUNT(*) FROM ENTITIES WHERE NOT (NOT (FIELD = 'crimson'))", "SELECT COUNT(*) AS n FROM ENTITIES WHERE FIELD = 'a***@b***.org' OR FIELD = '***'",
	"SELECT FIELD AS x FROM ENTITIES ORDER BY FIELD", "SELECT FIELD AS x FROM ENTITIES ORDER BY x DESC", "SELECT DISTINCT FIELD AS x FROM ENTITIES ORDER BY x",
	"SELECT COUNT(*) FROM ENTITIES GROUP BY FIELD", "SELECT FIELD, COUNT(*) FROM ENTITIES GROUP BY FIELD", "SELECT MIN(FIELD) FROM ENTITIES", "SELECT MAX(FIELD) AS x FROM ENTITIES",
	"SELECT COUNT(DISTINCT FIELD) FROM ENTITIES", "SELECT COUNT(*) FROM ENTITIES HAVING MIN(FIELD) < 'b'", "SELECT COUNT(*) FROM ENTITIES HAVING COUNT(DISTINCT FIELD) > 1",
	"SELECT COUNT(*) AS n FROM ENTITIES ORDER BY MAX(FIELD)", "SELECT MIN(FIELD) AS low FROM ENTITIES HAVING low LIKE 'a%'", "SELECT FIELD AS x, COUNT(*) FROM ENTITIES GROUP BY FIELD ORDER BY x",
}

// TestMaskedFieldsCannotBeCompared: each query is a 400 that names the field, and is equal whatever the data.
func TestMaskedFieldsCannotBeCompared(t *testing.T) {
	w, n := newTwins(t), 0
	for i, of := range maskedFields {
		for j, form := range reveals {
			if it.Size(1, 0) == 1 && (i+j)%3 > 0 && i > 0 {
				continue // Each form and each field is used.
			}
			query := strings.ReplaceAll(strings.ReplaceAll(form, "FIELD", of[0]), "FROM ENTITIES", "FROM "+of[1])
			answer := w.ask(t, 400, "/v1/event/EVENT/insights/execute", object{"query": query})
			require.Contains(t, answer, of[0], query)
			require.Contains(t, answer, "which the caller sees masked", query)
			n++
		}
	}
	for _, condition := range []string{"= 5", "< 7", "BETWEEN 1 AND 6", "IN (5)", "IS NULL"} {
		require.Contains(t, w.ask(t, 400, "/v1/event/EVENT/insights/execute", object{"query": "FIND Contact WHERE custom.level " + condition}), "custom.level")
	}
	for _, sum := range []string{"SUM(contact.custom.level)", "AVG(custom.level)", "SUM(DISTINCT contact.custom.level)"} {
		require.Contains(t, w.ask(t, 400, "/v1/event/EVENT/insights/execute", object{"query": "SELECT " + sum + " FROM contacts"}), "custom.level")
	}
	require.Contains(t, w.ask(t, 400, "/v1/event/EVENT/insights/execute", object{"query": "FIND Session WITH contacts WHERE contact.email LIKE 'a%'"}), "contact.email")
	require.Greater(t, n, 60)
}

// TestMaskedFieldsAreEqual in answers about two events that differ in personal data alone.
func TestMaskedFieldsAreEqual(t *testing.T) {
	w := newTwins(t)
	for _, of := range maskedFields {
		for _, form := range []string{
			"SELECT FIELD FROM ENTITIES", "SELECT DISTINCT FIELD FROM ENTITIES", "SELECT FIELD AS x FROM ENTITIES LIMIT 1", "SELECT COUNT(FIELD) FROM ENTITIES", "SELECT * FROM ENTITIES",
			"SELECT COUNT(FIELD) AS n, COUNT(*) FROM ENTITIES HAVING n > 1",
		} {
			query := strings.ReplaceAll(strings.ReplaceAll(form, "FIELD", of[0]), "FROM ENTITIES", "FROM "+of[1])
			w.ask(t, 200, "/v1/event/EVENT/insights/execute", object{"query": query})
		}
	}
	for _, query := range []string{
		"FIND Contact", "FIND Contact WHERE first_name = 'Ann'", "FIND Session WITH contacts", "FIND Sponsor WITH contacts", "FIND Participant", "FIND Speaker WITH sessions",
		"SELECT contact.custom.level FROM contacts", "SELECT DISTINCT contact.custom.level FROM contacts", "SELECT contact.first_name, contact.email FROM contacts ORDER BY first_name",
		"SELECT contact.email AS first_name FROM contacts", "SELECT contact.company_name, COUNT(contact.email) FROM contacts GROUP BY contact.company_name",
	} {
		w.ask(t, 200, "/v1/event/EVENT/insights/execute", object{"query": query})
	}
	for page := range 3 {
		w.ask(t, 200, "/v1/event/EVENT/insights/execute", object{
			"query": "SELECT contact.email, contact.first_name FROM contacts ORDER BY contact.first_name DESC", "page": page + 1, "limit": 1,
		})
	}
}

// TestMaskedFieldsInArrangements: search finds masks alone; the rest is a 400 or equal.
func TestMaskedFieldsInArrangements(t *testing.T) {
	w := newTwins(t)
	query := object{"query": "SELECT contact.first_name, contact.email, contact.custom.badge AS badge, contact.custom.level AS level FROM contacts"}
	for _, column := range []string{"contact.email", "badge", "level"} {
		for _, wrong := range []object{
			{"sortBy": column}, {"groupBy": column}, {"groupBy": "contact.first_name", "sortBy": column}, {"pivot": object{"row": column, "column": "contact.first_name"}},
			{"pivot": object{"row": "contact.first_name", "column": column}}, {"sortBy": column, "sortDirection": "desc", "format": "csv"},
			{"pivot": object{"row": "contact.first_name", "column": "contact.first_name", "value": column, "aggregate": "max"}},
		} {
			require.Contains(t, w.ask(t, 400, "/v1/insights/execute", it.Merged(query, wrong)), column)
		}
	}
	for _, more := range []object{
		{}, {"format": "csv"}, {"search": "aaron"}, {"search": "a***@"}, {"search": "crimson"}, {"search": "***"}, {"search": "ann"}, {"groupBy": "contact.first_name"},
		{"sortBy": "contact.first_name", "page": 2, "limit": 1}, {"sortBy": "contact.first_name", "sortDirection": "desc", "format": "csv"},
		{"pivot": object{"row": "contact.first_name", "column": "contact.first_name"}}, {"search": "crimson", "format": "csv"}, {"search": "5"}, {"search": "0000"},
	} {
		w.ask(t, 200, "/v1/insights/execute", it.Merged(query, more))
	}
	w.ask(t, 200, "/v1/insights/execute", object{"query": "SELECT * FROM contacts", "search": "555", "format": "csv"})
	w.ask(t, 200, "/v1/insights/execute", object{"query": "SELECT * FROM sessions JOIN contacts", "groupBy": "contact.first_name"})
}
