package batteries_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/it"
	"lectern/shared/table"
)

// killClients write while the service is killed.
const killClients = 8

// TestKill kills the service and its engine at random moments of a write load
// and starts them again. What was acknowledged must be there, what was not must
// be there whole or not at all, and a repeated request must not be done twice.
func TestKill(t *testing.T) { kill(t, it.Size(4, 100)) }

// kill has so many rounds, with flags for the program.
func kill(t *testing.T, rounds int, flags ...string) {
	t.Helper()
	k := newKilling(t, flags...)
	for round := range rounds {
		k.round(round)
		for _, c := range k.clients {
			c.repeat()
		}
		all := k.engine.Dump(t)
		stored := journalOf(audited(t, all, k.caller.Org, k.caller.Event))
		for _, c := range k.clients {
			c.recover(stored)
			c.once(all)
		}
		k.searchAll(stored)
	}
	k.report()
}

// killing kills a service under the writes of clients.
type killing struct {
	*service
	clients []*client
	r       *rand.Rand
	// ways counts the kills by their way.
	ways map[int]int
}

// newKilling starts a service with flags for the program, and its clients.
func newKilling(t *testing.T, flags ...string) *killing {
	t.Helper()
	seed := it.Seed(t)
	k := &killing{built(t, flags...), make([]*client, killClients), it.Source(seed, killClients), map[int]int{}}
	for i := range k.clients {
		k.clients[i] = &client{t: t, s: k.caller, r: it.Source(seed, i), name: i, own: map[string]journaled{}}
	}
	return k
}

// round kills the service at a random moment of the load, starts it again, and compares the journals
// of the clients with the table. The first rounds kill in each way once.
func (k *killing) round(number int) {
	k.t.Helper()
	way, after := k.r.IntN(killWays), time.Duration(50+k.r.IntN(400))*time.Millisecond
	if number < killWays {
		way = number
	}
	k.ways[way]++
	worked := make(chan struct{})
	go func() {
		it.Concurrently(killClients, func(client int) { k.clients[client].work() })
		close(worked)
	}()
	time.Sleep(after)
	k.kill(way, time.Duration(k.r.IntN(50))*time.Millisecond)
	<-worked
	require.False(k.t, k.t.Failed())
	k.start()
	k.expireLeases()
	stored := journalOf(audited(k.t, k.records(), k.caller.Org, k.caller.Event))
	for _, c := range k.clients {
		c.recover(stored)
	}
}

// records returns the items of the table without those of webhooks, which the workers write while the
// table is read.
func (k *killing) records() it.Dump {
	k.t.Helper()
	all := k.engine.Dump(k.t)
	maps.DeleteFunc(all, func(key table.Key, _ it.DumpedItem) bool {
		return slices.Contains([]string{"W", "B", "D"}, raw.ParsePartition(key.PK).Letters)
	})
	return all
}

// report logs the numbers of kills and writes.
func (k *killing) report() {
	k.t.Helper()
	writes, doubts, done := 0, 0, 0
	for _, c := range k.clients {
		writes, doubts, done = writes+c.writes, doubts+c.doubts, done+c.done
	}
	require.Positive(k.t, doubts-done, "each request that was under way was done")
	k.t.Logf("killed %v times (service, engine, both) under %d acknowledged writes; %d had no answer, of which %d were done",
		k.ways, writes, doubts, done)
}

// journalOf is what is stored, as the clients keep it.
func journalOf(a *audit) map[string]journaled {
	all := map[string]journaled{}
	for id, b := range a.bodies {
		var participants []string
		for _, p := range b.Participants {
			participants = append(participants, p.ContactID)
		}
		all[id] = journaled{kind: "sessions", title: b.Title, parent: b.Parent, participants: strings.Join(participants, " "), version: b.Version, deleted: b.DeletedAt != nil}
	}
	for _, k := range a.kept {
		for id, here := range k.here[strings.TrimPrefix(a.event, a.org+"#")] {
			b := k.bodies[id]
			for role, held := range here.Roles {
				all[id] = journaled{kind: role + "s", title: cmp.Or(b.Values["first_name"], b.Values["name"]), email: b.Values["email"],
					version: b.Version, deleted: held.DeletedAt != nil}
			}
		}
	}
	return all
}

// searchAll compares the searches with what is stored: a service that has just
// started knows of every record.
func (s *service) searchAll(stored map[string]journaled) {
	s.t.Helper()
	for _, kind := range journalKinds {
		want := keysWhere(stored, func(j journaled) bool { return j.kind == kind && !j.deleted && j.parent == "" })
		var got []string
		for page := 1; ; page++ {
			found := readPage(s.caller.Call(s.t, 200, "POST", s.caller.EventPath(fmt.Sprintf("/%s?pageSize=100&page=%d", kind, page)), map[string]any{}).Body)
			got = append(got, shownIDs(found.results, func(r *result) string { return r.id })...)
			if page >= found.TotalPages {
				require.Equal(s.t, len(want), found.TotalResults, kind)
				break
			}
		}
		slices.Sort(got)
		require.Equal(s.t, want, got, kind)
	}
}

// expireLeases ends the leases of bulks whose service is dead, as a minute
// would, so that they can be made again at once.
func (s *service) expireLeases() {
	s.t.Helper()
	for key, item := range s.engine.Dump(s.t) {
		at := strings.Index(item.Data, `"lease":`)
		if !strings.Contains(key.PK, "#I#") || at < 0 {
			continue
		}
		_, err := s.engine.Client.UpdateItem(s.t.Context(), &dynamodb.UpdateItemInput{
			TableName: &s.engine.Table,
			Key: map[string]attribute.AttributeValue{
				"PK": &attribute.AttributeValueMemberS{Value: key.PK}, "SK": &attribute.AttributeValueMemberS{Value: key.SK},
			},
			UpdateExpression:          aws.String("SET d = :d"),
			ExpressionAttributeValues: map[string]attribute.AttributeValue{":d": &attribute.AttributeValueMemberS{Value: strings.Replace(item.Data, `"lease":`, `"lease":1,"was":`, 1)}},
		})
		require.NoError(s.t, err)
	}
}
