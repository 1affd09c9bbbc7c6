package function

import (
	"slices"

	"lectern/events"
	"lectern/shared/programme"
	"lectern/shared/ratelimit"
	"lectern/shared/tenancy"
)

// Patterns of the table's partition keys.
var (
	// tenants matches every item of an organization.
	tenants = programme.Keys[0].Leading()
	// limits matches the counters of the rate limiter.
	limits = ratelimit.Keys[0].Leading()
	// numbers matches the counter of the region's ids.
	numbers = tenancy.RunningNumber.Leading()
	// organizations matches the region's list of organizations and its progress of
	// maintenance.
	organizations = tenancy.Line.Leading()
)

// due matches the due items of deliveries.
const due = "D#*"

// getItem and updateItem are the actions of most reads and writes.
const (
	getItem    = "GetItem"
	updateItem = "UpdateItem"
)

// permission allows an action on the items with a partition key that matches a pattern. Each
// part of a transaction needs an action.
type permission struct{ action, pattern string }

// writes reports whether the action changes an item.
func (p permission) writes() bool {
	return slices.Contains(slices.Concat(limit, change, release, count, enroll[:1], proceed[:1], strike[:1], plan[1:], sweep[2:]), p)
}

// Permissions by purpose, in the words of shared/table.
var (
	// authenticate loads organization and event, and token and member in one transaction;
	// each part of the transaction needs GetItem.
	authenticate = []permission{{"BatchGetItem", tenants}, {getItem, tenants}}
	// list reads the entries of a partition.
	list = []permission{{"Query", tenants}}
	// read reads records: the rows of a catalogue and the settings of an event, and single
	// records again after a change during the read.
	read = slices.Concat(authenticate, list)
	// limit counts the request in its bucket.
	limit = []permission{{updateItem, limits}}
	// change writes records, rows and versions, the running numbers of an organization, and
	// idempotency keys.
	change = []permission{{"PutItem", tenants}, {updateItem, tenants}}
	// add writes new items.
	add = change[:1]
	// write is for every group that changes records.
	write = slices.Concat(read, limit, change)
	// release frees a unique value, for example a removed address of a contact, deletes the
	// item of a person removed from a session, and moves a deleted small record.
	release = []permission{{"DeleteItem", tenants}}
	// hold lets a transaction fail after a change of an item that it depends on.
	hold = []permission{{"ConditionCheckItem", tenants}}
	// count takes an id from the region's counter.
	count = []permission{{updateItem, numbers}}
	// compare reads that counter, to repair it.
	compare = []permission{{getItem, numbers}}
	// enroll adds a new organization to the region's list, and reads the list.
	enroll = []permission{{"PutItem", organizations}, {"Query", organizations}}
	// proceed stores the progress of maintenance beside that list.
	proceed = []permission{{updateItem, organizations}, {getItem, organizations}}
	// strike removes a missing organization from that list, to repair it.
	strike = []permission{{"DeleteItem", organizations}, {"BatchGetItem", organizations}}
	// connect keeps applications, codes, sessions of browsers and the lines of connections and domains, which belong to the region.
	connect = []permission{
		{"BatchGetItem", organizations}, {getItem, organizations}, {"Query", organizations},
		{"PutItem", organizations}, {updateItem, organizations}, {"DeleteItem", organizations},
	}
	// bind lets an exchange fail after a change of its application.
	bind = []permission{{"ConditionCheckItem", organizations}}
	// plan stores the due item of a later attempt, and the mark of the sweeper before the first.
	plan = []permission{{getItem, due}, {"PutItem", due}, {updateItem, due}}
	// sweep reads what is due, keeps how far it has come, and deletes what it has sent.
	sweep = []permission{{"Query", due}, {getItem, due}, {updateItem, due}, {"DeleteItem", due}}
)

