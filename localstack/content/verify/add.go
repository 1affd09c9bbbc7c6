package verify

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/account"
	"lectern/shared/catalogue"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/participant"
	"lectern/shared/session"
	settings "lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// adders add the items of an organization, by the letters of the partition. Every pattern of
// package layout needs an adder, if its items have an organization.
var adders = map[string]func(*Organization, raw.Partition, raw.Item){
	"":   (*Organization).addTenancyRecord,
	"U":  (*Organization).addMember,
	"T":  (*Organization).addPointer,
	"IP": (*Organization).addTenancyRecord,
	"L":  (*Organization).addLine,
	"M":  (*Organization).addSetting,
	"F":  (*Organization).addRecord,
	"S":  (*Organization).addSession,
	"TC": (*Organization).addIndex,
	"UP": (*Organization).addUpload,
	"HS": (*Organization).addSlides,
	contact.Kind.Letter: func(o *Organization, at raw.Partition, item raw.Item) {
		o.addParty(o.Parties[contact.Kind.Name], at, item)
	},
	account.Kind.Letter: func(o *Organization, at raw.Partition, item raw.Item) {
		o.addParty(o.Parties[account.Kind.Name], at, item)
	},
	"RS": (*Organization).addRow,
	"RC": (*Organization).addRow,
	"RA": (*Organization).addRow,
	"V": func(o *Organization, at raw.Partition, item raw.Item) {
		innerMap(o.shardVersions, at.Owner)[item.SK] = shardVersion{item.Version, item.Count}
	},
	"Q": (*Organization).addHold,
	"N": func(o *Organization, _ raw.Partition, item raw.Item) { o.runningNumbers[item.PK] = item.Count },
	"H": (*Organization).addChange,
	"X": (*Organization).addSecurityEvent,
	"Y": (*Organization).addRequests,
	"W": (*Organization).addWebhookItem,
	"B": (*Organization).addWebhookItem,
	"D": (*Organization).addWebhookItem,
	"G": (*Organization).addArchivePart,
	"I": (*Organization).addAnswer,
}

// rowSources return the places of rows, by the letters of the partition.
var rowSources = map[string]func(org, event int64) catalogue.Source{
	"RS": func(org, event int64) catalogue.Source { return session.Of(org, event).Rows() },
	"RC": contact.Kind.Rows,
	"RA": account.Kind.Rows,
}

// Add adds an item of the organization, see raw.Item.Organization.
func (o *Organization) Add(item raw.Item) {
	if flaw := item.Flaw(); flaw != "" {
		o.problemf("%s", flaw)
	}
	pattern, at := item.Pattern(), raw.ParsePartition(item.PK)
	if pattern.Name == raw.Unknown {
		return
	}
	if at.Org != 0 {
		o.owners[at.Owner] = true
	}
	if add, ok := adders[at.Letters]; ok {
		add(o, at, item)
	} else {
		o.problemf("the check does not know the items %s %s (%s)", pattern.PK, pattern.SK, pattern.Name)
	}
}

// read decodes the data of an item. It reports false, and adds a problem, if the data is not
// JSON of the kind that name names.
func (o *Organization) read(item raw.Item, name string, into any) bool {
	if err := json.Unmarshal([]byte(item.Data), into); err != nil {
		o.problemf("a %s cannot be read", name)
		return false
	}
	return true
}

