package maintenance_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/metadata"
)

// upgradeNotes are what the fixture's maker tells beside the items.
type upgradeNotes struct {
	Org, Member, Event, There, Stranger, StrangerEvent int64
	// Tokens are the texts of tokens, by name.
	Tokens map[string]string
	// Sessions and Parts are the ids of sessions and subsessions in the order they were made.
	Sessions, Parts []string
	Requests        []upgradeRequest
	Questions       []question
	// Statuses is how many questions were answered with each status.
	Statuses map[string]int
}

// upgradeRequest is a request that was made under an Idempotency-Key, with the id of the
// record that it made, or those of a bulk.
type upgradeRequest struct {
	Path, Key, ID string
	Body          object
	IDs           []string
}

// question is a read, and what was answered.
type question struct {
	Token, Method, Path string
	Body                any
	Status              int
	ETag                string
	Answer              json.RawMessage
}

// ask asks and gives the question with what was answered.
func (q question) ask(t *testing.T, s *stacktest.Stack, notes upgradeNotes) question {
	t.Helper()
	answer, err := s.As(notes.Tokens[q.Token]).Send(t, q.Method, q.Path, q.Body)
	require.NoError(t, err)
	q.Status, q.ETag, q.Answer = answer.Status, answer.Header.Get("ETag"), answer.Body
	return q
}

// questions are what the old release is asked.
func (o *oldTown) questions() (all []question) {
	for _, event := range []int64{o.Event, o.there.Event} {
		all = append(all, o.settingsQuestions(event)...)
		all = append(all, o.searchQuestions(event)...)
	}
	get := func(path string, ids ...string) {
		for _, id := range ids {
			all = append(all, question{"all", http.MethodGet, o.EventPath(fmt.Sprintf(path, id)), nil, 0, "", nil})
		}
	}
	get("/sessions/%s?expand=composition,linked_sources,subsession_details,translated_fields", o.notes.Sessions...)
	get("/sessions/%s", o.notes.Parts...)
	for _, name := range []string{"Ann", "Bob", "Ida", "Tom", "Yin", "Zoe", "Gus"} {
		for _, path := range []string{"/contacts/%s", "/contacts/%s/sessions", "/speakers/%s"} {
			get(path, o.IDs[name])
		}
		all = append(all,
			question{"all", http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s", o.Org, o.IDs[name]), nil, 0, "", nil},
			question{"all", http.MethodGet, fmt.Sprintf("/v1/organization/%d/contacts/%s/sessions", o.Org, o.IDs[name]), nil, 0, "", nil})
	}
	get("/participants?email=%s", "robert@example.org", "ann@example.org", "nobody@example.org", "bob@example.org")
	for _, name := range []string{"Acme", "Bolt", "Dune", "Elm", "Foil"} {
		get("/sponsors/%s", o.IDs[name])
		get("/exhibitors/%s", o.IDs[name])
	}
	for token := range o.notes.Tokens {
		all = append(all,
			question{token, http.MethodGet, "/v1/events", nil, 0, "", nil},
			question{token, http.MethodPost, o.EventPath("/sessions"), object{"filters": object{"isAbstract": true}}, 0, "", nil},
			question{token, http.MethodPost, o.there.EventPath("/contacts"), object{}, 0, "", nil},
			question{token, http.MethodPost, o.stranger.EventPath("/sessions"), object{}, 0, "", nil})
	}
	return append(all, o.searchesOfAll()...)
}

// settingsQuestions are the lists and searches of an event's settings.
func (o *oldTown) settingsQuestions(event int64) (all []question) {
	at := func(path string) string { return fmt.Sprintf("/v1/event/%d/%s", event, path) }
	kinds := []string{"fields"}
	for _, kind := range metadata.Kinds {
		kinds = append(kinds, string(kind))
	}
	for _, kind := range kinds {
		all = append(all, question{"all", http.MethodGet, at(kind), nil, 0, "", nil}, question{"all", http.MethodPost, at(kind + "?pageSize=100"), object{}, 0, "", nil})
	}
	return append(all, question{"all", http.MethodGet, at("statuses"), nil, 0, "", nil}, question{"all", http.MethodGet, at("participant-roles"), nil, 0, "", nil},
		question{"all", http.MethodPost, at("session-statuses?pageSize=100"), object{}, 0, "", nil})
}

// searchQuestions are searches of an event's records.
func (o *oldTown) searchQuestions(event int64) (all []question) {
	ask := func(path string, bodies ...any) {
		for _, body := range bodies {
			all = append(all, question{"all", http.MethodPost, fmt.Sprintf("/v1/event/%d/%s", event, path), body, 0, "", nil})
		}
	}
	latest := object{"sort": object{"updatedAt": object{"sort": "desc"}}}
	ask("sessions?pageSize=100", object{})
	ask("sessions?pageSize=5&page=2", latest, object{"filters": object{"isAbstract": true}}, object{"filters": object{"trackIds": []string{o.entries["tracks First"]}}},
		object{"filters": object{"tagIds": []string{o.entries["tags Second"], o.entries["tags Third"]}}}, object{"filters": object{"status": "accepted"}})
	ask("sessions/status?pageSize=100", object{}, object{"filters": object{"isAbstract": true}, "expand": []string{"linked_sources"}})
	ask("contacts?pageSize=100", object{}, latest)
	ask("contacts", object{"filters": object{"search": "company 3"}}, object{"filters": object{"search": "rob"}})
	ask("speakers?pageSize=100", object{}, object{"filters": object{"search": "old"}})
	ask("participants?pageSize=100", object{}, object{"filters": object{"roleSlugs": []string{"workshop_host"}}}, object{"filters": object{"trackIds": []string{o.entries["tracks First"]}}})
	ask("sponsors?pageSize=100", object{}, latest)
	ask("exhibitors?pageSize=100", object{})
	return all
}

// searchesOfAll are searches of the organization's contacts, and of the other organization.
func (o *oldTown) searchesOfAll() (all []question) {
	for token, org := range map[string]int64{"all": o.Org, "guest": o.Org, "stranger": o.stranger.Org} {
		path := fmt.Sprintf("/v1/organization/%d/contacts?pageSize=100", org)
		for _, text := range []string{"", "ann", "company 3"} {
			all = append(all, question{token, http.MethodPost, path, object{"filters": object{"search": text}}, 0, "", nil})
		}
	}
	for path := range strings.FieldsSeq("sessions contacts speakers participants sponsors exhibitors") {
		all = append(all, question{"stranger", http.MethodPost, o.stranger.EventPath("/" + path), object{}, 0, "", nil})
	}
	return all
}
