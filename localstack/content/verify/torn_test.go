package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/demo"
	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
	"lectern/shared/catalogue"
	"lectern/shared/repair"
	"lectern/shared/table"
)

// torn is a region whose table is torn on purpose.
type torn struct {
	*stacktest.Stack
	t      *testing.T
	client *dynamodb.Client
	name   string
	// beside is another event of the organization, and stranger another organization.
	beside, stranger *stacktest.Stack
}

func newTorn(t *testing.T) *torn {
	t.Helper()
	s, client, name := filledStack(t)
	w := &torn{s, t, client, name, s.In(s.NewEvent(t, demo.Features...)), s.NewOrganization(t)}
	for _, session := range stacktest.Call[struct{ Results []map[string]any }](s, 200, "POST", s.EventPath("/sessions"), map[string]any{}).Results {
		s.Call(t, 200, "PUT", s.EventPath("/sessions/"+session["id"].(string)), map[string]any{"title": "Changed"})
	}
	for _, other := range []*stacktest.Stack{w.beside, w.stranger} {
		person := stacktest.Call[map[string]any](other, 200, "POST", other.EventPath("/contacts/create"), map[string]any{"email": "beside@example.org"})
		other.Call(t, 200, "POST", other.EventPath("/sessions/create"), map[string]any{"title": "Beside",
			"participants": []any{map[string]any{"contact_id": person["id"], "core_role": "speaker"}}})
	}
	return w
}

// read reads the table as it stands.
func (w *torn) read() items { return read(w.t, w.client, w.name) }

// attributes are an item as DynamoDB has it.
type attributes = map[string]types.AttributeValue

func keyOf(i raw.Item) attributes {
	return attributes{"PK": &types.AttributeValueMemberS{Value: i.PK}, "SK": &types.AttributeValueMemberS{Value: i.SK}}
}

