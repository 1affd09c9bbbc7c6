// Package verify checks the items of a table against each other. It finds torn writes, for example
// after a restore. It reads the items with its own code, so that a mistake in the service's reads
// cannot hide damage. It writes nothing.
//
// Read table.go first: the scan and the report. Then verify.go: an Organization and the order of
// the checks. add.go adds the items, check.go compares rows, shards, lists and holds, the files
// named after records check the records, and repairs.go suggests repairs. Packages deliveries
// transcripts and files check the items of webhooks, transcriptions and files.
package verify

import (
	"fmt"
	"slices"

	"lectern/localstack/content/verify/deliveries"
	"lectern/localstack/content/verify/files"
	"lectern/localstack/content/verify/transcripts"
	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/repair"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/upload"
)

// maxProblems is the number of problems that an organization or a report keeps.
const maxProblems = 1000

// kinds are the kinds of parties.
var kinds = []*party.Kind{contact.Kind, account.Kind}

// Organization has the records of an organization. Add the items in any order, then call Check.
type Organization struct {
	// Sessions are the bodies by event key and id.
	Sessions map[string]map[string]*session.Body
	// Parties are the contacts and the accounts, by the name of the kind.
	Parties map[string]*Parties
	// Problems are the first 1,000, and Count is the number of all. A problem names
	// records by id and shows no personal values.
	Problems []string
	Count    int
	// Repairs are the repairs that may mend problems.
	Repairs []*repair.Input

	id  int64
	key string
	// tenancy has the organization, events, members and tokens, by kind and id as in change
	// records; lines are the sort keys of lists, by kind.
	tenancy map[string]tenancyRecord
	lines   map[string][]string
	// owners are the keys of the organization and events that have items.
	owners map[string]bool
	// rows are by partition and id, shardVersions by owner and sort key, settings by owner.
	rows          map[string]map[string]row
	shardVersions map[string]map[string]shardVersion
	settings      map[string][]setting
	// small has all small records by id, also deleted records. surplus is, by partition and
	// kind, the stored number of records less the number of records found; also running numbers, by sort key.
	small   map[string]smallRecord
	surplus map[string]map[string]int
	// settingsVersions are by owner.
	settingsVersions map[string]int64
	// holds and expectedHolds are record ids by the partition of the unique value: as stored,
	// and as the records say. runningNumbers are by partition.
	holds, expectedHolds map[string]string
	runningNumbers       map[string]int64
	// changes are the change records of a record, by kind and id; personal has the change
	// records beside a person or company, as ids with nonces.
	changes  map[string][]changeSummary
	personal map[string][]string
	// purged has the purged records, by kind and id.
	purged map[string]bool
	// hourItems has the hours with an item, changedHours the hours with change records.
	hourItems, changedHours map[string]bool
	// ingestHours and ingestedHours are the same for the log of requests.
	ingestHours, ingestedHours map[string]bool
	// personItems are the items of persons, by event and session, then by contact.
	personItems map[string]map[string]person.Item
	// personItemsComplete means that every session must have items of persons, and rowsCounted
	// that every shard must have the number of rows.
	personItemsComplete, rowsCounted bool
	// acknowledged are versions by record id, as the items of idempotency keys say.
	acknowledged map[string]int64
	// archives has the data requests with parts of an archive.
	archives map[string]bool
	// transcripts and files are by event key.
	transcripts map[string]*transcripts.Items
	files       map[string]*files.Items
	// uploads are by change record and event.
	uploads map[storedUpload]*upload.Upload
	// deliveries are the items of webhooks.
	deliveries *deliveries.Items
}

// Parties are all contacts, or all accounts, of an organization.
type Parties struct {
	*party.Kind
	Records map[string]*party.Body
	// Associations are by sort key, for example E#42, and id.
	Associations map[string]map[string]*party.Association
}

// tenancyRecord has the version of an organization, event, member, token or identity provider, and
// the sort key of the line in a list.
type tenancyRecord struct {
	version int64
	line    string
	// refreshed is for the connection of an application: a refresh has no change record. ended reports whether it has ended: its end has
	// a change record, and no refresh follows.
	refreshed, ended bool
}

// row has a record's row: the shard from the sort key, and the JSON.
type row struct {
	version int64
	shard   string
	data    string
}

// shardVersion has the version of a shard and the number of rows.
type shardVersion struct{ version, rows int64 }

// setting has the version of a setting.
type setting struct {
	kind, id string
	version  int64
}

// NewOrganization returns an organization without records.
func NewOrganization(id int64) *Organization {
	o := &Organization{
		Sessions: map[string]map[string]*session.Body{}, Parties: map[string]*Parties{}, id: id, key: table.Org(id),
		tenancy: map[string]tenancyRecord{}, lines: map[string][]string{}, owners: map[string]bool{},
		rows: map[string]map[string]row{}, shardVersions: map[string]map[string]shardVersion{},
		settings: map[string][]setting{}, settingsVersions: map[string]int64{},
		small: map[string]smallRecord{}, surplus: map[string]map[string]int{},
		holds: map[string]string{}, expectedHolds: map[string]string{}, runningNumbers: map[string]int64{},
		changes: map[string][]changeSummary{}, personal: map[string][]string{}, purged: map[string]bool{},
		hourItems: map[string]bool{}, changedHours: map[string]bool{}, ingestHours: map[string]bool{}, ingestedHours: map[string]bool{},
		personItems: map[string]map[string]person.Item{}, acknowledged: map[string]int64{},
		archives: map[string]bool{}, transcripts: map[string]*transcripts.Items{}, files: map[string]*files.Items{},
		uploads: map[storedUpload]*upload.Upload{},
	}
	o.deliveries = deliveries.New(id, o.problemf)
	for _, kind := range kinds {
		o.Parties[kind.Name] = &Parties{kind, map[string]*party.Body{}, map[string]map[string]*party.Association{}}
	}
	return o
}

// Check compares all items and fills Problems and Repairs. A check deletes the entries that it
// has compared; the checks for orphans report the entries left.
func (o *Organization) Check() {
	o.checkTenancy()
	o.checkSettings()
	o.checkRecords()
	for _, event := range sortedKeys(o.Sessions) {
		o.checkSessions(event, o.Sessions[event])
	}
	for _, event := range sortedKeys(o.transcripts) {
		o.checkTranscripts(event, o.transcripts[event])
	}
	o.checkUploads()
	o.checkSlides()
	for _, kind := range kinds {
		o.checkParties(o.Parties[kind.Name])
	}
	o.checkOrphanPersonItems()
	o.checkOrphanRows()
	o.checkUnique()
	o.checkChanges()
	o.checkAnswers()
	o.checkDeliveries()
	o.checkArchives()
	slices.Sort(o.Problems)
	sortRepairs(o.Repairs)
	o.Repairs = splitRepairs(o.Repairs)
}

// problemf adds a problem.
func (o *Organization) problemf(format string, args ...any) {
	o.Count++
	if len(o.Problems) < maxProblems {
		o.Problems = append(o.Problems, o.key+": "+fmt.Sprintf(format, args...))
	}
}
