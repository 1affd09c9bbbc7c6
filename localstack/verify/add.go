package verify

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"lectern/shared/account"
	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/participant"
	"lectern/shared/party"
	"lectern/shared/purge"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// adders take in an item by the part that its partition is.
var adders = map[string]func(*Organization, place, Item){
	"":                  (*Organization).addFamily,
	"U":                 (*Organization).addMember,
	"T":                 (*Organization).addFamily,
	"L":                 (*Organization).addLine,
	"M":                 (*Organization).addSetting,
	"F":                 (*Organization).addRecord,
	"S":                 (*Organization).addSession,
	contact.Kind.Letter: func(o *Organization, at place, item Item) { o.addParty(o.Parties[contact.Kind.Name], at, item) },
	account.Kind.Letter: func(o *Organization, at place, item Item) { o.addParty(o.Parties[account.Kind.Name], at, item) },
	"RS":                (*Organization).addRow,
	"RC":                (*Organization).addRow,
	"RA":                (*Organization).addRow,
	"V": func(o *Organization, at place, item Item) {
		into(o.shards, at.owner)[item.SK] = shardVersion{item.Version, item.Count}
	},
	"Q": (*Organization).addHold,
	"N": func(o *Organization, _ place, item Item) { o.numbers[item.PK] = item.Count },
	"H": (*Organization).addChange,
	"X": (*Organization).addSecurityEvent,
	"I": (*Organization).addAnswer,
}

// shards is how many shards there are of the rows of a family.
var shards = map[string]int{"RS": 64, "RC": contact.Kind.Shards, "RA": account.Kind.Shards}

// Add takes in an item of the organization.
func (o *Organization) Add(item Item) {
	if flaw := item.flaw(); flaw != "" {
		o.wrong("%s", flaw)
	}
	if item.form().kind == unknown {
		return
	}
	at := placed(item.PK)
	o.owners[at.owner] = true
	adders[at.part](o, at, item)
}

// read decodes what an item holds; it is false, and a problem, where that is not JSON
// of its kind.
func (o *Organization) read(item Item, what string, into any) bool {
	if err := json.Unmarshal([]byte(item.Data), into); err != nil {
		o.wrong("a %s cannot be read", what)
		return false
	}
	return true
}

// addFamily takes in the organization itself, an event, a member or a token.
func (o *Organization) addFamily(at place, item Item) {
	if at.part == "" {
		o.counted[at.owner] = item.Settings
	}
	id := map[string]string{"": strings.TrimPrefix(at.event, "E#"), "U": at.rest, "T": at.rest}[at.part]
	name := map[string]string{"": "event", "U": "member", "T": "token"}[at.part]
	if at.part == "" && at.event == "" {
		id, name = strings.TrimPrefix(o.key, "O#"), "organization"
	}
	var says struct {
		ID          int64     `json:"id"`
		CreatedAt   wire.Time `json:"created_at"`
		PersonItems bool      `json:"person_items"`
		RowsCounted bool      `json:"rows_counted"`
	}
	if o.read(item, name, &says) && strconv.FormatInt(says.ID, 10) != id {
		o.wrong("%s %s says it is %d", name, id, says.ID)
	}
	o.personItems = o.personItems || says.PersonItems
	o.rowsCounted = o.rowsCounted || says.RowsCounted
	o.families[name+" "+id] = family{item.Version, fmt.Sprintf("%013d#%019d", says.CreatedAt.UnixMilli(), says.ID)}
}

// addMember takes in a member, or a change of one.
func (o *Organization) addMember(at place, item Item) {
	if item.SK == "-" {
		o.addFamily(at, item)
		return
	}
	o.addPersonal("member "+at.rest, item)
}

// addLine takes in a line of a list, whose sort key is the order of creation.
func (o *Organization) addLine(at place, item Item) {
	o.listed[at.rest] = append(o.listed[at.rest], item.SK)
	_, id, _ := strings.Cut(item.SK, "#")
	if id = strings.TrimLeft(id, "0"); id != item.Data {
		o.wrong("the line of %s %s in its list names another", at.rest, id)
	}
}

// addSetting notes what a setting counts, and the value that it alone may have.
func (o *Organization) addSetting(at place, item Item) {
	kind, id, _ := strings.Cut(item.SK, "#")
	o.settings[at.owner] = append(o.settings[at.owner], setting{kind, id, item.Version})
	var says struct {
		ID        string     `json:"id"`
		DeletedAt *wire.Time `json:"deleted_at"`
	}
	if o.read(item, kind, &says) && says.ID != id && (says.ID != "" || says.DeletedAt == nil) {
		o.wrong("%s %s says it is %s", kind, id, says.ID)
	}
	value := ""
	switch kind {
	case field.Kind:
		var d field.Definition
		if json.Unmarshal([]byte(item.Data), &d) == nil && d.DeletedAt == nil {
			value = string(d.Module) + "#" + d.InternalName
		}
	case participant.Kind:
		var r participant.Role
		if o.read(item, kind, &r) && r.DeletedAt == nil {
			value = r.Slug
		}
	}
	if value != "" {
		o.own(at.owner+"#Q#"+kind+"#"+value, id)
	}
}

