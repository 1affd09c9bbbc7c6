// Package settings gives the settings of an event as one snapshot: its metadata,
// statuses, fields and participant roles, with the fields of its organization.
// It keeps them in memory and proves before each use that they are current
// (design.md section 3). Each kind's shape, rules and writes are in its own
// package; how a setting is stored is in package item.
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

// Version tells snapshots apart: two of the same event with the same version
// are equal.
type Version struct{ Organization, Event int64 }

// Snapshot is all settings at one time. It is shared between requests and read
// only.
type Snapshot struct {
	Version  Version
	Metadata map[metadata.Kind]*metadata.Set
	Statuses *metadata.Statuses
	// Fields are those of the event and of the organization, of all modules.
	Fields *field.Set
	Roles  *participant.Roles
	// Used is how much of their bounds the settings take.
	Used item.Used
}

// part is the settings of one place as they were read.
type part struct {
	// version is what the settings count (item.Counted); their owner's settings
	// version proves that they are current.
	version int64
	// size is how many bytes they take, deleted ones included.
	size    int
	used    item.Usage
	entries map[metadata.Kind][]*metadata.Entry
	fields  []*field.Definition
	roles   []*participant.Role
}

// add decodes one stored setting. Kinds that it does not know count for the
// version alone.
func (p *part) add(stored table.Item) (err error) {
	p.version += item.Counted(stored)
	p.size += len(stored.Data) + overhead
	switch kind := item.Kind(stored.Key); {
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

// snapshot joins the settings of the caller's event with those of the
// organization. Without an event it has the organization's fields only.
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
