package it

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// Programme is People with sessions, by name and title.
type Programme struct {
	*People
	// Contacts holds contacts by name, Held sessions by title.
	Contacts, Held map[string]Entity
}

// People is a client whose contacts and accounts have names. Ann's address is
// ann@example.org.
type People struct {
	*Client
	// IDs holds the ids of contacts and accounts by name.
	IDs map[string]string
}

// SessionsOf reads the sessions of a contact on the event.
func (c *Programme) SessionsOf(status int, id string) Entity {
	c.T.Helper()
	return c.Do(status, http.MethodGet, "/contacts/"+id+"/sessions", nil)
}

// AddHeavyPeople creates n contacts with the properties in one bulk and returns them as
// speakers for a write of a session.
func (t *People) AddHeavyPeople(n int, more Object) []Object {
	t.T.Helper()
	operations := make([]Object, n)
	for i := range operations {
		operations[i] = Creating(Merged(Object{"email": fmt.Sprintf("crew%d@example.org", i), "first_name": fmt.Sprint("P", i)}, more))
	}
	made := t.BulkUnder("/contacts/bulk", "", operations...)
	people := make([]Object, n)
	for i := range people {
		people[i] = Object{"contact_id": made.Data(t.T, i).ID(), "core_role": "speaker"}
	}
	return people
}

// AddHeavyFields creates custom fields of contacts and returns values for them, 120 KB
// together.
func (t *People) AddHeavyFields() Object {
	t.T.Helper()
	fields := Object{}
	for i := range 2 {
		made := t.Do(200, http.MethodPost, "/fields/create", Object{"name": fmt.Sprint("Note ", i), "type": "wysiwyg", "module_id": "contact"})
		fields[made.Text("internal_name")] = strings.Repeat("x", 60_000)
	}
	return fields
}

// InNewProgramme returns an empty programme on another event of the organization.
func (c *Programme) InNewProgramme(features ...string) *Programme {
	return ProgrammeOf(c.InNewEvent(features...))
}

// SeenBy returns the programme with another client as the caller.
func (c *Programme) SeenBy(d *Client) *Programme {
	return &Programme{&People{d, c.IDs}, c.Contacts, c.Held}
}

// AddPeople creates contacts of these names on the event.
func (c *Programme) AddPeople(names ...string) {
	c.T.Helper()
	for _, name := range names {
		c.Contacts[name] = c.AddContact(name)
	}
}

// AddSession creates a session with participants and returns its id.
func (c *Programme) AddSession(title string, more Object, people ...string) string {
	c.T.Helper()
	c.Held[title] = c.Create(200, Merged(Object{"title": title, "participants": ParticipantsOf(people)}, more))
	return c.Held[title].ID()
}

// SetPeople replaces the participants of a session.
func (c *Programme) SetPeople(title string, people ...string) {
	c.T.Helper()
	c.Put(200, c.Held[title].ID(), Object{"participants": ParticipantsOf(people)})
}

// SessionIDs returns the ids of sessions, oldest first.
func (c *Programme) SessionIDs(titles ...string) []any {
	var all []Entity
	for _, title := range titles {
		require.Contains(c.T, c.Held, title)
		all = append(all, c.Held[title])
	}
	slices.SortFunc(all, OldestFirst)
	return Column(all, "id")
}

// ContactID returns the id of the contact with the name.
func (c *Programme) ContactID(name string) string {
	c.T.Helper()
	require.Contains(c.T, c.IDs, name)
	return c.IDs[name]
}

// Find searches people; path is speakers or participants.
func (c *Programme) Find(path string, body any, parts ...string) Page {
	c.T.Helper()
	return stacktest.Call[Page](c.Stack, 200, http.MethodPost, c.EventPath("/"+path+Query(parts)), body)
}

