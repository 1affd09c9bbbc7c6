package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/demo"
	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/granttest"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
	"lectern/shared/layout"
	"lectern/shared/metadata"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// oneOfEach is a table with few records, of every kind.
func oneOfEach(t *testing.T) (client *dynamodb.Client, name string) {
	t.Helper()
	s := stacktest.Start(t, stacktest.Features(demo.Features...), stacktest.Ingesting())
	role := map[string]any{"org_id": s.Org, "event_id": s.Event}
	maps.Copy(role, demo.Role)
	s.Operator(t, "participant-role-create", role)
	made := func(kind string, body map[string]any) string {
		return stacktest.Call[map[string]any](s, 200, "POST", s.EventPath("/"+kind+"/create"), stacktest.WithHeaders(body, "Idempotency-Key", kind+fmt.Sprint(body)))["id"].(string)
	}
	for _, kind := range metadata.Kinds {
		made(string(kind), map[string]any{"name": "One"})
	}
	made("statuses", map[string]any{"name": "One", "status": "pending"})
	made("fields", map[string]any{"name": "Own", "type": "text", "module_id": "contact"})
	made("fields", map[string]any{"name": "Global", "type": "text", "module_id": "contact", "scope": "global"})
	made("personas", map[string]any{"name": "One"})
	gone := made("rules", map[string]any{"name": "One", "type": "room_capacity"})
	made("rules", map[string]any{"name": "Two", "type": "room_capacity"})
	s.Call(t, 200, "DELETE", s.EventPath("/rules/"+gone), nil)
	person := made("contacts", map[string]any{"email": "ada@example.org"})
	company := made("sponsors", map[string]any{"name": "Example"})
	talk := made("sessions", map[string]any{"title": "A talk", "sponsor_ids": []string{company}, "participants": []any{map[string]any{"contact_id": person, "core_role": "speaker"}}})
	s.Call(t, 200, "POST", s.EventPath("/contacts/bulk"), stacktest.WithHeaders(map[string]any{"operations": []any{
		map[string]any{"action": "create", "data": map[string]any{"email": "grace@example.org"}}}}, "Idempotency-Key", "bulk"))
	transcribe(t, s, talk)
	s.Call(t, 201, "POST", s.EventPath("/sessions/"+talk+"/files"),
		stacktest.WithHeaders(map[string]any{"filename": "a.pdf", "size_bytes": 9}, "Idempotency-Key", "file"))
	s.Call(t, 201, "POST", s.EventPath("/sessions/"+talk+"/media/upload/initiate"),
		stacktest.WithHeaders(map[string]any{"filename": "a.mp4", "size_bytes": 1}, "Idempotency-Key", "film"))
	s.Operator(t, "holding-slides", map[string]any{"org_id": s.Org, "event_id": s.Event, "on": true, "background": onePixel})
	deliver(t, s)
	archive(t, s)
	connect(t, s)
	s.Requests(t, s.As(s.Forged(t)).Call(t, 401, "GET", "/v1/events", nil))
	address, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	addSmallRecords(t, s, table.New(client, name))
	return client, name
}

// connect makes a provider, a connection that was refreshed, and one that was refreshed and has ended.
func connect(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	c := granttest.New(t, s)
	require.NoError(t, tenancy.Providers.Create(t.Context(), c.Tenancy, &tenancy.Provider{
		OrgID: s.Org, Name: "Example", Issuer: "https://idp.example", ClientID: "lectern", Domains: []string{"example.org"},
	}))
	user := c.Member(nil)
	kept, _ := c.Connect(user, auth.ReadEvents)
	c.Renew(c.Renew(kept))
	ended, id := c.Connect(user, auth.ReadEvents)
	c.Renew(ended)
	s.Operator(t, "token-revoke", map[string]any{"org_id": s.Org, "token_id": id})
}

// TestConnections: a refresh needs no change record; the beginning and the end do.
func TestConnections(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	lost := 0
	for i, item := range whole {
		if item.Pattern().Name != "change record" || !strings.Contains(item.Data, `"type":"token"`) || strings.Contains(item.Data, `"name":"Test"`) {
			continue
		}
		without := slices.Delete(slices.Clone(whole), i, i+1)
		if slices.ContainsFunc(without.problems(), isOfVersions) {
			lost++
		}
	}
	require.Greater(t, lost, 3, "of two connections, beginning and end, and of the token of the test")
}

