package it_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/change"
	"lectern/shared/party"
	"lectern/shared/table"
)

// partyKind is how contacts or accounts are kept.
type partyKind struct{ name, letter string }

var partyKinds = []partyKind{{"contact", "C"}, {"account", "A"}}

// kept is what is stored of an organization's contacts or accounts.
type kept struct {
	partyKind
	bodies map[string]*party.Body
	// here are their associations by event and id.
	here map[string]map[string]*party.Association
	// pointers counts the pointers to changes, by id.
	pointers map[string]int64
}

// parties checks all contacts and accounts of the organization, on all events.
func (a *audit) parties(t *testing.T) {
	t.Helper()
	for _, kind := range partyKinds {
		k := a.keep(t, kind)
		a.kept[kind.name] = k
		versions := map[string]map[string]stored{a.org: {}}
		for id, body := range k.bodies {
			versions[a.org][id] = stored{body.Version, recordRow(kind, body)}
			a.roles(k, id)
			a.published(k, id)
		}
		for event, here := range k.here {
			prefix := a.org + "#" + event
			versions[prefix] = map[string]stored{}
			for id, association := range here {
				versions[prefix][id] = stored{association.Version, placeRow(association)}
				if k.bodies[id] == nil {
					a.wrong("%s %s is on %s and has no record", kind.name, id, event)
				}
			}
		}
		for prefix, want := range versions {
			a.shards(t, prefix, kind.letter, want)
		}
	}
	a.addresses()
}

// keep reads a kind out of the dump.
func (a *audit) keep(t *testing.T, kind partyKind) *kept {
	t.Helper()
	k := &kept{kind, map[string]*party.Body{}, map[string]map[string]*party.Association{}, map[string]int64{}}
	for key, item := range a.all {
		id, ok := strings.CutPrefix(key.PK, a.org+"#"+kind.letter+"#")
		switch {
		case !ok:
		case key.SK == "B":
			body := &party.Body{}
			require.NoError(t, json.Unmarshal([]byte(item.data), body))
			require.Equal(t, id, body.ID)
			body.Version = item.version
			k.bodies[id] = body
		case strings.HasPrefix(key.SK, "E#"):
			here := &party.Association{}
			require.NoError(t, json.Unmarshal([]byte(item.data), here))
			require.Equal(t, id, here.ID)
			require.Equal(t, key.SK, fmt.Sprintf("E#%d", here.Event))
			here.Version = item.version
			if k.here[key.SK] == nil {
				k.here[key.SK] = map[string]*party.Association{}
			}
			k.here[key.SK][id] = here
		case strings.HasPrefix(key.SK, "H#"):
			k.pointers[id]++
		}
	}
	return k
}

// recordRow is what the row of a record must hold.
func recordRow(kind partyKind, b *party.Body) map[string]any {
	row := map[string]any{"c": b.CreatedAt.UnixMilli(), "u": b.UpdatedAt.UnixMilli(), "l": b.WrittenAt.UnixMilli(), "n": b.Number}
	words := b.Values["name"]
	if kind.name == "contact" {
		name := strings.TrimSpace(b.Values["first_name"] + " " + b.Values["last_name"])
		words = strings.Join([]string{name, b.Values["email"], b.Values["company_name"]}, "\x00")
	}
	row["w"] = strings.ToLower(words)
	return row
}

// placeRow is what the row of an association must hold.
func placeRow(here *party.Association) map[string]any {
	row := map[string]any{"c": here.RecordCreatedAt.UnixMilli(), "u": here.UpdatedAt.UnixMilli()}
	letters := ""
	for _, role := range keysWhere(here.Roles, func(r party.Role) bool { return r.DeletedAt == nil }) {
		letters += role[:1]
	}
	if letters != "" {
		row["r"] = letters
	}
	return row
}

