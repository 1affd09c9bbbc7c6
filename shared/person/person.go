// Package person keeps the items of a person's sessions: next to a contact, one item for
// each session on which the contact has a role. The transaction of the session writes the
// items. With the items, questions about one person are answered without reading the rows
// of whole events. The session decides about roles: an item leads to the session, and the
// session's body has the roles (decision 18).
package person

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/contact"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keys are the patterns of the items.
var Keys = []keys.Pattern{
	{Name: "session of a contact", PK: "o#C#<contact>", SK: "S#<event>#<session>", Personal: keys.Nothing},
}

// Item is one session of a contact.
type Item struct {
	Event   int64  `json:"-"`
	Session string `json:"-"`
	// Version is the version of the session that the item was written for: of the last
	// change of the contact's roles on the session, or of a later backfill or repair of the
	// item.
	Version int64 `json:"-"`
	// Created is the time when the session was created, in Unix milliseconds. It never
	// changes.
	Created int64 `json:"c"`
	// Roles are the ids of the contact's roles on the session, sorted. An item without
	// roles announces a write: the session may have the contact or not.
	Roles []string `json:"r,omitempty"`
}

// Equal reports whether two items have the same content and were written for the same
// version of the session.
func (i Item) Equal(other Item) bool {
	return i.Event == other.Event && i.Session == other.Session && i.Version == other.Version && slices.Equal(i.Roles, other.Roles)
}

// Roles are the sorted ids of the roles that contacts have on a session, by contact.
type Roles map[string][]string

// Add adds a role of a contact.
func (r Roles) Add(contact, role string) {
	if at, found := slices.BinarySearch(r[contact], role); !found {
		r[contact] = slices.Insert(r[contact], at, role)
	}
}

// Session is the session of the items to be written. Version is the version after the
// session's write. Created is the time of the session's creation, in Unix milliseconds.
type Session struct {
	Org, Event       int64
	ID               string
	Version, Created int64
}

// Key returns the key of the session's item next to a contact.
func (s Session) Key(id string) table.Key {
	return table.Key{PK: contact.Kind.PK(s.Org, id), SK: prefix(s.Event) + s.ID}
}

func prefix(event int64) string { return "S#" + strconv.FormatInt(event, 10) + "#" }

// Put returns the write of a contact's item. Without roles, the item announces a write.
func (s Session) Put(id string, roles []string) (table.Write, error) {
	data, err := wire.Encode(Item{Created: s.Created, Roles: roles})
	if err != nil {
		return table.Write{}, fmt.Errorf("person: encode an item of session %s: %w", s.ID, err)
	}
	return table.Put(table.Item{Key: s.Key(id), Version: s.Version, Data: data}), nil
}

// maxTogether is the number of items of people that fit into the transaction of a session,
// beside the items of the session, its parent and an Idempotency-Key.
const maxTogether = 80

// Changes returns the writes that change the session's items from the roles before to the
// roles after. The writes together belong into the transaction of the session. The writes
// ahead must be done before the transaction: they announce the people for whom the
// transaction has no room, and their items stay announcements.
func (s Session) Changes(before, after Roles) (ahead, together []table.Write, err error) {
	for _, id := range changed(before, after) {
		w := table.Delete(s.Key(id))
		early := len(together) == maxTogether
		if roles, found := after[id]; early || found {
			if early {
				roles = nil
			}
			if w, err = s.Put(id, roles); err != nil {
				return nil, nil, err
			}
		}
		if early {
			ahead = append(ahead, w)
		} else {
			together = append(together, w)
		}
	}
	return ahead, together, nil
}

// changed returns the contacts with different roles before and after, sorted.
func changed(before, after Roles) (ids []string) {
	for id, roles := range after {
		if !slices.Equal(before[id], roles) {
			ids = append(ids, id)
		}
	}
	for id := range before {
		if _, found := after[id]; !found {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Missing returns the writes of the items of people that are missing from the items read,
// or have other roles there, as announcements do.
func (s Session) Missing(people Roles, got map[table.Key]table.Item) (writes []table.Write, err error) {
	for _, id := range slices.Sorted(maps.Keys(people)) {
		if stored, found := got[s.Key(id)]; found {
			item, err := decode(stored)
			if err != nil {
				return nil, err
			}
			if slices.Equal(item.Roles, people[id]) {
				continue
			}
		}
		w, err := s.Put(id, people[id])
		if err != nil {
			return nil, err
		}
		writes = append(writes, w)
	}
	return writes, nil
}

// OnEvent reads the items of a contact's sessions on an event, oldest session first.
func OnEvent(ctx context.Context, t *table.Table, org, event int64, id string) ([]Item, error) {
	return read(ctx, t, contact.Kind.PK(org, id), prefix(event))
}

// Anywhere reads the items of a contact's sessions on all events: by event, oldest session
// first.
func Anywhere(ctx context.Context, t *table.Table, org int64, id string) ([]Item, error) {
	return read(ctx, t, contact.Kind.PK(org, id), "S#")
}

func read(ctx context.Context, t *table.Table, pk, prefix string) (items []Item, err error) {
	for stored, err := range t.Between(ctx, pk, prefix, prefix+"~") {
		if err != nil {
			return nil, err
		}
		item, err := decode(stored)
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Created, b.Created), cmp.Compare(a.Session, b.Session))
	})
	return items, nil
}

// decode decodes a stored item.
func decode(stored table.Item) (item Item, err error) {
	item.Version = stored.Version
	_, rest, _ := strings.Cut(stored.SK, "#")
	event, session, _ := strings.Cut(rest, "#")
	item.Session = session
	if item.Event, err = strconv.ParseInt(event, 10, 64); err == nil {
		err = json.Unmarshal(stored.Data, &item)
	}
	if err != nil {
		return item, fmt.Errorf("person: decode %s: %w", stored.SK, err)
	}
	return item, nil
}