// FindNames returns the sorted names of all people that match the filters.
func (c *Programme) FindNames(path string, filters Object) string {
	c.T.Helper()
	answer := c.Find(path, Object{"filters": Merged(filters)}, "pageSize=100")
	require.Len(c.T, answer.Results, answer.Pagination.TotalResults)
	names := Texts(answer.Results, "full_name")
	slices.Sort(names)
	return strings.Join(names, " ")
}

// GetParticipant reads the participant with the address of a name.
func (c *Programme) GetParticipant(status int, name string) Entity {
	c.T.Helper()
	return c.Do(status, http.MethodGet, "/participants?email="+EmailOf(name), nil)
}

// RoleIDs returns the ids of the event's roles by name in lower case.
func (c *Programme) RoleIDs() map[string]string {
	c.T.Helper()
	ids := map[string]string{}
	for _, role := range c.ListSettings("/participant-roles") {
		ids[strings.ToLower(role.Text("name"))] = role.ID()
	}
	return ids
}

// RequireWhole checks the table as lectern verify does.
func (t *People) RequireWhole() {
	t.T.Helper()
	EngineOf(t.T, t.Stack).RequireWhole(t.T)
}

// AddContact creates the contact of a name.
func (t *People) AddContact(name string, more ...Object) Entity {
	t.T.Helper()
	made := t.NewContact(EmailOf(name), append([]Object{{"first_name": name}}, more...)...)
	t.IDs[name] = made.ID()
	return made
}

// AddSpeakers creates n contacts and returns them as speakers for a write of a session.
func (t *People) AddSpeakers(n int) []Object {
	t.T.Helper()
	people := make([]Object, n)
	for i := range people {
		name := fmt.Sprintf("P%d", i)
		t.AddContact(name)
		people[i] = t.Participant(name, "speaker")
	}
	return people
}

// AddAccount creates an account with a role; if the name has an account, AddAccount gives
// the role to that account.
func (t *People) AddAccount(role, name string, more ...Object) Entity {
	t.T.Helper()
	body := Merged(Object{"name": name}, more...)
	if id, known := t.IDs[name]; known {
		body = Object{"account_id": id}
	}
	made := t.Do(200, http.MethodPost, "/"+role+"s/create", body)
	t.IDs[name] = made.ID()
	return made
}

// DeletePerson deletes a contact or an account from the event; kind is contacts, sponsors
// or exhibitors.
func (t *People) DeletePerson(kind, name string) {
	t.T.Helper()
	t.DeleteRecord(kind, t.IDs[name])
}

// RestorePerson restores a contact or an account on the event.
func (t *People) RestorePerson(kind, name string) {
	t.T.Helper()
	t.RestoreRecord(kind, t.IDs[name])
}

// Participant returns a person in a role, given by slug, as a participant of a write.
func (t *People) Participant(name, slug string, more ...Object) Object {
	t.T.Helper()
	require.Contains(t.T, t.IDs, name)
	return Merged(Object{"contact_id": t.IDs[name], "role_slug": slug}, more...)
}

// NewRole creates a custom role. The slug is the name in lower case.
func (t *People) NewRole(name, core string, more ...Object) Entity {
	t.T.Helper()
	return t.Command("participant-role-create", Merged(Object{"name": name, "core_role": core}, more...))
}

// AccountIDs returns the ids of accounts by name.
func (t *People) AccountIDs(names ...string) []string {
	t.T.Helper()
	ids := make([]string, len(names))
	for i, name := range names {
		require.Contains(t.T, t.IDs, name)
		ids[i] = t.IDs[name]
	}
	return ids
}

// NewProgramme starts a region and returns an empty programme on an event with the
// features.
func NewProgramme(t *testing.T, features ...string) *Programme {
	t.Helper()
	return ProgrammeOf(NewClient(t, features...))
}

// ProgrammeOf returns an empty programme on the client's event.
func ProgrammeOf(d *Client) *Programme {
	return &Programme{NewPeople(d), map[string]Entity{}, map[string]Entity{}}
}

