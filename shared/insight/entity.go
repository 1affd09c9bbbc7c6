package insight

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/party"
	"lectern/shared/query"
)

// family is an entity with how its records become rows of a table.
type family struct {
	*query.Entity
	// shape has the fields of the records. Standard fields of the kind follow them, if there is one, and custom fields of the module.
	shape  reflect.Type
	kind   *party.Kind
	module field.Module
	// read puts the records of the visited event into the table.
	read func(*visit, context.Context, *wanted) error
	// columns are those of Entity by name.
	columns map[string]column
}

// column says where the values of a column come from.
type column struct {
	*query.Column
	depth depth
	// index is the field of the shape. Without one the value is that of a standard field, or of a custom field: named is its name there.
	index []int
	named string
	own   bool
}

// row is a record on its way into a table.
type row struct {
	// id tells the record apart from others of the family on the event, for tables of pairs.
	id       string
	shape    any
	standard map[string]string
	custom   map[string]field.Value
	refers   refers
}

// refers has the ids of other records that a record refers to, by entity.
type refers map[string][]string

// The names of entities.
const (
	sessions, abstracts, subsessions = "sessions", "abstracts", "subsessions"
	contacts, speakers, participants = "contacts", "speakers", "participants"
	sponsors, exhibitors             = "sponsors", "exhibitors"
	files, events, tags              = "files", "events", "tags"
)

// describe makes the families and the schema of the reach.
func (s *Reach) describe() {
	s.families = []*family{
		sessionFamily(sessions, "session", "Sessions of the programme that are not abstracts, without subsessions."),
		sessionFamily(abstracts, "abstract", "Abstracts, without subsessions."),
		sessionFamily(subsessions, "subsession", "Parts of sessions and abstracts."),
		personFamily(speakers, "speaker", "Contacts with the role of a speaker on a session, abstract or subsession."),
		{
			Entity: &query.Entity{Name: participants, Singular: "participant", Aliases: []string{"participant_contacts", "participant_contact"},
				Doc: "Roles of contacts on sessions: one for each role on each session.", Key: []string{"id"}},
			shape: reflect.TypeFor[participantShape](), kind: contact.Kind, read: (*visit).readParticipants,
		},
		personFamily(contacts, "contact", "People on the event."),
		accountFamily(sponsors, account.Sponsor), accountFamily(exhibitors, account.Exhibitor),
		listFamily[roomShape](metadata.Rooms, "room"), listFamily[trackShape](metadata.Tracks, "track"),
		listFamily[listShape](metadata.Tags, "tag"), listFamily[listShape](metadata.Formats, "format"),
		listFamily[listShape](metadata.Levels, "level"), listFamily[listShape](metadata.Languages, "language"),
		{
			Entity: &query.Entity{Name: files, Singular: "file", Doc: "Completed files of sessions.", Key: []string{"id"}},
			shape:  reflect.TypeFor[fileShape](), read: (*visit).readFiles,
		},
		{
			Entity: &query.Entity{Name: events, Singular: "event", Doc: "Events.", Key: []string{"id"}},
			shape:  reflect.TypeFor[eventShape](), read: (*visit).readEvent,
		},
	}
	s.schema = &query.Schema{}
	for _, f := range s.families {
		f.addColumns(s)
		f.Relations = relations[f.Name]
		s.schema.Entities = append(s.schema.Entities, f.Entity)
	}
}

func sessionFamily(name, singular, doc string) *family {
	return &family{
		Entity: &query.Entity{Name: name, Singular: singular, Doc: doc, Key: []string{"id"}},
		shape:  reflect.TypeFor[sessionShape](), module: field.Session, read: (*visit).readSessions,
	}
}

func personFamily(name, singular, doc string) *family {
	return &family{
		Entity: &query.Entity{Name: name, Singular: singular, Doc: doc, Key: []string{"event_id", "id"}},
		shape:  reflect.TypeFor[personShape](), kind: contact.Kind, module: field.Contact, read: (*visit).readPeople,
	}
}

func accountFamily(name, role string) *family {
	return &family{
		Entity: &query.Entity{Name: name, Singular: role, Doc: party.Title(role) + "s of the event.", Key: []string{"event_id", "id"}},
		shape:  reflect.TypeFor[partyShape](), kind: account.Kind, module: field.Account, read: (*visit).readAccounts,
	}
}

func listFamily[T any](kind metadata.Kind, singular string) *family {
	return &family{
		Entity: &query.Entity{Name: string(kind), Singular: singular, Doc: kind.Title() + "s of the event.", Key: []string{"id"}},
		shape:  reflect.TypeFor[T](), read: (*visit).readList,
	}
}

// relations are the relations of entities by name. A visit fills the tables of pairs with the ids that rows refer to.
var relations = map[string][]query.Relation{
	sessions: ofSession(sessions), abstracts: ofSession(abstracts),
	subsessions: append(ofSession(subsessions),
		query.Relation{To: sessions, Column: "parent_session_id", ToColumn: "id"},
		query.Relation{To: abstracts, Column: "parent_session_id", ToColumn: "id"}),
	participants: {through(participants, contacts), through(participants, speakers), toEvent},
	contacts:     {toEvent}, speakers: {toEvent},
	sponsors:   {through(sponsors, contacts), toEvent},
	exhibitors: {through(exhibitors, contacts), toEvent},
	files:      {through(files, contacts), toEvent},
	"rooms":    {toEvent}, "tracks": {toEvent}, tags: {toEvent}, "formats": {toEvent}, "levels": {toEvent}, "languages": {toEvent},
}

