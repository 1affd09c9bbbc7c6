package field

import (
	"context"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Codes of the 409s.
const (
	codeBuiltIn   = "BUILT_IN"
	codeDuplicate = "DUPLICATE_INTERNAL_NAME"
)

// Store writes definitions.
//
//	PK                                     SK
//	<event or org>#M                       field#<id>   the definition
//	<event or org>#Q#field#<module>#<name> -            holds an internal name
type Store struct {
	Table *table.Table
	Now   func() time.Time
	NewID func() string
	// Connectors makes Update and Delete take the fields that connectors own, and
	// these alone; otherwise they refuse them.
	Connectors bool
	// Used is what there is of settings, as the caller's snapshot has it.
	Used item.Used
}

// maxFields is how many fields an event has, and how many its organization.
const maxFields = 500

// Within returns the store for a request that has seen a snapshot of the settings.
func (s Store) Within(used item.Used) Store {
	s.Used = used
	return s
}

func (s Store) items() item.Store {
	return item.Store{
		Table: s.Table, Now: s.Now, Kind: Kind, Title: "Field", Limit: item.Limit{Name: "fields", Most: maxFields}, Used: s.Used,
	}
}

// held is the value that no two definitions of a place share.
func held(d *Definition) string { return string(d.Module) + "#" + d.InternalName }

// Create defines a field for the caller's event, or for its organization when
// the scope is global. Errors: 400 for a draft that contradicts itself, 403 for
// a global field by a caller limited to events, 409 for a name that is taken.
func (s Store) Create(ctx context.Context, c *auth.Caller, draft Draft) (*Definition, error) {
	d, err := draft.definition(s.NewID())
	if err != nil {
		return nil, err
	}
	place := d.place(c.Org.ID, c.Event.ID)
	if answer, replayed, err := item.Replay(ctx, s.items(), place, same); replayed {
		return answer, err
	}
	if err := mayWrite(c, d); err != nil {
		return nil, err
	}
	taken := apierr.Conflict(codeDuplicate,
		fmt.Sprintf("There is a field with the internal name %q already.", d.InternalName)).Field("name")
	if _, ok := NewSet().Named(d.Module, d.InternalName); ok {
		return nil, taken
	}
	return item.Create(ctx, s.items(), place, d, same, place.Hold(Kind, held(d), d.ID).Or(taken))
}

// same is the answer of a write: the definition itself.
func same(d *Definition) *Definition { return d }

// mayWrite keeps those who see single events only away from what concerns the
// whole organization (gaps.md section 1).
func mayWrite(c *auth.Caller, d *Definition) error {
	if _, limited := c.Events(); limited && d.Scope == ScopeGlobal {
		return apierr.Forbidden("", "A field of the organization needs a token that is not limited to events.")
	}
	return nil
}

// Update changes the definition with the given id, one of fields.
func (s Store) Update(ctx context.Context, c *auth.Caller, fields *Set, id string, change Change, ifMatch string) (*Definition, error) {
	seen := change.SeenAt
	if !seen.Sent {
		seen = change.SeenAtToo
	}
	return s.do(ctx, c, fields, id, item.Change[*Definition]{
		Verb: item.Updated, Guard: write.Guard{UpdatedAt: seen, IfMatch: ifMatch}, Edit: change.apply,
	})
}

// Delete removes the definition with the given id, one of fields. Values that
// records have of it are not shown any more; its internal name is free.
func (s Store) Delete(ctx context.Context, c *auth.Caller, fields *Set, id, ifMatch string) error {
	_, err := s.do(ctx, c, fields, id, item.Change[*Definition]{Verb: item.Deleted, Guard: write.Guard{IfMatch: ifMatch}})
	return err
}

// do makes a change of a definition that the caller may change: 404 when there
// is none, 409 for a standard one, 400 for a connector's unless the store is for
// those.
func (s Store) do(ctx context.Context, c *auth.Caller, fields *Set, id string, change item.Change[*Definition]) (*Definition, error) {
	d, ok := fields.Get(id)
	if !ok || d.Module == Metadata {
		return nil, apierr.NotFound("Field")
	}
	if err := mayWrite(c, d); err != nil {
		return nil, err
	}
	switch {
	case d.IsStandard():
		return nil, apierr.Conflict(codeBuiltIn, "A standard field cannot be changed or deleted.")
	case s.Connectors && !d.IsReadOnly():
		return nil, apierr.NotFound("Connector field")
	case !s.Connectors && d.IsReadOnly():
		return nil, apierr.ReadOnly(d.InternalName)
	}
	place := d.place(c.Org.ID, c.Event.ID)
	var also []table.Write
	if change.Verb == item.Deleted {
		also = append(also, table.Remove(place.Unique(Kind, held(d)), 1))
	}
	return item.Do(ctx, s.items(), place, id, change, same, also...)
}