// put stores an item past the service, over what of the stored one it does not say.
func (w *torn) put(i raw.Item) {
	w.t.Helper()
	got, err := w.client.GetItem(w.t.Context(), &dynamodb.GetItemInput{TableName: &w.name, Key: keyOf(i), ConsistentRead: new(true)})
	require.NoError(w.t, err)
	all := keyOf(i)
	maps.Copy(all, got.Item)
	for name, n := range map[string]int64{"v": i.Version, "sv": i.Settings, "n": i.Count, "ttl": i.Expires} {
		if delete(all, name); n != 0 {
			all[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
		}
	}
	if delete(all, "z"); i.Data != "" {
		all["d"] = &types.AttributeValueMemberS{Value: i.Data}
	}
	w.store(all)
}

func (w *torn) store(all attributes) {
	w.t.Helper()
	_, err := w.client.PutItem(w.t.Context(), &dynamodb.PutItemInput{TableName: &w.name, Item: all})
	require.NoError(w.t, err)
}

// raw reads the table as DynamoDB has it.
func (w *torn) raw() map[table.Key]attributes {
	w.t.Helper()
	all := map[table.Key]attributes{}
	pages := dynamodb.NewScanPaginator(w.client, &dynamodb.ScanInput{TableName: &w.name, ConsistentRead: new(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(w.t.Context())
		require.NoError(w.t, err)
		for _, item := range page.Items {
			read, err := raw.Read(item)
			require.NoError(w.t, err)
			all[read.Key] = item
		}
	}
	return all
}

func (w *torn) remove(i raw.Item) {
	w.t.Helper()
	_, err := w.client.DeleteItem(w.t.Context(), &dynamodb.DeleteItemInput{TableName: &w.name, Key: keyOf(i)})
	require.NoError(w.t, err)
}

// restore puts back what differs from before.
func (w *torn) restore(before map[table.Key]attributes) {
	w.t.Helper()
	for key := range w.raw() {
		if before[key] == nil {
			w.remove(raw.Item{Key: key})
		}
	}
	for _, was := range before {
		w.store(was)
	}
}

// way is one way to tear a table.
type way struct {
	name string
	// kind and text name the item that is torn: the first of the kind whose data has the text.
	kind, text string
	tear       func(w *torn, all items, i raw.Item)
	// found is what verify says, and lost what shard-repair says that it cannot mend; empty
	// where all is mended.
	found, lost string
}

func changed(by func(*raw.Item)) func(*torn, items, raw.Item) {
	return func(w *torn, _ items, i raw.Item) {
		by(&i)
		w.put(i)
	}
}

func gone(w *torn, _ items, i raw.Item) { w.remove(i) }

// text replaces a part of the data.
func text(old, now string) func(*torn, items, raw.Item) {
	return changed(func(i *raw.Item) { i.Data = strings.Replace(i.Data, old, now, 1) })
}

// half takes away all of a creation but the body: its row, and what its shard counts of it.
func half(w *torn, all items, i raw.Item) {
	id := raw.ParsePartition(i.PK).Rest
	for _, row := range all {
		if row.Pattern().Name != "row of a session" || !strings.HasSuffix(row.SK, "#"+id) {
			continue
		}
		w.remove(row)
		shard, _, _ := strings.Cut(row.SK, "#")
		for _, v := range all {
			if v.PK == strings.TrimSuffix(row.PK, "RS")+"V" && v.SK == "S#"+shard {
				v.Version -= row.Version * table.Weight(id)
				w.put(v)
			}
		}
	}
}

// orphan adds a row of a record that is not there.
func orphan(w *torn, _ items, i raw.Item) {
	at := raw.ParsePartition(i.PK)
	shard, _, _ := strings.Cut(i.SK, "#")
	for n := range 10_000 {
		id := fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
		i.SK = shard + "#" + id
		if catalogue.RowKey(rowSources[at.Letters](at.Org, at.EventID()), id) == i.Key {
			w.put(i)
			return
		}
	}
}

// heldForAnother has a unique value held for another record.
func heldForAnother(w *torn, all items, i raw.Item) {
	other := all.first(w.t, "contact", "")
	i.Data = fmt.Sprintf(`{"id":%q}`, raw.ParsePartition(other.PK).Rest)
	w.put(i)
}

// strayLine adds a line to a list whose record is not there.
func strayLine(w *torn, _ items, i raw.Item) {
	before, _, _ := strings.Cut(i.SK, "#")
	i.SK, i.Data = before+"#0000000000000000777", "777"
	w.put(i)
}

var ways = []way{
	{"a shard of sessions counts too much", "version of a shard of sessions", "",
		changed(func(i *raw.Item) { i.Version++ }), "its rows add up to", ""},
	{"a shard of sessions counts too little", "version of a shard of sessions", "",
		changed(func(i *raw.Item) { i.Version-- }), "its rows add up to", ""},
	{"a shard of sessions counts a row too many", "version of a shard of sessions", "",
		changed(func(i *raw.Item) { i.Count++ }), "rows, it has", ""},
	{"a shard of contacts does not count its rows", "version of a shard of contacts", "",
		changed(func(i *raw.Item) { i.Count = 0 }), "rows, it has", ""},
	{"a shard of sessions has no version", "version of a shard of sessions", "", gone, "has no version", ""},
	{"a shard of contacts counts too much", "version of a shard of contacts", "",
		changed(func(i *raw.Item) { i.Version++ }), "its rows add up to", ""},
	{"a shard of the organization's contacts counts too much", "version of a shard of all contacts", "",
		changed(func(i *raw.Item) { i.Version++ }), "its rows add up to", ""},
	{"a row of a session is missing", "row of a session", "", gone, "has no row", ""},
	{"a row of a session is stale", "row of a session", `"t":"Changed"`,
		changed(func(i *raw.Item) { i.Version-- }), "its record", ""},
	{"a row of an account is ahead", "row of an account", "", changed(func(i *raw.Item) { i.Version++ }), "its record", ""},
	{"a row of a contact on an event is missing", "row of a contact on an event", "", gone, "has no row", ""},
	{"a row says what its record does not", "row of a session", "", text(`"t":"`, `"t":"X`), "does not say what", ""},
	{"a row has no record", "row of a session", "", orphan, "has no record", "the record is lost"},
	{"a session is there without its row and its count", "session", "", half, "has no row", ""},
	{"an association is missing", "contact on an event", "", gone, "counts the roles", "association with the event is lost"},
	{"a record is missing", "contact", "", gone, "has no record", "its record is lost"},
	{"the settings version is off", "event", "", changed(func(i *raw.Item) { i.Settings += 7 }), "its settings add up to", ""},
	{"a setting is missing", "setting: tags", "", gone, "its settings add up to", "is not there and has"},
	{"an address is not held", "held address", "", gone, "is not held", ""},
	{"an address is held for another", "held address", "", heldForAnother, "is held for", ""},
	{"an address is held for nobody", "held address", "",
		func(w *torn, _ items, i raw.Item) { i.PK += "x"; w.put(i) }, "which does not have it", ""},
	{"the sessions' number is behind", "counter of sessions", "",
		changed(func(i *raw.Item) { i.Count -= 20 }), "the last one given is", ""},
	{"the region's ids are behind", "counter of ids", "", changed(func(i *raw.Item) { i.Count = 1 }), "the largest id is", ""},
	{"a list lacks a line", "line of a list", "", gone, "the list of kind", ""},
	{"a list names an event that is not there", "line of a list", "", strayLine, "the list of kind", ""},
	{"the region's list lacks an organization", "line of the organization", "", gone, "does not name it", ""},
	{"the region's list names an organization that is not there", "line of the organization", "",
		changed(func(i *raw.Item) { i.SK, i.Data = "0000000000000000777", "777" }), "names the organization 777, which is not there", ""},
	{"the region's list names another organization", "line of the organization", "", changed(func(i *raw.Item) { i.Data = "777" }), "names another", ""},
	{"a session does not list a subsession", "session", `"subsessions":["`,
		text(`"subsessions":[`, `"subsessions_were":[`), "lists the subsessions", ""},
	{"a composition is one-sided", "session", `"target":{`, text(`"target":{`, `"was":{`), "does not know of it", ""},
	{"an item beside a person is missing", "session of a contact", "", gone, "has no item of session", ""},
	{"an item beside a person is of no session", "session of a contact", "",
		func(w *torn, _ items, i raw.Item) { i.SK = i.SK[:len(i.SK)-4] + "0000"; w.put(i) }, "which is not there", ""},
	{"an item beside a person says another role", "session of a contact", "", text(`"r":["`, `"r":["0`), "says the roles", ""},
	{"roles are counted wrongly", "contact", `"active":{`, text(`"active":{`, `"was":{`), "counts the roles", ""},
}

// TestTorn20Ways tears a table in each way: verify names it, shard-repair mends it or says
// that it cannot, and other events and organizations answer all the while.
func TestTorn20Ways(t *testing.T) {
	w := newTorn(t)
	require.GreaterOrEqual(t, len(ways), 20)
	for _, one := range ways {
		t.Run(one.name, func(t *testing.T) {
			w := *w
			w.t = t
			before, all := w.raw(), w.read()
			one.tear(&w, all, w.find(all, one))
			report := w.verified()
			require.Contains(t, strings.Join(report.Problems, "\n"), one.found)
			w.answers(w.beside, one.name)
			w.answers(w.stranger, one.name)
			planned := w.repairs(report, true)
			done := w.repairs(report, false)
			after := w.verified()
			if one.lost == "" {
				require.Empty(t, after.Problems)
				require.Empty(t, done.Unmended)
				require.NotEmpty(t, done.Mended)
				require.Equal(t, planned.Mended, done.Mended)
				w.answers(w.Stack, one.name)
			} else {
				text, err := json.Marshal(done)
				require.NoError(t, err)
				require.Contains(t, string(text)+strings.Join(after.Problems, "\n"), one.lost)
				require.NotEmpty(t, after.Problems)
				w.restore(before)
				require.Empty(t, w.verified().Problems)
			}
		})
	}
}

// find finds the item that a way tears, of the first organization.
func (w *torn) find(all items, one way) raw.Item {
	w.t.Helper()
	at := slices.IndexFunc(all, func(i raw.Item) bool {
		owner := fmt.Sprintf("O#%d", w.Org)
		event := fmt.Sprintf("%s#E#%d", owner, w.Event)
		switch one.kind {
		case "version of a shard of sessions":
			return i.PK == event+"#V" && strings.HasPrefix(i.SK, "S#")
		case "version of a shard of contacts":
			return i.PK == event+"#V" && strings.HasPrefix(i.SK, "C#")
		case "version of a shard of all contacts":
			return i.PK == owner+"#V" && strings.HasPrefix(i.SK, "C#")
		case "held address":
			return strings.HasPrefix(i.PK, owner+"#Q#email#")
		case "counter of sessions":
			return i.PK == event+"#N#session"
		case "line of the organization":
			return i.PK == "R#org" && i.Data == fmt.Sprint(w.Org)
		case "counter of ids":
			return i.PK == "N#id"
		}
		f := i.Pattern()
		return f.Name == one.kind && (i.PK == owner || strings.HasPrefix(i.PK, owner+"#")) && strings.Contains(i.Data, one.text) &&
			(raw.ParsePartition(i.PK).Event == "" || raw.ParsePartition(i.PK).Owner == event) && (one.kind != "event" || i.PK == event)
	})
	require.GreaterOrEqual(w.t, at, 0, one.kind)
	return all[at]
}

func (w *torn) verified() *Report {
	w.t.Helper()
	report, err := Table(w.t.Context(), w.client, w.name)
	require.NoError(w.t, err)
	return report
}

// repairs does the repairs that a report names.
func (w *torn) repairs(report *Report, dry bool) (all repair.Report) {
	w.t.Helper()
	store := repair.Store{Table: w.Table(w.t), Now: time.Now, Region: "us", Settle: 50 * time.Millisecond}
	for _, in := range report.Repairs {
		one := *in
		one.DryRun = dry
		done, err := store.Run(w.t.Context(), one)
		require.NoError(w.t, err)
		all.Mended = append(all.Mended, done.Mended...)
		all.Unmended = append(all.Unmended, done.Unmended...)
	}
	return all
}

// answers has an event answer searches of every kind.
func (w *torn) answers(s *stacktest.Stack, why string) {
	w.t.Helper()
	for path := range strings.FieldsSeq("sessions contacts speakers participants sponsors exhibitors") {
		answer := s.Call(w.t, http.StatusOK, http.MethodPost, s.EventPath("/"+path+"?pageSize=100"), map[string]any{})
		require.NotEmpty(w.t, answer.Body, why)
	}
	s.Call(w.t, http.StatusOK, http.MethodGet, s.EventPath("/tracks"), nil)
}
