package raw

import (
	"strconv"
	"strings"

	"lectern/shared/table"
)

// Partition has the parts of a partition key. For O#7#E#42#S#id, a session: Org is 7, Owner is
// O#7#E#42, Event is E#42, Letters are S, and Rest is the id.
type Partition struct {
	// Org is the id of the organization; 0 for a partition of the region.
	Org int64
	// Owner is the key of the organization or event. Event is empty for an organization.
	Owner, Event string
	// Letters name the content of the partition; empty for the owner's own item.
	Letters, Rest string
}

// ParsePartition splits a partition key. A key without an organization has only letters and rest.
func ParsePartition(pk string) Partition {
	below, ok := strings.CutPrefix(pk, "O#")
	id, below, _ := strings.Cut(below, "#")
	org, err := strconv.ParseInt(id, 10, 64)
	if !ok || err != nil || org <= 0 {
		letters, rest, _ := strings.Cut(pk, "#")
		return Partition{Letters: letters, Rest: rest}
	}
	p := Partition{Org: org, Owner: table.Org(org)}
	if afterE, ok := strings.CutPrefix(below, "E#"); ok {
		id, afterID, _ := strings.Cut(afterE, "#")
		if event, err := strconv.ParseInt(id, 10, 64); err == nil && event > 0 {
			p.Owner, p.Event, below = table.Event(org, event), EventKey(event), afterID
		}
	}
	p.Letters, p.Rest, _ = strings.Cut(below, "#")
	return p
}

// Key joins the parts as the service writes a key: no zeros before an id, no # at the end.
func (p Partition) Key() string {
	below := p.Letters
	if p.Rest != "" {
		below += "#" + p.Rest
	}
	switch {
	case p.Org == 0:
		return below
	case below == "":
		return p.Owner
	}
	return p.Owner + "#" + below
}

// Redacted returns the partition key as a problem may show the key: without a unique value, because
// the value may be a person's address, and without the rest of an unknown key.
func (p Partition) Redacted(pattern string) string {
	if pattern == Unknown {
		p.Rest = ""
	}
	if p.Letters == "Q" {
		p.Rest, _, _ = strings.Cut(p.Rest, "#")
	}
	return p.Key()
}

// EventID returns the id of the event; 0 for a partition of the organization.
func (p Partition) EventID() int64 {
	id, _ := strconv.ParseInt(strings.TrimPrefix(p.Event, "E#"), 10, 64)
	return id
}

// EventKey returns the sort key of an item that belongs to an event.
func EventKey(id int64) string { return "E#" + strconv.FormatInt(id, 10) }
