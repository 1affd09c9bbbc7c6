package verify

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/demo"
	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
	"lectern/shared/idempotency"
	"lectern/shared/table"
)

// filled is a table with the demo conference, which has every kind of record, a
// composition beside it, and a second organization.
func filled(t *testing.T) (client *dynamodb.Client, name string) {
	t.Helper()
	_, client, name = filledStack(t)
	return client, name
}

// filledStack is filled with the caller who filled it.
func filledStack(t *testing.T) (s *stacktest.Stack, client *dynamodb.Client, name string) {
	t.Helper()
	s = stacktest.Start(t, stacktest.Features(demo.Features...), stacktest.Ingesting())
	at := map[string]any{"org_id": s.Org, "event_id": s.Event}
	role := maps.Clone(at)
	maps.Copy(role, demo.Role)
	s.Operator(t, "participant-role-create", role)
	_, err := demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: s.Token, Event: s.Event})
	require.NoError(t, err)
	deliver(t, s)
	link := maps.Clone(at)
	for _, side := range []string{"target_id", "source_id"} {
		made := stacktest.Call[map[string]any](s, 200, "POST", s.EventPath("/sessions/create"), map[string]any{"title": side})
		link[side] = made["id"]
	}
	link["relationship_type"] = "merged_session"
	s.Operator(t, "session-link", link)
	field := s.Call(t, 200, "POST", s.EventPath("/fields/create"),
		map[string]any{"name": "Global", "type": "text", "module_id": "contact", "scope": "global"})
	s.Requests(t, field)
	s.NewOrganization(t)
	address, name := s.Engine(t)
	client, err = table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	return s, client, name
}

// items are items in the order of their keys.
type items []raw.Item

func read(t *testing.T, client *dynamodb.Client, name string) (all items) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		for _, one := range page.Items {
			item, err := raw.Read(one)
			require.NoError(t, err)
			all = append(all, item)
		}
	}
	slices.SortFunc(all, func(a, b raw.Item) int { return cmp.Or(cmp.Compare(a.PK, b.PK), cmp.Compare(a.SK, b.SK)) })
	return all
}

// first is the first item of a kind whose data has a text.
func (all items) first(t *testing.T, kind, text string) *raw.Item {
	t.Helper()
	at := slices.IndexFunc(all, func(i raw.Item) bool {
		return i.Organization() != 0 && i.Pattern().Name == kind && strings.Contains(i.Data, text)
	})
	require.GreaterOrEqual(t, at, 0, kind)
	return &all[at]
}

// problems are those of all organizations.
func (all items) problems() (lines []string) {
	organizations := map[int64]*Organization{}
	for _, item := range all {
		if org := item.Organization(); org != 0 {
			if organizations[org] == nil {
				organizations[org] = NewOrganization(org)
			}
			organizations[org].Add(item)
		}
	}
	for _, o := range organizations {
		o.Check()
		lines = append(lines, o.Problems...)
	}
	return lines
}

