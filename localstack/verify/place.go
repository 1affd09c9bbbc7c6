package verify

import (
	"strconv"
	"strings"

	"lectern/shared/table"
)

// place is what a partition key says.
type place struct {
	// org is the organization, 0 for what belongs to none. owner is its key or that of
	// an event, and event what stands between the two, such as E#42.
	org          int64
	owner, event string
	// part is what stands behind the owner, rest what stands behind that.
	part, rest string
}

// placed reads a partition key. What does not belong to an organization is a part.
func placed(pk string) place {
	below, ok := strings.CutPrefix(pk, "O#")
	id, below, _ := strings.Cut(below, "#")
	org, err := strconv.ParseInt(id, 10, 64)
	if !ok || err != nil || org <= 0 {
		part, rest, _ := strings.Cut(pk, "#")
		return place{part: part, rest: rest}
	}
	p := place{org: org, owner: table.Org(org)}
	if behind, ok := strings.CutPrefix(below, "E#"); ok {
		id, behind, _ := strings.Cut(behind, "#")
		if event, err := strconv.ParseInt(id, 10, 64); err == nil && event > 0 {
			p.owner, p.event, below = table.Event(org, event), eventKey(event), behind
		}
	}
	p.part, p.rest, _ = strings.Cut(below, "#")
	return p
}

// level says whose partition it is.
func (p place) level() string {
	switch {
	case p.org == 0:
		return "region"
	case p.event != "":
		return "event"
	}
	return "organization"
}

// key is the partition key from which the place was read, if it is written as the
// service writes it: an id without zeros before it, and nothing behind the last part.
func (p place) key() string {
	all := p.part
	if p.rest != "" {
		all += "#" + p.rest
	}
	switch {
	case p.org == 0:
		return all
	case all == "":
		return p.owner
	}
	return p.owner + "#" + all
}

// told is the partition key as a problem shows it. A unique value may be a person's
// address and is left out, and so is what stands in no known place.
func (p place) told(kind string) string {
	if kind == unknown {
		p.rest = ""
	}
	if p.part == "Q" {
		p.rest, _, _ = strings.Cut(p.rest, "#")
	}
	return p.key()
}
