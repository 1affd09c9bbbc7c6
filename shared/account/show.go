package account

import (
	"maps"
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/party"
	"lectern/shared/settings"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Account is an account as the operations on sponsors and exhibitors answer.
type Account struct{ party.Shown }

// Summary is an account as a session shows it: without contacts.
type Summary struct{ party.Shown }

// Related is a contact of an account (gaps.md section 2.1).
type Related struct {
	ID                    string           `json:"id" format:"uuid"`
	FriendlyID            string           `json:"friendly_id"`
	FriendlyIDRaw         int64            `json:"friendly_id_raw"`
	FullName              *string          `json:"full_name"`
	FirstName             *string          `json:"first_name"`
	LastName              *string          `json:"last_name"`
	Email                 *string          `json:"email"`
	PhotoURL              *string          `json:"photo_url"`
	CompanyName           *string          `json:"company_name"`
	Title                 *string          `json:"title"`
	About                 wire.Opt[string] `json:"about,omitzero" doc:"Absent where omitted lists it."`
	IsPrimary             bool             `json:"is_primary"`
	ContactCreatedAt      wire.Time        `json:"contact_created_at"`
	ContactUpdatedAt      wire.Time        `json:"contact_updated_at"`
	RelationshipCreatedAt wire.Time        `json:"relationship_created_at"`
	RelationshipUpdatedAt wire.Time        `json:"relationship_updated_at"`
}

// viewer shows accounts in a role to a caller, with contacts if the caller may read
// contacts.
type viewer struct {
	*party.Viewer
	role          string
	readsContacts bool
	// contacts has the contacts that the accounts name.
	contacts *party.Loader
}

func (st *Store) viewer(c *auth.Caller, set *settings.Snapshot, role string, translated bool) *viewer {
	shared := &party.Viewer{
		Kind: Kind, Caller: c, Set: set, Translated: translated, CustomFirst: true, AdminURL: st.AdminURL, Collection: role + "s",
	}
	return &viewer{Viewer: shared, role: role, readsContacts: c.May(auth.Scopes{auth.ReadContacts}) == nil}
}

func (v *viewer) show(p party.Party) *Account {
	if !v.readsContacts {
		return &Account{v.Finish(head(p), p, v.role, nil)}
	}
	shown := &Account{v.Finish(head(p), p, v.role, v.related(p))}
	if v.contacts.Exceeded() {
		shown.Reduce(size.Brief)
	}
	return shown
}

// related returns the ids of the contacts that accounts name, each once.
func related(accounts ...party.Party) []string {
	ids := map[string]bool{}
	for _, p := range accounts {
		if p.Association == nil {
			continue
		}
		for _, r := range p.Association.Relations {
			ids[r.ContactID] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// contacts are the contacts of an account (party.ContactList).
type contacts []Related

// Len returns the number of contacts.
func (c contacts) Len() int { return len(c) }

// Brief returns the contacts without about.
func (c contacts) Brief() any {
	brief := slices.Clone(c)
	for i := range brief {
		brief[i].About = wire.Opt[string]{}
	}
	return brief
}

// related shows the contacts of an account that are on the event, the primary contact first.
func (v *viewer) related(p party.Party) contacts {
	shown := contacts{}
	for _, r := range p.Association.Relations {
		person, found := v.contacts.Holder(r.ContactID, contact.Role)
		if !found {
			continue
		}
		entry := relation(person, r)
		if r.IsPrimary {
			shown = slices.Insert(shown, 0, entry)
		} else {
			shown = append(shown, entry)
		}
	}
	return shown
}

// optional returns a standard field, null for an unset field.
func optional(p party.Party, name string) wire.Opt[string] {
	if value, ok := p.Values[name]; ok {
		return wire.Some(value)
	}
	return wire.Null[string]()
}

func relation(person party.Party, r party.Relation) Related {
	text := func(name string) *string {
		if value, ok := person.Values[name]; ok {
			return &value
		}
		return nil
	}
	return Related{
		ID: person.ID, FriendlyID: contact.Kind.FriendlyID(person.Body), FriendlyIDRaw: person.Number,
		FullName: contact.FullName(person.Body), FirstName: text("first_name"), LastName: text("last_name"),
		Email: text("email"), PhotoURL: text("photo_url"), CompanyName: text("company_name"),
		Title: text("title"), About: optional(person, about), IsPrimary: r.IsPrimary,
		ContactCreatedAt: person.CreatedAt, ContactUpdatedAt: person.Changed(),
		RelationshipCreatedAt: r.CreatedAt, RelationshipUpdatedAt: r.UpdatedAt,
	}
}

// Summary shows an account as part of a session, in a role.
func (st *Store) Summary(c *auth.Caller, set *settings.Snapshot, role string, translated bool, p party.Party) Summary {
	return Summary{st.viewer(c, set, role, translated).Finish(head(p), p, role, nil)}
}

// head returns the beginning of every shape of an account.
func head(p party.Party) (o wire.Object) {
	o.Add("id", p.ID)
	o.Add("friendly_id", Kind.FriendlyID(p.Body))
	o.Add("friendly_id_raw", p.Number)
	for _, name := range Kind.Fields {
		shown := name
		if name == country {
			shown = Country
		}
		o.Add(shown, party.Optional(p.Body, name))
	}
	o.Add("created_at", p.CreatedAt)
	o.Add("updated_at", p.Changed())
	return o
}

// TransformSchema describes the record.
func (Account) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	describe(r, s)
	maps.Copy(s.Properties, huma.SchemaFromType(r, reflect.TypeFor[whole]()).Properties)
	return s
}

// TransformSchema describes the summary.
func (Summary) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	describe(r, s)
	return s
}

func describe(r huma.Registry, s *huma.Schema) {
	party.Describe[described](r, s, Kind, Kind.Fields)
	s.Properties[Country] = s.Properties[country]
	s.Properties[Country].Description = "The country, as a code of three digits. The name is kept for compatibility."
	delete(s.Properties, country)
	s.Required[slices.Index(s.Required, country)] = Country
}

// described are the parts of an account beside the standard fields.
type described struct {
	ID               string             `json:"id" format:"uuid"`
	FriendlyID       string             `json:"friendly_id" doc:"ACCT-12."`
	FriendlyIDRaw    int64              `json:"friendly_id_raw" doc:"The number of friendly_id."`
	CreatedAt        wire.Time          `json:"created_at"`
	UpdatedAt        wire.Time          `json:"updated_at"`
	TranslatedFields []field.Translated `json:"translated_fields,omitempty" doc:"Only with expand=translated_fields."`
	CustomFields     []field.Shown      `json:"custom_fields" doc:"The fields that have a value."`
	AdminURL         string             `json:"admin_url" nullable:"true" doc:"The record in the admin application, where one is configured."`
	DeletedAt        wire.Time          `json:"deleted_at,omitzero" doc:"Only where the account is deleted from the event in this role."`
}

// whole adds the parts that a session does not show.
type whole struct {
	Contacts []Related `json:"contacts,omitempty" doc:"The account's contacts on the event, for callers with read:contacts."`
	Omitted  []string  `json:"omitted,omitempty" doc:"Paths of properties that are left out because the answer would be too long; absent otherwise."`
}