// declared lists the memory of each function and its actions on the table. No function may scan
// or describe the table. `.ci/permissions` compares the actions with the calls of the
// functions (testdata/permissions.golden.txt).
var declared = map[string]struct {
	memory      int
	permissions []permission
}{
	"events":          {withSettings, read},
	"sessions":        {withRecords, slices.Concat(read, limit)},
	"sessionwrites":   {withRecords, slices.Concat(write, release)},
	"speakers":        {withRecords, read},
	"participants":    {withRecords, read},
	"contacts":        {withRecords, slices.Concat(read, limit)},
	"contactwrites":   {withRecords, slices.Concat(write, release, hold)},
	"sponsors":        {withRecords, slices.Concat(read, limit)},
	"sponsorwrites":   {withRecords, slices.Concat(write, hold)},
	"exhibitors":      {withRecords, slices.Concat(read, limit)},
	"exhibitorwrites": {withRecords, slices.Concat(write, hold)},
	"eventsettings":   {withSettings, slices.Concat(read, limit)},
	"fieldwrites":     {withSettings, slices.Concat(write, release)},
	"metadatawrites":  {withSettings, write},
	// agendaplanning holds the write of a placement to the version of the draft, and a commit to the placements.
	"agendaplanning": {withSearch, slices.Concat(write, release, hold)},
	// awards holds a write to the version of the program.
	"awards": {withLists, slices.Concat(write, release, hold)},
	// insights reads what the tables of queries have.
	"insights": {withSearch, slices.Concat(read, limit)},
	// reports and dashboards fill tables from the records of events for their queries. dashboards holds a widget to its dashboard.
	"reports":    {withSearch, slices.Concat(write, release)},
	"dashboards": {withSearch, slices.Concat(write, release, hold)},
	// sessionfiles holds a write to the versions of session and slot.
	"sessionfiles": {withSettings, slices.Concat(write, hold)},
	// transcriptions holds a write to the version of the session.
	"transcriptions": {withRecords, slices.Concat(write, release, hold)},
	"media":          {withSettings, slices.Concat(authenticate, limit, change)},
	"recordings":     {withSettings, slices.Concat(read, limit, change)},
	"logexport":      {withSettings, slices.Concat(read, limit)},
	// oauth makes and changes the tokens of applications, and signs members in.
	"oauth": {withSettings, slices.Concat(read, limit, change, count, connect, bind)},
	// mcp does operations of other groups: the reads of all, and the writes of sessions, contacts, fields, statuses and drafts.
	"mcp": {withSearch, slices.Concat(write, release, hold)},
	// root makes no call to the table.
	"root": {withSettings, nil},
	// ingester writes packs, their marks and hours, and counts wrong secrets. Its memory stands
	// in events.Workers.
	"ingester": {permissions: change},
	// publisher makes no call to the table.
	events.Publisher: {},
	// matcher reads who gets a change, and stores bodies and deliveries.
	events.Matcher: {permissions: slices.Concat(read, add)},
	// deliverer records attempts, plans the next ones, and disables endpoints.
	events.Deliverer: {permissions: slices.Concat(authenticate, change, release, plan)},
	// sweeper reads the deliveries of a range to be replayed.
	events.Sweeper: {permissions: slices.Concat(list, sweep)},
	"webhooks":     {withSettings, slices.Concat(write, release, plan)},
	"gdpr":         {withSettings, slices.Concat(read, change)},
	// dataworker reads a person and what names the person, erases the person, and keeps archives.
	events.Dataworker: {permissions: slices.Concat(read, change, release, hold)},
	// slides reads sessions with all that they show, and writes the slides into them.
	events.Slides: {permissions: slices.Concat(read, change)},
	// transcriber reads media, stores fragments beside the version of their session, and states.
	events.Transcriber: {permissions: slices.Concat(authenticate, change, hold)},
	// operator has no route and counts no requests.
	"operator": {withRecords, slices.Concat(read, change, release, hold, count, compare, enroll, proceed, strike)},
}

// Authenticates reports whether the function loads the caller of a request.
func (s Spec) Authenticates() bool { return s.permits(authenticate) && s.Name != Operator }

// CountsRequests reports whether the function uses the rate limiter.
func (s Spec) CountsRequests() bool { return s.permits(limit) }

// UsesTable reports whether the function may call the table.
func (s Spec) UsesTable() bool { return len(s.permissions) > 0 }

// permits reports whether the function has the first permission of a purpose.
func (s Spec) permits(purpose []permission) bool {
	return slices.Contains(s.permissions, purpose[0])
}
