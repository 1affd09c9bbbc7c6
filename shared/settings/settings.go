// Package settings returns the settings of an event as one snapshot: metadata, statuses,
// fields and participant roles, with the fields of the organization. It keeps settings in memory
// and proves before each use that the settings are current. The shape, rules and writes of a kind of
// setting are in the kind's own package, its storage in package item.
package settings

import (
	"fmt"
	"slices"

	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

// Version distinguishes snapshots: two snapshots of an event with the same version are equal.
type Version struct{ Organization, Event int64 }

// Snapshot has all settings of one time. Requests share a snapshot and must not change it.
type Snapshot struct {
	Version  Version
	Metadata map[metadata.Kind]*metadata.Set
	Statuses *metadata.Statuses
	// Fields are the fields of the event and of the organization, of all modules.
	Fields *field.Set
	Roles  *participant.Roles
	// Used is the part of the limits that the settings use.
	Used item.Used
}

// part has the settings of one owner.
type part struct {
	// version is the sum of the settings (item.Counted). If it equals the owner's settings
	// version, they are current.
	version int64
	// size is about the bytes of all settings, including deleted settings.
	size    int
	used    item.Usage
	entries map[metadata.Kind][]*metadata.Entry
	fields  []*field.Definition
	roles   []*participant.Role
}

// add decodes a stored setting. An unknown kind only counts for the version.
func (p *part) add(stored table.Item) (err error) {
	p.version += item.Counted(stored)
	p.size += len(stored.Data) + overhead
	switch kind := item.KindOf(stored.Key); {
	case kind == field.Kind:
		p.fields, err = collect(p, p.fields, stored)
	case kind == participant.Kind:
		p.roles, err = collect(p, p.roles, stored)
	case metadata.Kind(kind).Title() != "":
		p.entries[metadata.Kind(kind)], err = collect(p, p.entries[metadata.Kind(kind)], stored)
	}
	return err
}

func collect[R any, P item.Record[R]](p *part, all []P, stored table.Item) ([]P, error) {
	r, err := item.Decode[R, P](stored)
	if err != nil {
		return nil, fmt.Errorf("settings: %w", err)
	}
	p.used.Add(stored, *r.Head().DeletedAt != nil)
	return append(all, r), nil
}

// snapshot joins the settings of the caller's event with the settings of the organization.
// Without an event it has only the organization's fields.
func snapshot(c *auth.Caller, org, event *part) *Snapshot {
	s := &Snapshot{
		Version: Version{Organization: org.version, Event: event.version},
		Fields:  field.NewSet(slices.Concat(org.fields, event.fields)...),
		Used:    item.Used{Organization: org.used, Event: event.used},
	}
	if c.Event == nil {
		return s
	}
	s.Metadata = map[metadata.Kind]*metadata.Set{}
	for _, kind := range metadata.Kinds {
		s.Metadata[kind] = metadata.NewSet(event.entries[kind])
	}
	s.Statuses = metadata.NewStatuses(c.Event.ID, c.Event.CreatedAt, event.entries[metadata.StatusKind])
	s.Roles = participant.NewRoles(c.Event.ID, c.Event.CreatedAt, event.roles)
	return s
}