// roles: a record counts the events on which it holds each role.
func (a *audit) roles(k *kept, id string) {
	active := map[string]int{}
	for _, here := range k.here {
		if here[id] == nil {
			continue
		}
		for role, r := range here[id].Roles {
			if r.DeletedAt == nil {
				active[role]++
			}
		}
	}
	if got := k.bodies[id].Active; fmt.Sprint(got) != fmt.Sprint(active) {
		a.wrong("%s %s counts the roles %v, it holds %v", k.name, id, got, active)
	}
	for event, here := range k.here {
		if at := here[id]; at != nil && len(at.Roles) == 0 {
			a.wrong("%s %s is on %s without a role", k.name, id, event)
		}
	}
}

// published: each version of a record has its change record, the last one is of
// when it was changed last, and what was published is numbered without a gap. Of a
// contact, each is pointed at.
func (a *audit) published(k *kept, id string) {
	body := k.bodies[id]
	last := a.versions(k.name+" "+id, body.Version)
	changed := body.UpdatedAt
	for _, here := range k.here {
		if at := here[id]; at != nil && at.UpdatedAt.After(changed.Time) {
			changed = at.UpdatedAt
		}
	}
	if last != nil && !last.At.Equal(changed.Time) {
		a.wrong("%s %s was changed at %s, its last change record is of %s", k.name, id, changed, last.At)
	}
	a.sequence(k.name+" "+id, body.Sequence)
	if k.name == "contact" && k.pointers[id] != body.Version {
		a.wrong("contact %s has version %d and %d pointers to changes", id, body.Version, k.pointers[id])
	}
}

// sequence: the published kinds of a record are numbered from 1 to last.
func (a *audit) sequence(of string, last int64) {
	sequence := int64(0)
	for _, record := range a.changes[of] {
		for _, kind := range record.Kinds {
			if sequence++; kind.Sequence != sequence {
				a.wrong("%s version %d: %s has sequence %d, not %d", of, record.Version, kind.Name, kind.Sequence, sequence)
			}
		}
	}
	if sequence != last {
		a.wrong("%s has published %d kinds and counted %d", of, sequence, last)
	}
}

// addresses: each contact holds its address and no other, and no two hold one.
func (a *audit) addresses() {
	contacts := a.kept["contact"]
	held := map[string]string{}
	for key, item := range a.all {
		if address, ok := strings.CutPrefix(key.PK, a.org+"#Q#email#"); ok {
			held[address], _ = quick([]byte(item.data))["id"].(string)
		}
	}
	for id, body := range contacts.bodies {
		address := strings.ToLower(body.Values["email"])
		if held[address] != id {
			a.wrong("contact %s has the address %q, which %q holds", id, address, held[address])
		}
		delete(held, address)
	}
	if len(held) > 0 {
		a.wrong("addresses that no contact has are held: %v", held)
	}
}

// strays are change records of records that are not there.
func (a *audit) strays() {
	for of, records := range a.changes {
		name, id, _ := strings.Cut(of, " ")
		there := name != "session" || a.bodies[id] != nil || table.Event(records[0].Org, records[0].Event) != a.event
		if k := a.kept[name]; k != nil {
			there = k.bodies[id] != nil
		}
		if !there {
			a.wrong("change records of %s, which is not there: %v", of, shownKinds(records))
		}
	}
}

// shownKinds are the actions of change records.
func shownKinds(records []change.Record) (actions []string) {
	for _, r := range records {
		actions = append(actions, r.Action)
	}
	return actions
}

// guests: whom a session names are or were on the event.
func (a *audit) guests() {
	event := strings.TrimPrefix(a.event, a.org+"#")
	for id, b := range a.bodies {
		named := map[string][]string{"account": append(append([]string{}, b.SponsorIDs...), b.ExhibitorIDs...)}
		for _, p := range b.Participants {
			named["contact"] = append(named["contact"], p.ContactID)
		}
		for kind, ids := range named {
			for _, guest := range ids {
				if a.kept[kind].here[event][guest] == nil {
					a.wrong("session %s names the %s %s, which was never on the event", id, kind, guest)
				}
			}
		}
	}
}
