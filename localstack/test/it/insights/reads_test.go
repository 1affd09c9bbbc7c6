package insights_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// writer writes random records of an event.
type writer struct {
	*asker
	random *rand.Rand
	// records are ids by kind, deleted ones too.
	records map[string][]string
}

// any returns a record of a kind; nil for none.
func (w *writer) any(kind string) any {
	if all := w.records[kind]; w.random.IntN(4) > 0 && len(all) > 0 {
		return all[w.random.IntN(len(all))]
	}
	return nil
}

// some returns records of a kind.
func (w *writer) some(kind string) []any {
	ids := []any{}
	for _, id := range w.records[kind] {
		if w.random.IntN(3) == 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// draft returns a random session. A write with a deleted record is refused, and changes nothing.
func (w *writer) draft() object {
	starts := time.Date(2027, 5, 10, w.random.IntN(24), 15*w.random.IntN(4), 0, 0, time.UTC)
	draft := object{
		"title": fmt.Sprint("Talk ", w.random.IntN(100)), "status": []any{"accepted", "pending", "declined"}[w.random.IntN(3)], "track_id": w.any("tracks"),
		"tag_ids": w.some("tags"), "sponsor_ids": w.some("sponsors"), "capacity": []any{nil, w.random.IntN(500)}[w.random.IntN(2)],
		"description": strings.Repeat("word ", w.random.IntN(400)), "starts_at": starts, "ends_at": starts.Add(time.Hour), "location": "virtual",
	}
	if room := w.any("rooms"); room != nil {
		draft["location"], draft["room_id"] = "room", room
	}
	participants := []any{}
	for _, id := range w.some("contacts") {
		for _, role := range []string{"speaker", "moderator", "chairperson"} {
			if w.random.IntN(2) == 0 {
				participants = append(participants, object{"contact_id": id, "core_role": role})
			}
		}
	}
	draft["participants"] = participants
	return draft
}

// do sends a request, which may be refused, and returns the id of what it has made.
func (w *writer) do(method, path string, body any) string {
	var made struct {
		ID   string
		Data struct{ ID string }
	}
	answer := w.TrySend(w.T, method, w.EventPath(path), body)
	require.Less(w.T, answer.Status, 500, "%s", answer.Body)
	if answer.Status < 300 {
		answer.Into(w.T, &made)
	}
	return made.ID + made.Data.ID
}

// write writes something.
func (w *writer) write() {
	kind := []string{"contacts", "sponsors", "tags", "tracks", "rooms"}[w.random.IntN(5)]
	session := w.any("sessions")
	switch w.random.IntN(12) {
	case 0, 1, 2:
		draft := w.draft()
		draft["is_abstract"] = w.random.IntN(3) == 0
		if id := w.do(http.MethodPost, "/sessions/create", draft); id != "" {
			w.records["sessions"] = append(w.records["sessions"], id)
		}
	case 3, 4, 5, 6:
		w.do(http.MethodPut, fmt.Sprint("/sessions/", session), w.draft())
	case 7:
		w.do(http.MethodDelete, fmt.Sprint("/sessions/", session), nil)
	case 8:
		w.do(http.MethodPost, fmt.Sprint("/sessions/", session, "/restore"), nil)
	case 9:
		if session != nil {
			w.do(http.MethodPost, "/sessions/create", object{"title": fmt.Sprint("Part of ", session), "parent_session_id": session})
		}
	case 10:
		w.do(http.MethodDelete, fmt.Sprint("/", kind, "/", w.any(kind)), nil)
	case 11:
		w.do(http.MethodPost, fmt.Sprint("/", kind, "/", w.any(kind), "/restore"), nil)
	}
}

// pairsOf returns what a query shows in two columns.
func (a *asker) pairsOf(query string) (pairs []string) {
	a.T.Helper()
	for page := 1; ; page++ {
		rows := a.ask(query, object{"page": page})
		for _, row := range rows {
			values := []string{}
			for _, v := range row.(map[string]any) {
				values = append(values, fmt.Sprint(v))
			}
			slices.Sort(values)
			pairs = append(pairs, strings.Join(values, " "))
		}
		if len(rows) < 100 {
			slices.Sort(pairs)
			return pairs
		}
	}
}

// requireFields compares the records of an entity with those of a search: all columns that the search has under the same name.
func (a *asker) requireFields(entity, path string, filters object) (records []it.Entity) {
	a.T.Helper()
	records = a.SearchAllPages(path, filters)
	rows := map[string]map[string]any{}
	for page := 1; page <= len(records)/100+1; page++ {
		for _, row := range a.ask("FIND "+entity, object{"page": page}) {
			rows[row.(map[string]any)[entity+".id"].(string)] = row.(map[string]any)
		}
	}
	require.Len(a.T, rows, len(records), entity)
	for _, r := range records {
		row := rows[r.ID()]
		require.NotNil(a.T, row, entity)
		for name, shown := range row {
			want, known := r[strings.TrimPrefix(name, entity+".")]
			if _, isList := want.([]any); known && !isList {
				require.Equal(a.T, want, shown, name)
			}
		}
		for _, list := range []string{"track", "room"} {
			if of, ok := r[list].(map[string]any); ok {
				require.Equal(a.T, of["id"], row[entity+"."+list+"_id"], list)
			}
		}
		if people, ok := r["participants"].([]any); ok {
			require.Equal(a.T, float64(len(people)), row[entity+".participant_count"])
		}
	}
	return records
}

// requirePairs compares a relation of an entity with a list that the search has in each record.
func (a *asker) requirePairs(entity, to string, records []it.Entity, list string) {
	a.T.Helper()
	var want []string
	for _, r := range records {
		of := map[string]bool{}
		for _, one := range r.List(list) {
			of[one.ID()] = true
		}
		for id := range of {
			pair := []string{r.ID(), id}
			slices.Sort(pair)
			want = append(want, strings.Join(pair, " "))
		}
	}
	slices.Sort(want)
	require.Equal(a.T, want, a.pairsOf(fmt.Sprintf("SELECT %s.id, %s.id FROM %ss JOIN %ss", entity, to, entity, to)), to)
}

// TestQueriesShowWhatReadsShow after random writes: the records, their fields, and which belong together.
func TestQueriesShowWhatReadsShow(t *testing.T) {
	w := &writer{&asker{it.NewProgramme(t, "sessions_2_0", "participant_roles")}, it.Source(it.Seed(t), 0), map[string][]string{}}
	for i := range 5 {
		w.records["contacts"] = append(w.records["contacts"], w.AddContact(fmt.Sprint("P", i), object{"company": fmt.Sprint("C", i%2)}).ID())
		for _, kind := range []string{"tracks", "rooms", "tags"} {
			w.records[kind] = append(w.records[kind], w.NewEntry(kind, fmt.Sprint(kind, i)).ID())
		}
		sponsor := object{"name": fmt.Sprint("S", i), "contacts": []any{object{"contact_id": w.records["contacts"][i]}}}
		w.records["sponsors"] = append(w.records["sponsors"], w.do(http.MethodPost, "/sponsors/create", sponsor))
	}
	for range it.Size(8, 80) {
		for range 25 {
			w.write()
		}
		w.requireFields("contact", "/contacts", object{})
		w.requirePairs("sponsor", "contact", w.requireFields("sponsor", "/sponsors", object{}), "contacts")
		var parts []string
		for entity, abstract := range map[string]bool{"session": false, "abstract": true} {
			records := w.requireFields(entity, "/sessions", object{"isAbstract": abstract})
			w.requirePairs(entity, "tag", records, "tags")
			w.requirePairs(entity, "speaker", records, "speakers")
			w.requirePairs(entity, "contact", records, "participants")
			w.requirePairs(entity, "sponsor", records, "sponsors")
			for _, r := range records {
				for _, part := range r.List("subsessions") {
					parts = append(parts, part.ID())
				}
			}
		}
		slices.Sort(parts)
		require.Equal(t, parts, w.pairsOf("SELECT subsession.id FROM subsessions"))
	}
}
