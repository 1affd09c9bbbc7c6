// Package party is what contacts and accounts have in common: a record of the
// organization, once however many events it is part of, and an association with
// each of these (design.md section 3, gaps.md section 2.3). It owns how they are
// stored, written in one transaction, searched and shown. What a contact or an
// account has of its own is in the packages of those names.
package party

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"lectern/shared/caps"
	"lectern/shared/field"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Kind is one kind of party: contacts or accounts.
type Kind struct {
	// Name is the kind's own, such as contact: the type of its change records, and
	// the name of its running number.
	Name string
	// Letter stands in the keys of the kind.
	Letter string
	// Prefix begins its friendly ids.
	Prefix string
	// Module is the module of its fields.
	Module field.Module
	// Fields are its standard fields in the order they are shown in, and Aliases
	// other names under which some may be written.
	Fields  []string
	Aliases map[string]string
	// Shards is how many shards its rows are spread over. It never changes.
	Shards int
	// Cap bounds the records of an organization.
	Cap caps.Cap
	// Words gives what a search for text looks at, beside the friendly id where
	// Numbered is set.
	Words    func(*Body) []string
	Numbered bool
}

// maxRecordBytes bounds the record and each of its associations, as stored
// (gaps.md section 1).
const maxRecordBytes = 150 << 10

// Body is the record of the organization, as stored.
type Body struct {
	ID     string `json:"id"`
	Number int64  `json:"number"`
	// Values are the standard fields that are set, by internal name.
	Values map[string]string `json:"values,omitempty"`
	// CustomFields are the values of the organization's own fields, Translations
	// the texts of the record and of these fields.
	CustomFields map[string]field.Value `json:"custom_fields,omitempty"`
	Translations field.Translations     `json:"translations,omitempty"`
	// Active is on how many events the party holds each role.
	Active    map[string]int `json:"active,omitempty"`
	CreatedAt wire.Time      `json:"created_at"`
	// UpdatedAt is when the record itself was last changed, and Edited the version that
	// it got then. WrittenAt is when it was last written, for an association alone too:
	// later writes are later, whichever event they are made on.
	UpdatedAt wire.Time `json:"updated_at"`
	Edited    int64     `json:"edited"`
	WrittenAt wire.Time `json:"written_at"`
	// Recent are the versions that its last writes gave to associations.
	Recent []Recent `json:"recent,omitempty"`
	// Sequence counts the published kinds of change.
	Sequence int64 `json:"sequence"`
	// Version is the item's, not part of the text.
	Version int64 `json:"-"`
	// bytes is how long the text was that the body was read from.
	bytes int
}

// Association is a party's part in one event, as stored.
type Association struct {
	ID    string `json:"id"`
	Event int64  `json:"event"`
	// Roles are those that the party holds on the event or held.
	Roles map[string]Role `json:"roles"`
	// CustomFields and Translations are those of the event's fields.
	CustomFields map[string]field.Value `json:"custom_fields,omitempty"`
	Translations field.Translations     `json:"translations,omitempty"`
	// Relations are the contacts of an account on this event.
	Relations []Relation `json:"relations,omitempty"`
	// With is the version that the record got in the write of this version.
	With int64 `json:"with"`
	// RecordCreatedAt is the record's CreatedAt, by which searches on the event order.
	RecordCreatedAt wire.Time `json:"record_created_at"`
	CreatedAt       wire.Time `json:"created_at"`
	UpdatedAt       wire.Time `json:"updated_at"`
	Version         int64     `json:"-"`
	// bytes is as of Body.
	bytes int
}

// Role is one role that a party holds on an event.
type Role struct {
	Since wire.Time `json:"since"`
	// DeletedAt is nil while the role is held.
	DeletedAt *wire.Time `json:"deleted_at,omitempty"`
}

// Relation is a contact of an account.
type Relation struct {
	ContactID string    `json:"contact_id"`
	IsPrimary bool      `json:"is_primary"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`
}

// Party is a record as it stands on an event. Here is nil on the organization's
// own level. What was read is shared and must not be changed; clone is for that.
type Party struct {
	*Body
	Here *Association
}

// Holds reports whether the party holds the role on the event.
func (p Party) Holds(role string) bool {
	if p.Here == nil {
		return false
	}
	held, ok := p.Here.Roles[role]
	return ok && held.DeletedAt == nil
}

// held are the roles that the party holds on the event, in order.
func (a *Association) held() (roles []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Roles)) {
		if a.Roles[name].DeletedAt == nil {
			roles = append(roles, name)
		}
	}
	return roles
}

// Revision is the version that the party shows. On an event it is that of the last write
// which changed what is shown there, a number that no other write has.
func (p Party) Revision() int64 {
	if p.Here == nil {
		return p.Version
	}
	return max(p.Edited, p.Here.With)
}

// Changed is when what the party shows was last changed.
func (p Party) Changed() wire.Time {
	switch {
	case p.Here == nil:
		return p.WrittenAt
	case p.Here.UpdatedAt.After(p.UpdatedAt.Time):
		return p.Here.UpdatedAt
	}
	return p.UpdatedAt
}

// Guarded holds a guard against what the party shows. A version that was read on another
// level or event will do if it is not older than that.
func (p Party) Guarded(g write.Guard) error {
	return g.CheckSince(p.Revision(), p.Changed(), p.Version, p.WrittenAt)
}

// Value returns the standard field of an internal name; empty when it is not set.
func (b *Body) Value(name string) string { return b.Values[name] }

// FriendlyID returns the id that people read, such as CONT-12.
func (k *Kind) FriendlyID(b *Body) string { return k.Prefix + strconv.FormatInt(b.Number, 10) }

// Decode reads a record from its item.
func Decode(item table.Item) (*Body, error) {
	b := &Body{}
	if err := json.Unmarshal(item.Data, b); err != nil {
		return nil, fmt.Errorf("party: decode %s: %w", item.PK, err)
	}
	b.Version, b.bytes = item.Version, len(item.Data)
	return b, nil
}

// DecodeAssociation reads an association from its item.
func DecodeAssociation(item table.Item) (*Association, error) {
	a := &Association{}
	if err := json.Unmarshal(item.Data, a); err != nil {
		return nil, fmt.Errorf("party: decode %s %s: %w", item.PK, item.SK, err)
	}
	a.Version, a.bytes = item.Version, len(item.Data)
	return a, nil
}

// clone is a copy to be changed: maps and lists in it are its own, what they
// hold is not. Its values are there to be written into.
func (p Party) clone() Party {
	body := *p.Body
	body.Active, body.Values = maps.Clone(body.Active), map[string]string{}
	maps.Copy(body.Values, p.Values)
	copied := Party{Body: &body}
	if p.Here != nil {
		here := *p.Here
		here.Roles = maps.Clone(here.Roles)
		copied.Here = &here
	}
	return copied
}