func (o *Organization) addSession(at place, item Item) {
	body := &session.Body{}
	if !o.read(item, "session", body) {
		return
	}
	if body.ID != at.rest || item.SK != "B" {
		o.wrong("session %s says it is %s", at.rest, body.ID)
	}
	body.Version = item.Version
	into(o.Sessions, at.owner)[at.rest] = body
}

func (o *Organization) addParty(all *Parties, at place, item Item) {
	switch {
	case item.SK == "B":
		body := &party.Body{}
		if !o.read(item, all.Name, body) {
			return
		}
		if body.ID != at.rest {
			o.wrong("%s %s says it is %s", all.Name, at.rest, body.ID)
		}
		body.Version = item.Version
		all.Records[at.rest] = body
	case strings.HasPrefix(item.SK, "E#"):
		here := &party.Association{}
		if !o.read(item, all.Name, here) {
			return
		}
		if here.ID != at.rest || item.SK != eventKey(here.Event) {
			o.wrong("%s %s on %s says it is %s on %s", all.Name, at.rest, item.SK, here.ID, eventKey(here.Event))
		}
		here.Version = item.Version
		into(all.Here, item.SK)[at.rest] = here
	case strings.HasPrefix(item.SK, "S#"):
		o.addVisit(at.rest, item)
	default:
		o.addPersonal(all.Name+" "+at.rest, item)
	}
}

// addRow takes in a row, which stands in the shard that its id says.
func (o *Organization) addRow(at place, item Item) {
	shard, id, _ := strings.Cut(item.SK, "#")
	source := catalogue.Source{Rows: item.PK, Shards: shards[at.part]}
	if catalogue.RowKey(source, id) != item.Key {
		o.wrong("row %s of %s stands in the shard %s, which is not its own", id, item.PK, shard)
	}
	into(o.rows, item.PK)[id] = row{item.Version, shard, item.Data}
}

// addHold notes the record that holds a unique value.
func (o *Organization) addHold(_ place, item Item) {
	var says struct {
		ID string `json:"id"`
	}
	if o.read(item, "unique value", &says) {
		o.held[item.PK] = says.ID
	}
}

func (o *Organization) addChange(at place, item Item) {
	if at.rest == "" {
		o.hours[item.SK] = true
		return
	}
	var r change.Record
	if !o.read(item, "change record", &r) {
		return
	}
	of := r.Type + " " + r.RecordID
	if r.ID == "" || r.Org != o.id || r.Key() != item.Key {
		o.wrong("a change record of %s stands in the wrong place", of)
	}
	if (item.Kind == table.KindChange) != (r.Nonce != "") {
		o.wrong("a change record of %s is marked %q", of, item.Kind)
	}
	if hour, _, _ := strings.Cut(at.rest, "#"); r.Nonce != "" {
		o.changed[hour] = true
	}
	o.changes[of] = append(o.changes[of], keep(&r))
	if strings.HasSuffix(r.Action, "."+purge.Purged) {
		o.gone[of] = true
	}
}

// addSecurityEvent checks that a security event stands in its month.
func (o *Organization) addSecurityEvent(_ place, item Item) {
	var e tenancy.SecurityEvent
	if o.read(item, "security event", &e) && (e.Org != o.id || e.Key() != item.Key) {
		o.wrong("a security event of %s %s stands in the wrong place", e.Type, e.RecordID)
	}
}

// addPersonal takes in a change record that stands beside a person or company. Before
// there were nonces a pointer stood there, of the id alone.
func (o *Organization) addPersonal(of string, item Item) {
	var r change.Record
	if !o.read(item, "change record", &r) {
		return
	}
	id := strings.TrimPrefix(item.SK, "H#")
	if r.Nonce != "" && (r.ID != id || r.Type+" "+r.RecordID != of) {
		o.wrong("a change record beside %s is of another", of)
	}
	o.personal[of] = append(o.personal[of], id+" "+r.Nonce)
}

// own notes that the record of an id must hold a unique value, and no other may.
func (o *Organization) own(key, id string) {
	if other, taken := o.owned[key]; taken {
		o.wrong("%s and %s have the same unique value", other, id)
	}
	o.owned[key] = id
}