var toEvent = query.Relation{To: events, Column: "event_id", ToColumn: "id", Last: true}

// through returns a relation by a table of pairs.
func through(from, to string) query.Relation { return query.Relation{To: to, Through: from + " " + to} }

// ofSession returns the relations of a kind of sessions.
func ofSession(name string) []query.Relation {
	all := []query.Relation{
		through(name, speakers), through(name, contacts), through(name, tags), through(name, sponsors), through(name, exhibitors),
		{To: participants, Column: "id", ToColumn: "session_id"}, {To: files, Column: "id", ToColumn: "session_id"}, toEvent,
	}
	for _, list := range []string{"room", "track", "format", "level", "language"} {
		all = append(all, query.Relation{To: list + "s", Column: list + "_id", ToColumn: "id"})
	}
	return all
}

// addColumns adds the columns: those of the shape, the standard fields, and the custom fields of all events of a reach.
func (f *family) addColumns(s *Reach) {
	f.columns = map[string]column{}
	for _, at := range reflect.VisibleFields(f.shape) {
		if at.Anonymous {
			continue
		}
		f.add(column{
			Column: &query.Column{Name: at.Tag.Get("json"), Type: types[at.Type], Doc: at.Tag.Get("doc")},
			depth:  depths[at.Tag.Get("depth")], index: at.Index,
		})
	}
	if f.kind != nil {
		f.addStandard(s.readsContacts())
	}
	if f.module != "" || f.Name == events {
		f.addCustom(s)
	}
}

func (f *family) add(c column) {
	f.columns[c.Name] = c
	f.Columns = append(f.Columns, c.Column)
}

// addStandard adds the standard fields of a kind of party. What a session shows of its people to everyone is no personal data here
// (gaps.md section 1); all other fields of contacts are for a caller without read:contacts.
func (f *family) addStandard(readsContacts bool) {
	for _, name := range f.kind.Fields {
		d, _ := standard.Named(f.kind.Module, name)
		private := f.kind == contact.Kind && !slices.Contains(public, name)
		f.add(column{
			Column: &query.Column{Name: name, Type: query.String, PII: private && (d.ContainsPII || !readsContacts), Doc: d.PublicName + "."},
			named:  name,
		})
	}
	if f.kind == account.Kind {
		same := &query.Column{Name: account.Country, Type: query.String, Doc: "The same as address_country."}
		f.add(column{Column: same, named: "address_country"})
	}
}

// standard has the standard fields of all kinds.
var standard = field.NewSet()

// public are the fields of a contact that everyone sees who reads sessions.
var public = strings.Fields(`first_name last_name photo_url company_name title about website_url linkedin_url twitter_url facebook_url
	instagram_url snapchat_username tiktok_username`)

// addCustom adds the custom fields that an event of the reach has. A field is personal data if it is on one of the events.
func (f *family) addCustom(s *Reach) {
	private := f.module == field.Contact && !s.readsContacts()
	for _, o := range s.events {
		for _, d := range o.customFields(f) {
			name := query.CustomPrefix + d.InternalName
			if known, ok := f.columns[name]; ok {
				known.PII = known.PII || d.ContainsPII
				if known.Type != typeOf(d) {
					known.Type = query.String
				}
				known.depth = max(known.depth, depthOf(d))
				f.columns[name] = known
				continue
			}
			f.add(column{
				Column: &query.Column{Name: name, Type: typeOf(d), PII: d.ContainsPII || private, Doc: d.PublicName + "."},
				depth:  depthOf(d), named: d.InternalName, own: true,
			})
		}
	}
}

// customFields returns the custom fields of a family on the event.
func (o *event) customFields(f *family) (all []*field.Definition) {
	if f.Name == events {
		for _, c := range o.caller.Event.CustomFields {
			all = append(all, &field.Definition{
				ID: c.ID, InternalName: c.InternalName, PublicName: c.Name, Type: field.Type(c.Type), Multiple: c.Multiple,
			})
		}
		return all
	}
	for _, d := range o.set.Fields.List() {
		if d.Module == f.module && !d.IsStandard() {
			all = append(all, d)
		}
	}
	return all
}

// typeOf returns the type of the column of a custom field. A list is a text with commas.
func typeOf(d *field.Definition) query.Type {
	switch {
	case d.Multiple:
		return query.String
	case d.Type == field.Number, d.Type == field.Currency, d.Type == field.User:
		return query.Float
	case d.Type == field.Checkbox:
		return query.Bool
	case d.Type == field.Date:
		return query.Date
	case d.Type == field.Datetime:
		return query.Time
	}
	return query.String
}

// depthOf returns how much of a session a custom field needs: the memory keeps no long texts.
func depthOf(d *field.Definition) depth {
	if d.Type == field.Textarea || d.Type == field.Wysiwyg {
		return ofWhole
	}
	return ofBody
}
