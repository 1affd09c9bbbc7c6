package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// programme is an event with records of the size that docs/performance.md was measured
// with: sessions of 3 KB with two people each, contacts of 0.7 KB.
type programme struct {
	*stacktest.Stack
	track            string
	sessions, people []string
}

type object = map[string]any

func newProgramme(t *testing.T, log *stacktest.Log) *programme {
	t.Helper()
	p := &programme{Stack: stacktest.Start(t, stacktest.WithLog(log))}
	p.track = stacktest.Call[struct{ ID string }](p.Stack, 200, "POST", p.EventPath("/tracks/create"), object{"name": "Track"}).ID
	p.people = p.made(t, "/contacts/bulk", person)
	p.sessions = p.made(t, "/sessions/bulk", p.session)
	return p
}

// made makes 100 records.
func (p *programme) made(t *testing.T, path string, draft func(int) object) (ids []string) {
	t.Helper()
	answer := stacktest.Call[struct{ Results []struct{ ID string } }](p.Stack, 200, "POST", p.EventPath(path), creates(draft))
	for _, result := range answer.Results {
		ids = append(ids, result.ID)
	}
	require.Len(t, ids, 100)
	return ids
}

func creates(draft func(int) object) object {
	operations := make([]object, 100)
	for i := range operations {
		operations[i] = object{"action": "create", "data": draft(i)}
	}
	return object{"operations": operations}
}

func (p *programme) session(i int) object {
	start := time.Date(2027, 5, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i) * 5 * time.Minute)
	role := func(n int) object { return object{"contact_id": p.people[n%len(p.people)], "core_role": "speaker"} }
	return object{
		"title":       fmt.Sprintf("Session %d: what the measured figures mean", i),
		"description": strings.Repeat("<p>What was measured, how, and what it means for a programme of this size.</p>\n", 30),
		"starts_at":   start, "ends_at": start.Add(45 * time.Minute), "track_id": p.track,
		"status": "accepted", "is_public": true, "capacity": 50 + i, "participants": []object{role(i), role(i + 1)},
	}
}

func person(i int) object {
	return object{
		"email": fmt.Sprintf("given%d.family@people.bench.example", i), "first_name": fmt.Sprint("Given", i), "last_name": fmt.Sprint("Family", i),
		"title": "Measurer", "company": fmt.Sprint("Company ", i), "about": strings.Repeat("Measures what a programme of this size takes. ", 8),
		"address_city": "Berlin", "address_country": 276, "photo_url": fmt.Sprintf("https://photos.bench.example/%d.jpg", i),
	}
}

// request sends a request of a kind.
func (p *programme) request(t *testing.T, name string, headers ...string) stacktest.Answer {
	t.Helper()
	send := func(method, path string, body any) stacktest.Answer {
		return p.Call(t, 200, method, p.EventPath(path), stacktest.WithHeaders(body, headers...))
	}
	onTrack := object{"filters": object{"trackIds": []string{p.track}}}
	switch name {
	case "read a session with its people":
		return send("GET", "/sessions/"+p.sessions[0], nil)
	case "read a contact":
		return send("GET", "/contacts/"+p.people[0], nil)
	case "update a session":
		return send("PUT", "/sessions/"+p.sessions[1], object{"capacity": 500})
	case "update a contact":
		return send("PUT", "/contacts/"+p.people[1], object{"headcount": "500"})
	case "create a session, in an event of 100":
		return send("POST", "/sessions/create", p.session(101))
	case "bulk of 100 sessions, in an event of 100":
		return send("POST", "/sessions/bulk", creates(p.session))
	case "search of 25 sessions", "search of 25 sessions in a large event":
		return send("POST", "/sessions", onTrack)
	default:
		return send("POST", "/participants", onTrack)
	}
}

// near is how far a measured size may be from the one in the table of kinds, and nearPacked how far
// above it with gzip, where ids and times count more: they differ by run.
const near, nearPacked = 0.1, 0.15

func TestAnswersAndLogLinesHaveTheSizesOfTheTable(t *testing.T) {
	log := &stacktest.Log{}
	p := newProgramme(t, log)
	for _, k := range kinds {
		p.request(t, k.name) // The first of a kind may fill a memory.
		answer := p.request(t, k.name)
		line := log.Line(t, answer.Header.Get("X-Request-Id"))
		require.InEpsilon(t, k.answer, len(answer.Body), near, "%s: answer", k.name)
		require.InEpsilon(t, k.line, len(line), near, "%s: log line", k.name)
		// These texts repeat themselves, so most answers are smaller with gzip than real ones.
		packed := p.request(t, k.name, "Accept", "*/*", "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", packed.Header.Get("Content-Encoding"), k.name)
		require.LessOrEqual(t, float64(len(packed.Body)), k.packed*(1+nearPacked), "%s: answer with gzip", k.name)
	}
}

// publishedKinds counts the published kinds of all change records of the region.
func (p *programme) publishedKinds(t *testing.T) (n int) {
	t.Helper()
	address, name := p.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: address})
	require.NoError(t, err)
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		for _, item := range page.Items {
			if mark, ok := item["k"].(*types.AttributeValueMemberS); !ok || mark.Value != table.KindChange {
				continue
			}
			var record struct{ Kinds []struct{ Name string } }
			require.NoError(t, json.Unmarshal([]byte(item["d"].(*types.AttributeValueMemberS).Value), &record))
			n += len(record.Kinds)
		}
	}
	return n
}

func TestRequestsPublishTheKindsOfTheTable(t *testing.T) {
	p := newProgramme(t, &stacktest.Log{})
	for _, k := range kinds {
		if k.size == large {
			continue
		}
		before := p.publishedKinds(t)
		p.request(t, k.name)
		require.InDelta(t, k.published, p.publishedKinds(t)-before, 0, k.name)
	}
}