// isOfVersions reports whether a problem is about missing change records.
func isOfVersions(problem string) bool { return strings.Contains(problem, "change record") }

// with is all of it and some more.
func (all items) with(more ...raw.Item) items { return slices.Concat(all, more) }

// TestEveryKindHasItsKeys moves an item of each kind, and puts a second one beside it,
// under a key that is not of its kind, and gives it a time to live.
func TestEveryKindHasItsKeys(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	require.Empty(t, whole.problems())
	kinds := whole.once()
	for _, p := range layout.Keys {
		require.True(t, p.Leading() != "O#*" || kinds[p].PK != "", "%s %s %s", p.Name, p.PK, p.SK)
	}
	for kind, one := range kinds {
		t.Run(kind.Name+" "+kind.PK+" "+kind.SK, func(t *testing.T) {
			at := slices.Index(whole, one)
			for _, sk := range []string{"JUNK", "-#", "B#", "E", "E#0x", "H", one.SK + "#", one.SK[:len(one.SK)-1], " " + one.SK} {
				second := one
				second.SK = sk
				require.NotEmpty(t, whole.with(second).problems(), "another under %q", sk)
				moved := slices.Clone(whole)
				moved[at] = second
				require.NotEmpty(t, moved.problems(), "moved to %q", sk)
			}
			for _, pk := range []string{one.PK + "#", one.PK + "##", strings.Replace(one.PK, "O#", "O#0", 1), strings.Replace(one.PK, "#E#", "#E#0", 1), one.PK + "#nothing",
				strings.Replace(one.PK, "#E#", "#E#99999999999999999999", 1)} {
				second := one
				if second.PK = pk; pk != one.PK {
					require.NotEmpty(t, whole.with(second).problems(), "another in %q", pk)
				}
			}
			ends := slices.Clone(whole)
			problem := "has no ttl"
			if ends[at].Expires = 0; one.Expires == 0 {
				ends[at].Expires, problem = time.Now().Unix()+3600, "has a ttl"
			}
			require.Contains(t, strings.Join(ends.problems(), "\n"), problem)
		})
	}
	for what, added := range map[string]raw.Item{
		"a counter of nothing":         {Key: table.Key{PK: "O#1#N#nothing", SK: "-"}, Count: 1},
		"a counter of no event":        {Key: table.Key{PK: "O#1#E#999#N#session", SK: "-"}, Count: 1},
		"a list of nothing":            {Key: table.Key{PK: "O#1#L#nothing", SK: whole.named(t, "line of a list").SK}, Version: 1, Data: "1"},
		"a setting of nothing":         {Key: table.Key{PK: "O#1#M", SK: "nothing#1"}, Data: "{}"},
		"a version of a shard of none": {Key: table.Key{PK: "O#1#V", SK: "S#00"}},
	} {
		require.NotEmpty(t, whole.with(added).problems(), what)
	}
	moved := slices.Clone(whole)
	line := slices.Index(moved, whole.named(t, "line of a list"))
	moved[line].SK = "0" + moved[line].SK[1:13] + moved[line].SK[13:]
	require.NotEmpty(t, moved.problems(), "a list that is not in the order of creation")
}

// TestARowStandsInItsShard moves a row, and what the versions of both shards count of it.
func TestARowStandsInItsShard(t *testing.T) {
	client, name := oneOfEach(t)
	all := read(t, client, name)
	row := all.first(t, "row of a session", "")
	old, id, _ := strings.Cut(row.SK, "#")
	other := "00"
	if old == other {
		other = "01"
	}
	for i := range all {
		if all[i].PK == strings.TrimSuffix(row.PK, "RS")+"V" && all[i].SK == "S#"+old {
			all[i].SK = "S#" + other
		}
	}
	row.SK = other + "#" + id
	require.Equal(t, []string{"O#1: row " + id + " of " + row.PK + " stands in the shard " + other + ", which is not its own"}, all.problems())
}

// TestNoDamageEndsTheCheck puts something else in the place of every value, and of the
// whole, in an item of each kind.
func TestNoDamageEndsTheCheck(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	for kind, one := range whole.once() {
		at := slices.Index(whole, one)
		for _, text := range damaged(one.Data) {
			all := slices.Clone(whole)
			all[at].Data = text
			require.NotPanics(t, func() { all.problems() }, "%s: %s", kind, text)
		}
	}
	for _, kind := range []string{"contact on an event", "account on an event"} {
		all := slices.Clone(whole)
		one := all.first(t, kind, `"roles":{"`)
		before, after, _ := strings.Cut(one.Data, `"roles":{"`)
		_, after, _ = strings.Cut(after, `"`)
		one.Data = before + `"roles":{"` + `"` + after
		require.Contains(t, strings.Join(all.problems(), "\n"), `has the role ""`, kind)
	}
}