// ParticipantsOf returns the participants of a write: "Ann speaker" gives the address and
// the slug of the role.
func ParticipantsOf(people []string) []Object {
	entries := make([]Object, len(people))
	for i, person := range people {
		name, slug, _ := strings.Cut(person, " ")
		entries[i] = Object{"email": EmailOf(name), "role_slug": slug}
	}
	return entries
}

// RolesOf returns the session ids of each role of a participant, by slug.
func RolesOf(participant Entity) map[string]any {
	roles := map[string]any{}
	for _, role := range participant.List("roles") {
		roles[role.Text("slug")] = role["sessionIds"]
	}
	return roles
}

// NewPeople creates contacts of these names on the client's event.
func NewPeople(d *Client, names ...string) *People {
	d.T.Helper()
	t := &People{d, map[string]string{}}
	for _, name := range names {
		t.AddContact(name)
	}
	return t
}

// EmailOf returns the address of a name.
func EmailOf(name string) string { return strings.ToLower(name) + "@example.org" }

// documentType is the segment of a path that names a type of documents.
const documentType = "{documentType}"

// isDocument reports whether the operation answers a document of content.
func isDocument(op api.Operation) bool { return strings.HasSuffix(op.Path, "/"+documentType) }

// documentOf returns the type of a document that the operation answers.
func documentOf(op api.Operation) string {
	if strings.Contains(op.Path, "{sessionId}") {
		return "summary_pdf"
	}
	return "event_report"
}

// newTranscription creates a transcription of a new session. It returns the id for the path: after
// the session's id if the path names the session, the session's id for an item of content or a
// document, and nothing for a document of the event.
func newTranscription(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	session := MustCreate(t, s, "/sessions/create", SampleDraft("sessions"))
	path := s.EventPath("/sessions/" + session + "/" + transcriptions)
	draft := SampleDraft(transcriptions)
	if isDocument(op) {
		draft["type"] = "summary"
	}
	id, _ := Entity(s.Call(t, http.StatusCreated, http.MethodPost, path, draft).JSON(t)).At("data.id").(string)
	switch {
	case !OnRecord(op):
		return ""
	case CollectionOf(op) == content || isDocument(op):
		return session
	case strings.Contains(op.Path, "{sessionId}"):
		return session + "/" + id
	}
	return id
}

// newPlacement creates a draft of an agenda and returns its id, a slash, and the id of a session that the draft places if
// the operation is about a placement, or may place.
func newPlacement(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	draft := MustCreate(t, s, "/agenda-drafts/create", SampleDraft(drafts))
	session := MustCreate(t, s, "/sessions/create", SampleDraft("sessions"))
	if !strings.Contains(op.Path, "{draftSessionId}") {
		return draft + "/" + session
	}
	return draft + "/" + MustCreate(t, s, "/agenda-drafts/"+draft+"/sessions/create", Object{"session_id": session})
}

// bodyBelowDraft returns the body of a commit or a proposal of a draft, or of a write of a placement. A create
// places the session; a proposal places the sessions of a status that few have.
func bodyBelowDraft(op api.Operation, session string) any {
	place := Object{"starts_at": "2027-05-10T09:00:00Z", "ends_at": "2027-05-10T10:00:00Z"}
	switch create := Merged(place, Object{"session_id": session}); {
	case strings.HasSuffix(op.Path, "/commit"):
		return nil
	case strings.HasSuffix(op.Path, "/propose"):
		return Object{"days": []any{place}, "slot_minutes": 30, "statuses": []any{"decline_queue"}, "time_limit_ms": 100}
	case strings.HasSuffix(op.Path, "/bulk"):
		return BulkOf(Object{"action": "create", "data": create})
	case strings.HasSuffix(op.Path, "/create"):
		return create
	}
	return place
}

// takesNoBody reports whether no request of the operation's method or step has a body.
func takesNoBody(op api.Operation) bool {
	return op.Method == http.MethodGet || op.Method == http.MethodDelete || strings.HasSuffix(op.Path, "/restore")
}
