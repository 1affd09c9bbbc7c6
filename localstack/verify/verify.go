// Package verify checks that what a table holds is whole: one half of a write
// without the other, as after a restore that tore it, or after a kill if
// transactions did not hold. It knows how every record is stored and reads items past the
// service, so that a mistake in how the service reads them does not hide another.
// It writes nothing.
package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lectern/shared/account"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/repair"
	"lectern/shared/session"
	"lectern/shared/table"
)

// maxProblems is how many problems of an organization are kept.
const maxProblems = 1000

// kinds are the kinds of parties.
var kinds = []*party.Kind{contact.Kind, account.Kind}

// Organization is what is stored of an organization. Items are added in any order,
// and then it is checked.
type Organization struct {
	// Sessions are the bodies of sessions by event, which is the key of its partition,
	// and id.
	Sessions map[string]map[string]*session.Body
	// Parties are contacts and accounts, by the name of the kind.
	Parties map[string]*Parties
	// Problems are what is not whole: the first thousand, and Count is how many there
	// are. None shows what a record says, which may be personal.
	Problems []string
	Count    int
	// Repairs are what may mend some of them.
	Repairs []*repair.Input

	id  int64
	key string
	// families are organization, events, members and tokens, as change records name them;
	// listed are the sort keys of the lines of lists, by kind.
	families map[string]family
	listed   map[string][]string
	// owners are the partitions of organization and events below which something stands.
	owners map[string]bool
	// rows, shards and settings are by the partition they stand in.
	rows     map[string]map[string]row
	shards   map[string]map[string]shardVersion
	settings map[string][]setting
	// small are the small records by id, deleted ones among them, and numbered how many of a
	// kind an owner has, by partition and kind.
	small    map[string]smallRecord
	numbered map[string]map[string]int
	// counted are the settings versions of events and organization, by partition.
	counted map[string]int64
	// held is who holds a unique value and who should, by partition; numbers the last
	// number given, by partition.
	held, owned map[string]string
	numbers     map[string]int64
	// changes are the change records of a record, by its kind and id; personal those of
	// a person or company that stand beside it, as ids with nonces.
	changes  map[string][]noted
	personal map[string][]string
	// gone are the records that were purged, by kind and id.
	gone map[string]bool
	// hours are those that have an item, changed those that have change records.
	hours, changed map[string]bool
	// visits are the items of a contact's sessions, by event and session and then by
	// contact, and personItems is whether every session must have its own. rowsCounted is
	// whether every shard must have the number of its rows.
	visits      map[string]map[string]person.Item
	personItems bool
	rowsCounted bool
	// acknowledged are the versions of records that idempotency keys tell of, by id.
	acknowledged map[string]int64
}

// Parties are all contacts, or all accounts, of an organization.
type Parties struct {
	*party.Kind
	Records map[string]*party.Body
	// Here are their associations by event, which is the sort key, and id.
	Here map[string]map[string]*party.Association
}

// family is what is kept of an organization, event, member or token: the version, and the
// sort key of its line in a list.
type family struct {
	version int64
	line    string
}

// row is what a search knows of a record.
type row struct {
	version int64
	shard   string
	data    string
}

// shardVersion is the version of a shard and how many rows it has counted.
type shardVersion struct{ version, rows int64 }

// setting is an event's or organization's setting.
type setting struct {
	of, id  string
	version int64
}

// noted is what is kept of a change record.
type noted struct {
	id, nonce string
	version   int64
	at        int64 // Unix milliseconds
	sequences []int64
	action    string
}

// NewOrganization is one of which nothing is known yet.
func NewOrganization(id int64) *Organization {
	o := &Organization{
		Sessions: map[string]map[string]*session.Body{}, Parties: map[string]*Parties{}, id: id, key: table.Org(id),
		families: map[string]family{}, owners: map[string]bool{}, listed: map[string][]string{}, rows: map[string]map[string]row{},
		shards: map[string]map[string]shardVersion{}, settings: map[string][]setting{}, counted: map[string]int64{},
		held: map[string]string{}, owned: map[string]string{}, numbers: map[string]int64{},
		changes: map[string][]noted{}, personal: map[string][]string{}, gone: map[string]bool{}, hours: map[string]bool{}, changed: map[string]bool{},
		visits: map[string]map[string]person.Item{}, acknowledged: map[string]int64{},
		small: map[string]smallRecord{}, numbered: map[string]map[string]int{},
	}
	for _, kind := range kinds {
		o.Parties[kind.Name] = &Parties{kind, map[string]*party.Body{}, map[string]map[string]*party.Association{}}
	}
	return o
}

