package batteries_test

import (
	"slices"
	"sync"

	"lectern/shared/session"
	"lectern/shared/wire"
)

// facet is a kind of metadata that sessions are searched by: what it is called
// in filters, and among what it stands.
type facet struct{ name, collection string }

var facetKinds = []facet{
	{"track", "tracks"}, {"level", "levels"}, {"format", "formats"}, {"language", "languages"}, {"tag", "tags"},
}

// state is one version of a session, as far as searches go by it.
type state struct {
	id, friendly, title, status, custom, parent string
	abstract, source                            bool
	target                                      string
	version                                     int64
	created, updated, starts, deleted           int64 // Unix milliseconds; 0 for none
	ids                                         map[string][]string
	subs                                        []string
	participants                                []seat
	accounts                                    map[string][]string // ids by role
}

// seat is a person in a role on a session.
type seat struct {
	contact, role string
	order         int
}

// stateOf reads a stored body, apart from the code that searches.
func stateOf(b *session.Body) *state {
	one := func(id *string) []string {
		if id == nil {
			return nil
		}
		return []string{*id}
	}
	ms := func(at *wire.Time) int64 {
		if at == nil {
			return 0
		}
		return at.UnixMilli()
	}
	s := &state{
		id: b.ID, friendly: b.FriendlyID(), title: b.Title, parent: b.Parent, abstract: b.IsAbstract, source: b.Target != nil,
		version: b.Version, created: b.CreatedAt.UnixMilli(), updated: b.UpdatedAt.UnixMilli(), starts: ms(b.StartsAt), deleted: ms(b.DeletedAt),
		ids: map[string][]string{"track": one(b.TrackID), "level": one(b.LevelID), "format": one(b.FormatID),
			"language": one(b.LanguageID), "tag": b.TagIDs},
		subs: b.Subsessions, accounts: map[string][]string{"sponsor": b.SponsorIDs, "exhibitor": b.ExhibitorIDs},
	}
	for _, p := range b.Participants {
		s.participants = append(s.participants, seat{p.ContactID, p.RoleID, p.Order})
	}
	if b.Status != nil {
		s.status = *b.Status
	}
	if b.Target != nil {
		s.target = b.Target.SessionID
	}
	if b.CustomStatusID != nil {
		s.custom = *b.CustomStatusID
	}
	return s
}

func (s *state) key() string     { return s.id }
func (s *state) revision() int64 { return s.version }

// moments: a session is shown as of its updated_at.
func (s *state) moments() []string { return []string{moment(s.id, s.updated)} }

func (s *state) bonds() []string { return nil }

// has is whether the contact is on the session, in a role that wanted holds for.
func (s *state) has(contact string, wanted func(role string) bool) bool {
	return slices.ContainsFunc(s.participants, func(c seat) bool { return c.contact == contact && wanted(c.role) })
}

// label is one piece of metadata, or a custom status.
type label struct {
	activity
	collection, id, name, category string
	live                           bool
}

// model is what the service must answer by, kept beside the writes that it has
// acknowledged.
type model struct {
	chronicle
	sessions *family[*state]
	// contacts and accounts are those of the organization, on events.
	contacts, accounts *family[*member]
	events             []int64
	entries            map[string]*label
	// roles are those of people on sessions, in the order of the settings.
	roles []sessionRole
	// composing lets one link be made or cut at a time, so that it is known who
	// the partners are.
	composing sync.Mutex
}

// sessionRole is a role of people on sessions.
type sessionRole struct{ id, slug, core string }

func newModel() *model {
	m := &model{chronicle: chronicle{marks: map[string]*activity{}}, entries: map[string]*label{}}
	m.sessions = newFamily[*state](&m.chronicle, "session")
	m.contacts = newFamily[*member](&m.chronicle, "contact")
	m.accounts = newFamily[*member](&m.chronicle, "account")
	return m
}

// take begins a write on metadata, unless another is under way.
func (m *model) take(id string) (collection string, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.entries[id]
	if l.busy > 0 {
		return "", false
	}
	m.clock++
	l.busy++
	return l.collection, true
}

// release ends the write, which has done apply.
func (m *model) release(id string, apply func(*label)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	l := m.entries[id]
	l.busy--
	l.ended = m.clock
	apply(l)
}

// settledLabel is whether the entry is there and nobody is changing that.
func (m *model) settledLabel(id string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[id].live && m.entries[id].busy == 0
}

func (m *model) add(e *label) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock++
	e.ended = m.clock
	m.entries[e.id] = e
}

// targetOf is the session that a source is linked into.
func (m *model) targetOf(source string) string { return m.sessions.state(source).target }

// alive gives the ids of the entries among the collection that are there.
func (m *model) alive(collection string) []string {
	return m.entriesWhere(func(e *label) bool { return e.collection == collection && e.live })
}

func (m *model) entriesWhere(keep func(*label) bool) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return keysWhere(m.entries, keep)
}

// watermark is what is known before a search begins: no answer may show less.
type watermark struct {
	clock              int64
	sessions           map[string]*state
	contacts, accounts map[string]*member
}

func (m *model) watermark() watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	return watermark{m.clock, m.sessions.states(), m.contacts.states(), m.accounts.states()}
}

// members are those of a family of members.
func (w watermark) members(f *family[*member]) map[string]*member {
	if f.name == "account" {
		return w.accounts
	}
	return w.contacts
}