// TestEveryDamageIsFound takes away, changes or adds one item of each kind.
func TestEveryDamageIsFound(t *testing.T) {
	client, name := filled(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	remove := func(i *raw.Item) { *i = raw.Item{Key: table.Key{PK: "gone"}} }
	older := func(i *raw.Item) { i.Version-- }
	swapped := func(old, now string) func(*raw.Item) {
		return func(i *raw.Item) {
			require.Contains(t, i.Data, old)
			i.Data = strings.Replace(i.Data, old, now, 1)
		}
	}
	for _, c := range []struct {
		kind, text string
		damage     func(*raw.Item)
		problem    string
	}{
		{"organization", "", remove, "the organization itself is not there"},
		{"organization", "", older, "change records"},
		{"organization", "", func(i *raw.Item) { i.Settings++ }, "settings version"},
		{"event", "", remove, "the list of kind event"},
		{"event", "", func(i *raw.Item) { i.Settings-- }, "settings version"},
		{"member", "", remove, "the list of kind member"},
		{"member", "", swapped(`"id":`, `"id":9`), "says it is 9"},
		{"token", "", older, "change records"},
		{"line of a list", "", remove, "the list of kind"},
		{"setting: tracks", "", remove, "its settings add up to"},
		{"setting: tracks", "", older, "its settings add up to"},
		{"setting: tracks", "", swapped(`"id":"`, `"id":"0`), "says it is 0"},
		{"setting: tracks", "", swapped(`{`, `[`), "a tracks cannot be read"},
		{"line of a list", "", func(i *raw.Item) { i.Data += "0" }, "names another"},
		{"setting: field", `"scope":"global"`, remove, "is held for"},
		{"setting: participant_role", "", remove, "is held for"},
		{"record", "", remove, "counts 1 records"},
		{"record", "", older, "change records"},
		{"record", "", swapped(`"id":"`, `"id":"0`), "under the key of another"},
		{"record", "", swapped(`{`, `{"_":{"parent":"x"},`), "under the key of another"},
		{"record", "", swapped(`{`, `{"_":{"unique":"x"},`), "is not held"},
		{"record", "", swapped(`{`, `{"_":{"sequence":1},`), "has published 0 kinds and counted 1"},
		{"record", "", swapped(`{`, `{"deleted_at":"2026-11-23T00:00:00.000Z",`), "under the key of another"},
		{"record", `"type":"free_text"`, swapped(`{`, `[`), "a rule cannot be read"},
		{"number of records", "", remove, "more than there are"},
		{"number of records", "", func(i *raw.Item) { i.Data += "0" }, "more than there are"},
		{"number of records", "", func(i *raw.Item) { i.Data = "x" }, "cannot be read"},
		{"session", "", remove, "has no record"},
		{"session", "", older, "change records"},
		{"session", "", swapped(`"id":"`, `"id":"0`), "says it is 0"},
		{"session", "", swapped(`"title":"`, `"title":"X`), "does not say what its record says"},
		{"session", "", swapped(`{`, `[`), "a session cannot be read"},
		{"session", `"parent":"`, remove, "lists the subsessions"},
		{"session", `"last_number":`, remove, "which is not there"},
		{"session", `"target":{`, swapped(`"target":{`, `"was":{`), "which does not know of it"},
		{"session", `"sources":[`, swapped(`"sources":[`, `"were":[`), "which does not know of it"},
		{"row of a session", "", remove, "has no row"},
		{"row of a session", "", older, "its record"},
		{"row of a session", "", swapped(`"t":"`, `"t":"X`), "does not say what its record says"},
		{"contact", "", remove, "and has no record"},
		{"contact", "", swapped(`"email":"`, `"email":"x`), "is not held"},
		{"contact", "", swapped(`"number":`, `"number":9`), "which was not given yet"},
		{"contact", `"active":{`, swapped(`"active":{`, `"was":{`), "counts the roles"},
		{"contact", "", swapped(`"sequence":`, `"sequence":1`), "kinds and counted"},
		{"contact on an event", "", remove, "counts the roles"},
		{"contact on an event", "", swapped(`"event":`, `"event":1`), "says it is"},
		{"row of a contact", "", remove, "has no row"},
		{"row of a contact on an event", "", older, "its record"},
		{"account", "", older, "change records"},
		{"account on an event", "", remove, "counts the roles"},
		{"session", `"contact_id":"`, swapped(`"contact_id":"`, `"contact_id":"0`), "was never on the event"},
		{"session", `"sponsor_ids":["`, swapped(`"sponsor_ids":["`, `"sponsor_ids":["0`), "was never on the event"},
		{"row of an account", "", remove, "has no row"},
		{"row of an account on an event", "", remove, "has no row"},
		{"version of a shard", "", remove, "has no version"},
		{"version of a shard", "", older, "its rows add up to"},
		{"unique value", "", remove, "is not held"},
		{"unique value", "", swapped(`"id":"`, `"id":"0`), "is held for"},
		{"running number", "", func(i *raw.Item) { i.Count = 0 }, "the last one given is 0"},
		{"change record", "", remove, "change records"},
		{"change record", `"type":"session"`, func(i *raw.Item) { i.SK += "0" }, "wrong place"},
		{"change record", `"type":"contact"`, swapped(`"sequence":1`, `"sequence":2`), "has published number 2, not 1"},
		{"change of a contact", "", remove, "changes beside it"},
		{"change of an account", "", remove, "changes beside it"},
		{"change of a member", "", remove, "changes beside it"},
		{"hour of change records", "", remove, "has change records and no item"},
		{"hour of requests", "", remove, "has requests and no item"},
		{"requests", "", swapped(`{`, `[`), "a pack of requests cannot be read"},
		{"requests", "", func(i *raw.Item) { i.SK = "0" + i.SK[1:] + "0" }, "a pack of requests stands in the wrong place"},
		{"requests", "", func(i *raw.Item) { i.SK = "1" + i.SK[1:] }, "a pack of requests stands in the wrong place"},
		{"change record", "", func(i *raw.Item) { i.Kind = "" }, "is marked"},
		{"contact", "", func(i *raw.Item) { i.Kind = "c" }, "is marked as a change record"},
	} {
		t.Run(fmt.Sprint(c.kind, c.text, " ", c.problem), func(t *testing.T) {
			all := slices.Clone(whole)
			c.damage(all.first(t, c.kind, c.text))
			require.Contains(t, strings.Join(all.problems(), "\n"), c.problem)
		})
	}
	for kind, added := range map[string]raw.Item{
		"a session": *whole.first(t, "session", ""), "a row": *whole.first(t, "row of a contact", ""), "a version": *whole.first(t, "version of a shard", ""),
		"a hold": *whole.first(t, "unique value", ""), "a change": *whole.first(t, "change of a contact", ""),
	} {
		added.PK = strings.Replace(added.PK, "O#1", "O#777", 1)
		require.NotEmpty(t, append(slices.Clone(whole), added).problems(), "%s of nobody", kind)
	}
	odd := whole[0]
	odd.PK = "O#1#X#1"
	require.Contains(t, append(slices.Clone(whole), odd).problems(), `O#1: an item of no known kind stands in a partition "X"`)

	strangers := slices.Clone(whole)
	for i := range strangers {
		if strings.Contains(strangers[i].PK, "#Q#email#") {
			strangers[i].Data = `{"id":"nobody"}`
		}
	}
	lines := strangers.problems()
	require.Greater(t, len(lines), 200)
	require.NotContains(t, strings.Join(lines, "\n"), "@", "problems are for logs and terminals")
}

// TestAKeptAnswerIsTrue: what a repetition would be told of is there.
func TestAKeptAnswerIsTrue(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	one := whole.first(t, "session", "")
	id, key := raw.ParsePartition(one.PK).Rest, "O#1#I#3#"+strings.Repeat("0a", 32)
	for _, c := range []struct{ sk, data, problem string }{
		{"-", `{"done":true,"version":1,"answer":{"id":"gone"}}`, "tells of gone, which is not there"},
		{"-", `{"done":true,"version":1,"ref":"gone"}`, "tells of gone, which is not there"},
		{"-", `{"done":true,"answer":{"results":[{"id":"gone","status":"success"}]}}`, "tells of gone, which is not there"},
		{"-", `{"done":true,"results":[{"index":0,"id":"gone"}]}`, "tells of gone, which is not there"},
		{"P#1#0000", `[{"index":0,"id":"gone"}]`, "tells of gone, which is not there"},
		{"P#1#0000", `[{"index":3,"version":1}]`, "tells of " + idempotency.RecordID(key, 1, 3) + ", which is not there"},
		{"-", `{"claim":1,"finished":true,"results":[{"index":3}]}`, "tells of " + idempotency.RecordID(key, 1, 3) + ", which is not there"},
		{"P#1#0000", `[{"index":0,"id":"` + id + `","version":2}]`, "tells of version 2 of " + id + ", which has version 1"},
		{"-", `{"done":true,"version":2,"answer":{"id":"` + id + `"}}`, "tells of version 2 of " + id + ", which has version 1"},
		{"-", `{"done":true,"version":1,"answer":{"id":"` + id + `"}}`, ""},
		{"-", `{"claim":1,"lease":2}`, ""},
		{"-", `{"done":true,"answer":{"results":[{"id":"gone","status":"error"},{"id":null,"status":"error"}]}}`, ""},
		{"P#1#0000", `[{"index":0,"id":"gone","error":{"code":"NOT_FOUND"}}]`, ""},
		{"-", ``, "a kept idempotency key cannot be read"},
	} {
		added := raw.Item{Key: table.Key{PK: key, SK: c.sk}, Data: c.data, Expires: time.Now().Unix() + 3600}
		found := strings.Join(whole.with(added).problems(), "\n")
		require.Contains(t, found, c.problem, c.data)
		require.Equal(t, c.problem == "", found == "", "%s: %s", c.data, found)
	}
	var left items // All that the write made, but its key.
	for _, item := range whole {
		if item.Pattern().Name == "idempotency key" || !strings.Contains(item.PK+item.SK+item.Data, id) {
			left = append(left, item)
		}
	}
	require.Contains(t, strings.Join(left.problems(), "\n"), "an idempotency key tells of "+id)
}

// TestTable reads a table of several organizations as the command does.
func TestTable(t *testing.T) {
	client, name := filled(t)
	whole, err := Table(t.Context(), client, name)
	require.NoError(t, err)
	require.Empty(t, whole.Problems)
	require.EqualValues(t, 2, whole.Organizations)
	require.EqualValues(t, 176, whole.Kinds["session"])
	require.Positive(t, whole.Units)
	again, err := Table(t.Context(), client, name)
	require.NoError(t, err)
	require.Equal(t, whole.Content, again.Content)

	tbl := table.New(client, name)
	expired := table.Item{Key: table.Key{PK: "O#1#I#3#" + strings.Repeat("0a", 32), SK: "-"}, Expires: 1}
	require.NoError(t, tbl.Transact(t.Context(), table.Insert(expired)))
	again, err = Table(t.Context(), client, name)
	require.NoError(t, err)
	require.Empty(t, again.Problems, "what has expired is absent")

	_, err = tbl.Add(t.Context(), table.Key{PK: "N#id", SK: "-"}, -1)
	require.NoError(t, err)
	require.NoError(t, tbl.Transact(t.Context(), table.Bump(table.Key{PK: "odd", SK: "-"}, 1)))
	broken, err := Table(t.Context(), client, name)
	require.NoError(t, err)
	require.Equal(t, 2, broken.Count)
	require.NotEqual(t, whole.Content, broken.Content)
	var text strings.Builder
	require.NoError(t, broken.Print(&text, 1))
	require.Equal(t, 1, strings.Count(text.String(), "PROBLEM"))
	require.Contains(t, text.String(), "2 problems\n")
	text.Reset()
	require.NoError(t, (&Report{Problems: []string{"one\nline"}}).Print(&text, 1))
	require.Contains(t, text.String(), `PROBLEM  one\nline`)
	require.NoError(t, broken.Print(&text, -1), "shows none")

	_, err = Table(t.Context(), client, "none")
	require.ErrorContains(t, err, "read none")
}