// addTenancyRecord adds the organization, an event, a member or a token.
func (o *Organization) addTenancyRecord(at raw.Partition, item raw.Item) {
	if at.Letters == "" {
		o.settingsVersions[at.Owner] = item.Settings
	}
	id := map[string]string{"": fmt.Sprint(at.EventID()), "U": at.Rest, "T": at.Rest, "IP": at.Rest}[at.Letters]
	name := map[string]string{"": "event", "U": "member", "T": "token", "IP": "identity_provider"}[at.Letters]
	if at.Letters == "" && at.Event == "" {
		id, name = fmt.Sprint(at.Org), "organization"
	}
	var data struct {
		ID          int64     `json:"id"`
		CreatedAt   wire.Time `json:"created_at"`
		PersonItems bool      `json:"person_items"`
		RowsCounted bool      `json:"rows_counted"`
		Grant       any       `json:"grant"`
		RevokedAt   any       `json:"revoked_at"`
	}
	if o.read(item, name, &data) && strconv.FormatInt(data.ID, 10) != id {
		o.problemf("%s %s says it is %d", name, id, data.ID)
	}
	o.personItemsComplete = o.personItemsComplete || data.PersonItems
	o.rowsCounted = o.rowsCounted || data.RowsCounted
	line := fmt.Sprintf("%013d#%019d", data.CreatedAt.UnixMilli(), data.ID)
	o.tenancy[name+" "+id] = tenancyRecord{item.Version, line, data.Grant != nil, data.RevokedAt != nil}
}

// addMember adds a member, or a change record beside a member.
func (o *Organization) addMember(at raw.Partition, item raw.Item) {
	if item.SK == "-" {
		o.addTenancyRecord(at, item)
		return
	}
	o.addPersonal("member "+at.Rest, item)
}

// addLine adds a line of a list. The sort key has the time of creation and the id.
func (o *Organization) addLine(at raw.Partition, item raw.Item) {
	o.lines[at.Rest] = append(o.lines[at.Rest], item.SK)
	_, id, _ := strings.Cut(item.SK, "#")
	if id = strings.TrimLeft(id, "0"); id != item.Data {
		o.problemf("the line of %s %s in its list names another", at.Rest, id)
	}
}

// addSetting adds a setting and the unique value of a field or participant role.
func (o *Organization) addSetting(at raw.Partition, item raw.Item) {
	kind, id, _ := strings.Cut(item.SK, "#")
	o.settings[at.Owner] = append(o.settings[at.Owner], setting{kind, id, item.Version})
	var data struct {
		ID        string     `json:"id"`
		DeletedAt *wire.Time `json:"deleted_at"`
	}
	if o.read(item, kind, &data) && data.ID != id && (data.ID != "" || data.DeletedAt == nil) {
		o.problemf("%s %s says it is %s", kind, id, data.ID)
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
		o.expectHold(settings.Place{Org: at.Org, Event: at.EventID()}.Unique(kind, value), id)
	}
}

// addRow adds a row and checks the shard, which depends on the id.
func (o *Organization) addRow(at raw.Partition, item raw.Item) {
	shard, id, _ := strings.Cut(item.SK, "#")
	if catalogue.RowKey(rowSources[at.Letters](at.Org, at.EventID()), id) != item.Key {
		o.problemf("row %s of %s stands in the shard %s, which is not its own", id, item.PK, shard)
	}
	innerMap(o.rows, item.PK)[id] = row{item.Version, shard, item.Data}
}

// addHold adds a hold.
func (o *Organization) addHold(_ raw.Partition, item raw.Item) {
	var data struct {
		ID string `json:"id"`
	}
	if o.read(item, "unique value", &data) {
		o.holds[item.PK] = data.ID
	}
}

// addSecurityEvent checks the organization and month in the key of a security event.
func (o *Organization) addSecurityEvent(_ raw.Partition, item raw.Item) {
	var e tenancy.SecurityEvent
	if o.read(item, "security event", &e) && (e.Org != o.id || e.Key() != item.Key) {
		o.problemf("a security event of %s %s stands in the wrong place", e.Type, e.RecordID)
	}
}

// expectHold records that the unique value at key must be held for the record id.
func (o *Organization) expectHold(key table.Key, id string) {
	if other, taken := o.expectedHolds[key.PK]; taken {
		o.problemf("%s and %s have the same unique value", other, id)
	}
	o.expectedHolds[key.PK] = id
}
