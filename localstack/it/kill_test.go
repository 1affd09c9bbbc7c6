package it_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	attribute "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/session"
)

// killClients write while the service is killed.
const killClients = 8

// TestKill kills the service and its engine at random moments of a write load
// and starts them again. What was acknowledged must be there, what was not must
// be there whole or not at all, and a repeated request must not be done twice.
func TestKill(t *testing.T) {
	seed := seeded(t)
	s := built(t)
	clients := make([]*client, killClients)
	for i := range clients {
		clients[i] = &client{t: t, s: s.caller, r: source(seed, i), name: i, own: map[string]journaled{}}
	}
	r := source(seed, killClients)
	ways := map[int]int{}
	for round := range sized(10, 100) {
		way, after := r.IntN(killWays), time.Duration(50+r.IntN(400))*time.Millisecond
		if round < killWays {
			way = round // Each way at least once.
		}
		ways[way]++
		worked := make(chan struct{})
		go func() {
			together(killClients, func(client int) { clients[client].work() })
			close(worked)
		}()
		time.Sleep(after)
		s.kill(way, time.Duration(r.IntN(50))*time.Millisecond)
		<-worked
		require.False(t, t.Failed())
		s.start()
		s.expireLeases()
		bodies := audited(t, s.engine.dump(t), s.caller.Org, s.caller.Event)
		for _, c := range clients {
			c.recover(bodies)
			c.repeat()
		}
		all := s.engine.dump(t)
		bodies = audited(t, all, s.caller.Org, s.caller.Event)
		for _, c := range clients {
			c.recover(bodies)
			c.once(all)
		}
		s.searchAll(bodies)
	}
	writes, doubts, done := 0, 0, 0
	for _, c := range clients {
		writes, doubts, done = writes+c.writes, doubts+c.doubts, done+c.done
	}
	require.Positive(t, doubts-done, "each request that was under way was done")
	t.Logf("killed %v times (service, engine, both) under %d acknowledged writes; %d had no answer, of which %d were done",
		ways, writes, doubts, done)
}

// searchAll compares the search with what is stored: a service that has just
// started knows of every session.
func (s *service) searchAll(bodies map[string]*session.Body) {
	s.t.Helper()
	want, got := map[string]bool{}, map[string]bool{}
	for id, b := range bodies {
		if b.DeletedAt == nil && b.Parent == "" {
			want[id] = true
		}
	}
	for page := 1; ; page++ {
		found := readPage(s.caller.Call(s.t, 200, "GET", s.caller.EventPath(fmt.Sprintf("/sessions?page_size=100&page=%d", page)), nil).Body)
		for _, r := range found.results {
			got[r.id] = true
		}
		if page >= found.pages {
			require.Equal(s.t, len(want), found.total)
			break
		}
	}
	require.Equal(s.t, want, got)
}

// expireLeases ends the leases of bulks whose service is dead, as a minute
// would, so that they can be made again at once.
func (s *service) expireLeases() {
	s.t.Helper()
	for key, item := range s.engine.dump(s.t) {
		at := strings.Index(item.data, `"lease":`)
		if !strings.Contains(key.PK, "#I#") || at < 0 {
			continue
		}
		_, err := s.engine.client.UpdateItem(s.t.Context(), &dynamodb.UpdateItemInput{
			TableName: &s.engine.name,
			Key: map[string]attribute.AttributeValue{
				"PK": &attribute.AttributeValueMemberS{Value: key.PK}, "SK": &attribute.AttributeValueMemberS{Value: key.SK},
			},
			UpdateExpression:          aws.String("SET d = :d"),
			ExpressionAttributeValues: map[string]attribute.AttributeValue{":d": &attribute.AttributeValueMemberS{Value: strings.Replace(item.data, `"lease":`, `"lease":1,"was":`, 1)}},
		})
		require.NoError(s.t, err)
	}
}