// damaged are the texts that differ from one in one value.
func damaged(text string) (all []string) {
	all = []string{"", "null", "[]", "{}", `""`, "0", "{", "\x00"}
	var object map[string]any
	if json.Unmarshal([]byte(text), &object) != nil {
		return all
	}
	for name, value := range object {
		others := []any{nil, "", 0, -1, []any{}, []any{nil}, []any{map[string]any{}}, map[string]any{}, map[string]any{"": map[string]any{}}}
		if inner, ok := value.(map[string]any); ok {
			for key := range inner {
				less := maps.Clone(inner)
				less[""], less[key] = less[key], nil
				others = append(others, less)
			}
		}
		for _, other := range others {
			changed := maps.Clone(object)
			changed[name] = other
			encoded, _ := json.Marshal(changed)
			all = append(all, string(encoded))
		}
	}
	return all
}

// TestAnUnreadableItemIsAProblem puts attributes of no known name or kind into a table.
func TestAnUnreadableItemIsAProblem(t *testing.T) {
	client, name := oneOfEach(t)
	all := read(t, client, name)
	token := all.named(t, "token")
	email := slices.IndexFunc(all, func(i raw.Item) bool { return strings.Contains(i.PK, "#Q#email#") })
	hold := all[email]
	put := func(item raw.Item, attribute string, value types.AttributeValue) {
		_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: &name,
			Key:                       map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: item.PK}, "SK": &types.AttributeValueMemberS{Value: item.SK}},
			UpdateExpression:          new("SET #a = :v"),
			ExpressionAttributeNames:  map[string]string{"#a": attribute},
			ExpressionAttributeValues: map[string]types.AttributeValue{":v": value}})
		require.NoError(t, err)
	}
	put(token, "new", &types.AttributeValueMemberS{Value: "x"})
	put(token, "newer", &types.AttributeValueMemberBOOL{Value: true})
	put(*all.first(t, "member", ""), "ttl", &types.AttributeValueMemberN{Value: "0"})
	put(hold, "n", &types.AttributeValueMemberN{Value: "1.5"})
	put(raw.Item{Key: table.Key{PK: "odd", SK: "-"}}, "d", &types.AttributeValueMemberN{Value: "1"})
	report, err := Table(t.Context(), client, name)
	require.NoError(t, err)
	slices.Sort(report.Problems)
	require.Equal(t, []string{
		`an item of kind "member" in O#1#U#2 cannot be read: the ttl is 0, which is never to a read and long ago to a condition`,
		`an item of kind "token" in ` + token.PK + ` cannot be read: attribute "new" is a *types.AttributeValueMemberS, attribute "newer" is a *types.AttributeValueMemberBOOL`,
		`an item of kind "unique value" in ` + hold.PK[:strings.LastIndex(hold.PK, "#")] + ` cannot be read: attribute "n" is no whole number of 64 bits`,
		`an item of kind "unknown" in odd cannot be read: attribute "d" is a *types.AttributeValueMemberN`,
		`an item of no known kind stands in a partition "odd"`,
	}, report.Problems)
}

// TestATTLIsFoundInATable wants it found also where it has passed, and where there is
// no organization.
func TestATTLIsFoundInATable(t *testing.T) {
	client, name := oneOfEach(t)
	tbl := table.New(client, name)
	bucket := table.Key{PK: "L#3#entity_reads#1763700000", SK: "-"}
	_, err := tbl.Add(t.Context(), bucket, 1)
	require.NoError(t, err)
	token := read(t, client, name).named(t, "token")
	past := table.Item{Key: token.Key, Version: token.Version, Data: []byte(token.Data), Expires: time.Now().Unix() - 1}
	require.NoError(t, tbl.Transact(t.Context(), table.Replace(past, token.Version)))
	report, err := Table(t.Context(), client, name)
	require.NoError(t, err)
	require.Equal(t, []string{
		"O#1: the token in " + token.PK + " has a ttl",
		"the rate limit in " + bucket.PK + " has no ttl",
	}, slices.Sorted(slices.Values(report.Problems)))
}
