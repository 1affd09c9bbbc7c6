// Package party has the common parts of contacts and accounts: a record of the organization,
// and an association with each event (design.md section 3, gaps.md section 2.3). It stores,
// writes, searches and shows them. The packages contact and account add what differs, as
// party.Rules.
//
// Read in this order: party.go has the data, row.go the keys and rows, store.go the reads and
// the erasure, consistent.go the reads of record and association from the same write, load.go
// the people of an answer, write.go the operations, plan.go their transactions, draft.go, search.go and
// show.go the rest.
package party

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"lectern/shared/caps"
	"lectern/shared/field"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Kind is a kind of party: contacts or accounts.
type Kind struct {
	// Name is the type in change records, such as contact, and the name of the running
	// number.
	Name string
	// Letter stands in the keys of the kind.
	Letter string
	// Personal is for the patterns of the items with values or texts of a record.
	Personal keys.Personal
	// Prefix begins friendly ids.
	Prefix string
	// Module is the module of the fields.
	Module field.Module
	// Fields are the standard fields in the order of an answer. Aliases are other names for
	// writes.
	Fields  []string
	Aliases map[string]string
	// Shards is the number of shards of the rows. It never changes.
	Shards int
	// Cap bounds the records of an organization.
	Cap caps.Cap
	// Words returns the texts that a search looks at, beside the friendly id if Numbered is
	// set.
	Words    func(*Body) []string
	Numbered bool
}

// maxRecordBytes bounds a stored record and each stored association (gaps.md section 1).
const maxRecordBytes = 150 << 10

// Body is the record of the organization, as stored.
type Body struct {
	ID     string `json:"id"`
	Number int64  `json:"number"`
	// Values are the standard fields that are set, by internal name.
	Values map[string]string `json:"values,omitempty"`
	// CustomFields are the values of the organization's own fields, Translations the texts
	// of the record and of the organization's fields.
	CustomFields map[string]field.Value `json:"custom_fields,omitempty"`
	Translations field.Translations     `json:"translations,omitempty"`
	// Active is on how many events the party holds each role.
	Active    map[string]int `json:"active,omitempty"`
	CreatedAt wire.Time      `json:"created_at"`
	// UpdatedAt is the time of the last change of the record, and Edited the version of that
	// change. WrittenAt is the time of the last write, of the record or of an association.
	// Later writes have later times, on any event.
	UpdatedAt wire.Time `json:"updated_at"`
	Edited    int64     `json:"edited"`
	WrittenAt wire.Time `json:"written_at"`
	// Recent are the last writes of associations.
	Recent []Recent `json:"recent,omitempty"`
	// Sequence counts the published kinds of change.
	Sequence int64 `json:"sequence"`
	// Version is the item's, not part of the text.
	Version int64 `json:"-"`
	// bytes is how long the text was that the body was read from.
	bytes int
}

// Association is the stored part of a party in an event.
type Association struct {
	ID    string `json:"id"`
	Event int64  `json:"event"`
	// Roles are the roles that the party holds on the event, and the deleted roles.
	Roles map[string]Role `json:"roles"`
	// CustomFields and Translations are those of the event's fields.
	CustomFields map[string]field.Value `json:"custom_fields,omitempty"`
	Translations field.Translations     `json:"translations,omitempty"`
	// Relations are the contacts of an account on this event.
	Relations []Relation `json:"relations,omitempty"`
	// With is the version that the record got in the write of this version.
	With int64 `json:"with"`
	// RecordCreatedAt is the record's CreatedAt: searches on the event sort by this time.
	RecordCreatedAt wire.Time `json:"record_created_at"`
	CreatedAt       wire.Time `json:"created_at"`
	UpdatedAt       wire.Time `json:"updated_at"`
	Version         int64     `json:"-"`
	// bytes is as of Body.
	bytes int
}

// Role is a role of a party on an event.
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

// Party is a record with its association with an event. Association is nil on the organization's
// level. Parties that were read are shared and must not be changed; change a clone.
type Party struct {
	*Body
	Association *Association
}

// Holds reports whether the party holds the role on the event.
func (p Party) Holds(role string) bool {
	if p.Association == nil {
		return false
	}
	held, ok := p.Association.Roles[role]
	return ok && held.DeletedAt == nil
}

// held returns the roles that the party holds on the event, in order.
func (a *Association) held() (roles []string) {
	for _, name := range slices.Sorted(maps.Keys(a.Roles)) {
		if a.Roles[name].DeletedAt == nil {
			roles = append(roles, name)
		}
	}
	return roles
}

// Revision returns the version that the party shows. On an event that is the version of the
// last write that changed the record or the association.
func (p Party) Revision() int64 {
	if p.Association == nil {
		return p.Version
	}
	return max(p.Edited, p.Association.With)
}

// Changed returns the time of the last change that the party shows.
func (p Party) Changed() wire.Time {
	switch {
	case p.Association == nil:
		return p.WrittenAt
	case p.Association.UpdatedAt.After(p.UpdatedAt.Time):
		return p.Association.UpdatedAt
	}
	return p.UpdatedAt
}

// guarded checks a guard against the party. A version that was read on another level or
// event passes if it is not older than the last change shown.
func (p Party) guarded(g write.Guard) error {
	return g.CheckSince(p.Revision(), p.Changed(), p.Version, p.WrittenAt)
}

// Value returns the standard field of an internal name; empty when it is not set.
func (b *Body) Value(name string) string { return b.Values[name] }

// FriendlyID returns the id for people, such as CONT-12.
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

// clone returns a copy to change. Maps and lists are new, their entries are shared.
func (p Party) clone() Party {
	body := *p.Body
	body.Active, body.Values = maps.Clone(body.Active), map[string]string{}
	maps.Copy(body.Values, p.Values)
	copied := Party{Body: &body}
	if p.Association != nil {
		association := *p.Association
		association.Roles = maps.Clone(association.Roles)
		copied.Association = &association
	}
	return copied
}
