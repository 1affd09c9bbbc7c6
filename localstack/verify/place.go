package verify

import (
	"cmp"
	"strconv"
	"strings"
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
	p := place{org: org, owner: "O#" + id}
	if behind, ok := strings.CutPrefix(below, "E#"); ok {
		id, below, _ = strings.Cut(behind, "#")
		p.event = "E#" + id
		p.owner += "#" + p.event
	}
	p.part, p.rest, _ = strings.Cut(below, "#")
	return p
}

// unknown is the kind of what no one writes.
const unknown = "unknown"

// names of kinds by level and part; those of parties and settings are made below.
var names = map[string]map[string]string{
	"region": {"L": "rate limit", "N": "running number"},
	"organization": {
		"": "organization", "U": "member", "T": "token", "L": "line of a list", "V": "version of a shard", "Q": "unique value",
		"N": "running number", "H": "change record", "I": "idempotency key", "RC": "row of a contact", "RA": "row of an account",
	},
	"event": {
		"": "event", "S": "session", "V": "version of a shard", "Q": "unique value", "N": "running number",
		"RS": "row of a session", "RC": "row of a contact on an event", "RA": "row of an account on an event",
	},
}

// parties are the kinds of what stands with a party, by the first letter of the sort key.
var parties = map[string]map[byte]string{
	"C": {'B': "contact", 'E': "contact on an event", 'H': "pointer to a change"},
	"A": {'B': "account", 'E': "account on an event"},
}

// kind names what stands at a place under a sort key.
func (p place) kind(sk string) string {
	level := "organization"
	switch {
	case p.org == 0:
		level = "region"
	case p.event != "":
		level = "event"
	}
	switch {
	case sk == "" || level == "region":
		return cmp.Or(names[level][p.part], unknown)
	case p.part == "M":
		kind, _, _ := strings.Cut(sk, "#")
		return "setting: " + kind
	case level == "organization" && parties[p.part] != nil:
		return cmp.Or(parties[p.part][sk[0]], unknown)
	}
	return cmp.Or(names[level][p.part], unknown)
}