// Check looks at everything that was added.
func (o *Organization) Check() {
	o.checkFamilies()
	o.checkSettings()
	o.checkRecords()
	for _, event := range sorted(o.Sessions) {
		o.checkSessions(event, o.Sessions[event])
	}
	for _, kind := range kinds {
		o.checkParties(o.Parties[kind.Name])
	}
	o.checkVisits()
	o.checkRows()
	o.checkUnique()
	o.checkChanges()
	o.checkAnswers()
	slices.Sort(o.Problems)
	inOrder(o.Repairs)
	o.Repairs = cut(o.Repairs)
}

// wrong notes a problem.
func (o *Organization) wrong(format string, args ...any) {
	o.Count++
	if len(o.Problems) < maxProblems {
		o.Problems = append(o.Problems, o.key+": "+fmt.Sprintf(format, args...))
	}
}

// checkChanges: what is left of the change records is of records that are not there;
// versions takes those of records that are.
func (o *Organization) checkChanges() {
	for of := range o.changes {
		if strings.HasPrefix(of, repair.Type+" ") {
			delete(o.changes, of) // What was repaired is no record.
		}
	}
	for of := range o.gone {
		delete(o.changes, of)
		delete(o.personal, of)
	}
	for _, of := range sorted(o.changes) {
		o.wrong("%s is not there and has %d change records, the last one %s", of, len(o.changes[of]), last(o.changes[of]).action)
	}
	for _, of := range sorted(o.personal) {
		o.wrong("%s is not there and has %d changes beside it", of, len(o.personal[of]))
	}
	for _, hour := range sorted(o.changed) {
		if !o.hours[hour] {
			o.wrong("the hour %s has change records and no item", hour)
			o.mendable(o.key, repair.Lists, repair.HourID(hour))
		}
	}
}

// versions: a record has one change record for each of its versions, from 1. They are
// given in order, and are then done with.
func (o *Organization) versions(of string, version int64) []noted {
	records := o.changes[of]
	delete(o.changes, of)
	slices.SortFunc(records, func(a, b noted) int { return cmp.Compare(a.version, b.version) })
	for i, record := range records {
		if record.version != int64(i+1) {
			o.wrong("%s: change record %d is of version %d", of, i+1, record.version)
			break // The others would only say it again.
		}
	}
	if int64(len(records)) != version {
		o.wrong("%s has version %d and %d change records", of, version, len(records))
	}
	o.checkPersonal(of, records)
	return records
}

// checkPersonal: each change record of a person or company stands beside it too. Older
// ones stand there for contacts alone, as pointers without a nonce.
func (o *Organization) checkPersonal(of string, records []noted) {
	kind, _, _ := strings.Cut(of, " ")
	if !slices.Contains([]string{"contact", "account", "member"}, kind) {
		return
	}
	var want []string
	for _, record := range records {
		if record.nonce != "" || kind == "contact" {
			want = append(want, record.id+" "+record.nonce)
		}
	}
	if !sameSet(o.personal[of], want) {
		o.wrong("%s has %d changes beside it and %d change records, or not the same", of, len(o.personal[of]), len(want))
	}
	delete(o.personal, of)
}

// published: the last change record of a record is of when it was changed, in Unix
// milliseconds, and what was published of it is numbered from 1 to last without a gap.
func (o *Organization) published(of string, version, at, sequence int64) {
	records := o.versions(of, version)
	if len(records) > 0 && last(records).at != at {
		o.wrong("%s was changed at %d, its last change record is of %d", of, at, last(records).at)
	}
	told := int64(0)
	for _, record := range records {
		for _, number := range record.sequences {
			if told++; number != told {
				o.wrong("%s version %d has published number %d, not %d", of, record.version, number, told)
			}
		}
	}
	if told != sequence {
		o.wrong("%s has published %d kinds and counted %d", of, told, sequence)
	}
}

// keep reads a change record, without the values that were changed.
func keep(r *change.Record) noted {
	n := noted{id: r.ID, nonce: r.Nonce, version: r.Version, at: r.At.UnixMilli(), action: r.Action}
	for _, kind := range r.Kinds {
		n.sequences = append(n.sequences, kind.Sequence)
	}
	return n
}

func last(records []noted) noted { return records[len(records)-1] }
