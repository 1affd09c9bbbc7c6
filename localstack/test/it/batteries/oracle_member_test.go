package batteries_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/shared/party"
)

// member is one version of a contact or an account, with its part in each event.
type member struct {
	id, friendly              string
	values                    map[string]string
	version, created, updated int64
	// written is when it or one of its parts was last written.
	written int64
	at      map[int64]*part
}

// part is a member's part in an event.
type part struct {
	updated int64
	held    map[string]bool // by role; false for a deleted one
	note    string          // the value of the event's own field
	related []string        // the contacts of an account
}

// noRole is the place of a member that an event does not know.
var noRole = &part{}

// memberOf reads a stored record and its associations, apart from the code that
// searches. notes are the ids of the events' own fields.
func memberOf(prefix string, b *party.Body, here []*party.Association, notes map[string]bool) *member {
	m := &member{
		id: b.ID, friendly: fmt.Sprint(prefix, b.Number), values: b.Values, version: b.Version,
		created: b.CreatedAt.UnixMilli(), updated: b.UpdatedAt.UnixMilli(), written: b.WrittenAt.UnixMilli(),
		at: map[int64]*part{},
	}
	for _, a := range here {
		p := &part{updated: a.UpdatedAt.UnixMilli(), held: map[string]bool{}}
		for name, role := range a.Roles {
			p.held[name] = role.DeletedAt == nil
		}
		for id, value := range a.CustomFields {
			if notes[id] {
				p.note, _ = value.V.(string)
			}
		}
		for _, r := range a.Relations {
			p.related = append(p.related, r.ContactID)
		}
		m.at[a.Event] = p
	}
	return m
}

func (m *member) key() string     { return m.id }
func (m *member) revision() int64 { return m.version }

// moments: a member is shown as of its last change that can be seen on the event,
// and by the organization as of its last write.
func (m *member) moments() []string {
	all := []string{m.moment(organization)}
	for event := range m.at {
		all = append(all, m.moment(event))
	}
	return all
}

// organization is the event of searches that go over all of them.
const organization = 0

func (m *member) moment(event int64) string { return placed(m.id, event, m.changed(event)) }

// placed names what is shown of a member on an event.
func placed(id string, event, updated int64) string {
	return moment(fmt.Sprint(id, "@", event), updated)
}

// bonds: a create under an event is about the contact that has the address, and
// that may be another one than it was when the create began.
func (m *member) bonds() []string {
	if email := m.values["email"]; email != "" {
		return []string{addressed(email)}
	}
	return nil
}

// addressed is the mark of a write that is about the contact with an address,
// and invited that of one by which that contact comes onto a session.
func addressed(email string) string { return "address " + strings.ToLower(email) }
func invited(email string) string   { return "invited " + strings.ToLower(email) }

// seated is the mark of a write by which a contact comes onto a session.
func seated(contact string) string { return "seated " + contact }

// on is the member's place on an event.
func (m *member) on(event int64) *part {
	if p := m.at[event]; p != nil {
		return p
	}
	return noRole
}

func (m *member) holds(event int64, role string) bool { return m.on(event).held[role] }

// lost is whether the member held the role and does not any more.
func (m *member) lost(event int64, role string) bool {
	held, had := m.on(event).held[role]
	return had && !held
}

// changed is when what the member shows on the event was last changed.
func (m *member) changed(event int64) int64 {
	if event == organization {
		return m.written
	}
	return max(m.updated, m.on(event).updated)
}

// sighting is a member as an event sees it.
type sighting struct {
	*member
	event int64
}

// time is the moment that a key of a sort or a filter names.
func (s sighting) time(name string) (ms int64, there bool) {
	if name == "updatedAt" {
		return s.changed(s.event), true
	}
	return s.created, true
}

// mentions is whether what a search for text looks at has the text.
func (m *member) mentions(text string) bool {
	text = strings.ToLower(text)
	looked := []string{strings.TrimSpace(m.values["first_name"] + " " + m.values["last_name"]), m.values["email"], m.values["company_name"]}
	if m.values["email"] == "" {
		looked = []string{m.values["name"], m.friendly}
	}
	return slices.ContainsFunc(looked, func(value string) bool { return strings.Contains(strings.ToLower(value), text) })
}

// shown is what an answer must show of the member on an event, by property.
func (s sighting) shown() map[string]string {
	all := maps.Clone(s.values)
	all["id"], all["friendly_id"] = s.id, s.friendly
	if note := s.on(s.event).note; note != "" {
		all[noteField] = note
	}
	return all
}

// noteField is the custom field that each event has of its own, for contacts and
// for accounts.
const noteField = "note"

// shownMember is a member as an answer shows it.
type shownMember struct {
	id               string
	values           map[string]string
	created, updated int64
	deleted          bool
	// roles are the ids of sessions by the slug of the role; related the contacts.
	roles   map[string][]string
	related []string
}

// shownValues are the properties of members that are compared: those that the
// writers write.
var shownValues = []string{"id", "friendly_id", "first_name", "last_name", "email", "company_name", "name", "description"}

// shownMemberOf reads an answer's object.
func shownMemberOf(object map[string]any) *shownMember {
	text, _ := json.Marshal(object)
	var o struct {
		ID      string
		Created time.Time  `json:"created_at"`
		Updated time.Time  `json:"updated_at"`
		Deleted *time.Time `json:"deleted_at"`
		Custom  []struct {
			Name  string `json:"internal_name"`
			Value any
		} `json:"custom_fields"`
		Roles []struct {
			Slug     string
			Sessions []string `json:"sessionIds"`
		}
		Contacts []struct{ ID string }
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return &shownMember{id: err.Error()}
	}
	p := &shownMember{id: o.ID, created: o.Created.UnixMilli(), updated: o.Updated.UnixMilli(), deleted: o.Deleted != nil,
		values: map[string]string{}, roles: map[string][]string{}}
	for _, name := range shownValues {
		if value, ok := object[name].(string); ok {
			p.values[name] = value
		}
	}
	for _, f := range o.Custom {
		p.values[f.Name], _ = f.Value.(string)
	}
	for _, role := range o.Roles {
		p.roles[role.Slug] = role.Sessions
	}
	for _, contact := range o.Contacts {
		p.related = append(p.related, contact.ID)
	}
	return p
}
