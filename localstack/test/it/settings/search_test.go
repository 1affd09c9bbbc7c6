package settings_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/local/faulty"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/change"
	"lectern/shared/table"
)

// searches are the paths at which settings are searched, and those of their
// entries.
var searches = map[string]string{
	"/fields": "/fields", "/rooms": "/rooms", "/tracks": "/tracks", "/tags": "/tags", "/formats": "/formats",
	"/levels": "/levels", "/languages": "/languages", "/session-statuses": "/statuses",
}

func TestSettingsAreSearched(t *testing.T) {
	all := it.NewClient(t)
	for path, entries := range searches {
		t.Run(path[1:], func(t *testing.T) {
			d := all.ForTest(t)
			created, updated, filters := "created_at", "updated_at", object{}
			if path == "/fields" {
				created, updated, filters = "createdAt", "updatedAt", object{"source": "custom"}
			}
			made := make([]entity, 3)
			for i, name := range []string{"One", "Two", "Three"} {
				made[i] = d.Do(200, http.MethodPost, entries+"/create", object{"name": name, "type": "text", "module_id": "session"})
			}
			made[0] = d.Do(200, http.MethodPut, entries+"/"+made[0].ID(), object{})

			check := func(want []int, body object) {
				t.Helper()
				ids := make([]string, len(want))
				for i, n := range want {
					ids[i] = made[n].ID()
				}
				require.Equal(t, ids, it.Texts(d.SearchSettings(path, it.Merged(object{"filters": filters}, body)).Results, "id"), "%v", body)
			}
			between := func(name string, bounds object) object {
				return object{"filters": it.Merged(filters, object{name: bounds})}
			}
			check([]int{0, 1, 2}, object{})
			check([]int{0, 1, 2}, object{"sort": object{}, "unknown": 1})
			check([]int{2, 1, 0}, object{"sort": object{"createdAt": object{"sort": "desc"}}})
			check([]int{1, 2, 0}, object{"sort": object{"updatedAt": object{"sort": "asc"}}})
			check([]int{0, 2, 1}, object{"sort": object{"updatedAt": object{"sort": "desc", "order": 1}, "createdAt": object{"sort": "asc", "order": 2}}})
			check([]int{0, 1, 2}, object{"sort": object{"updatedAt": object{"sort": "desc", "order": 2}, "createdAt": object{"sort": "asc", "order": 1}}})
			check([]int{2}, between("createdAt", object{"after": made[1][created]}))
			check([]int{0}, between("createdAt", object{"before": made[1][created]}))
			check([]int{1}, between("createdAt", object{"after": made[0][created], "before": made[2][created]}))
			check([]int{1, 2}, between("updatedAt", object{"before": made[0][updated]}))
			check([]int{}, between("updatedAt", object{"after": made[0][updated]}))

			last := d.SearchSettings(path+"?page=2&pageSize=2", object{"filters": filters})
			require.Equal(t, []string{made[2].ID()}, it.Texts(last.Results, "id"))
			require.Equal(t, struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{2, 2, 2, 3}, last.Pagination)
			require.Empty(t, d.SearchSettings(path+"?page=999&pageSize=100", nil).Results)
		})
	}
}

func TestSearchesOfSettingsAreStrict(t *testing.T) {
	d := it.NewClient(t)
	for path := range searches {
		for field, body := range map[string]object{
			"filters.trackIds":           {"filters": object{"trackIds": []string{}}},
			"filters.createdAt.since":    {"filters": object{"createdAt": object{"since": "2026-01-01T00:00:00Z"}}},
			"filters.createdAt.after":    {"filters": object{"createdAt": object{"after": "2026-01-01T00:00:00"}}},
			"filters.updatedAt.before":   {"filters": object{"updatedAt": object{"before": nil}}},
			"filters.createdAt":          {"filters": object{"createdAt": "2026-01-01T00:00:00Z"}},
			"filters":                    {"filters": nil},
			"sort.order":                 {"sort": object{"order": "asc"}},
			"sort.key":                   {"sort": object{"key": "createdAt"}},
			"sort.startsAt":              {"sort": object{"startsAt": object{"sort": "asc"}}},
			"sort.createdAt":             {"sort": object{"createdAt": "asc"}},
			"sort.createdAt.sort":        {"sort": object{"createdAt": object{}}},
			"sort.updatedAt.sort":        {"sort": object{"updatedAt": object{"sort": "ASC"}}},
			"sort.updatedAt.order":       {"sort": object{"updatedAt": object{"sort": "asc", "order": "1"}}},
			"sort.createdAt.nulls_first": {"sort": object{"createdAt": object{"sort": "asc", "nulls_first": true}}},
			"sort":                       {"sort": []any{}},
		} {
			it.RequireInvalid(t, d.Do(400, http.MethodPost, path, body), field)
		}
		for _, bad := range []string{"page=0", "page=1000", "page=x", "pageSize=0", "pageSize=101"} {
			name, _, _ := strings.Cut(bad, "=")
			it.RequireInvalid(t, d.Do(400, http.MethodPost, path+"?"+bad, object{}), name)
		}
	}
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/rooms", object{"expand": []string{"sessions"}}), "expand[0]")
	it.RequireInvalid(t, d.Do(400, http.MethodGet, "/rooms?expand=sessions", nil), "expand")
	for field, value := range map[string]any{"filters.module": "metadata", "filters.source": "salesforce", "filters.scope": "all"} {
		it.RequireInvalid(t, d.Do(400, http.MethodPost, "/fields", object{"filters": object{field[len("filters."):]: value}}), field)
	}
}

func TestFieldsAreFiltered(t *testing.T) {
	d := it.NewClient(t)
	for _, module := range []string{"session", "contact", "account"} {
		d.DefineField(200, object{"name": "Mine", "module_id": module})
	}
	d.DefineField(200, object{"name": "Mine", "module_id": "account", "scope": "global"})
	search := func(filters object) []entity {
		return d.SearchSettings("/fields?pageSize=100", object{"filters": filters}).Results
	}
	require.Len(t, search(object{}), len(d.ListSettings("/fields")))
	require.Len(t, search(object{"source": "custom"}), 4)
	require.Len(t, search(object{"source": "custom", "module": "account"}), 2)
	require.Equal(t, []string{"org_mine"}, it.Texts(search(object{"source": "custom", "module": "account", "scope": "global"}), "internal_name"))
	for _, f := range search(object{"source": "standard", "module": "session"}) {
		require.Equal(t, object{"field_source": "standard", "module_id": "session", "scope": "event"}, it.Pick(f, "field_source", "module_id", "scope"))
	}
	require.Contains(t, it.Texts(search(object{"source": "standard", "module": "contact"}), "internal_name"), "email")
}

// TestSettingsAreNeverStale writes at one instance and reads at another, while
// transactions become visible piece by piece.
func TestSettingsAreNeverStale(t *testing.T) {
	var door *faulty.Door
	s := stacktest.Start(t, stacktest.WithClient(func(c table.Client) table.Client {
		door = faulty.New(c, faulty.Config{Seed: 7, Torn: 0.5, Conflict: 0.2, Throttle: 0.05})
		return door
	}))
	const writers, rounds = 4, 12
	done := make(chan error, writers)
	for n := range writers {
		here, there := s.Instance(t), s.Instance(t)
		go func() { done <- readsItsWrites(t, here, there, n, rounds) }()
	}
	for range writers {
		require.NoError(t, <-done)
	}
	counts := door.Counts()
	require.Positive(t, counts.Torn)
	require.Positive(t, counts.Conflicts)
	require.Len(t, stacktest.Call[[]entity](s, 200, http.MethodGet, s.EventPath("/tracks"), nil), writers*rounds/2)
	it.RequireSettingsVersion(t, s)
}

// readsItsWrites makes tracks here and finds each there, as it deletes every
// second one.
func readsItsWrites(t *testing.T, here, there *stacktest.Stack, writer, rounds int) error {
	for round := range rounds {
		made, err := here.Send(t, http.MethodPost, here.EventPath("/tracks/create"), object{"name": fmt.Sprint(writer, "/", round)})
		if err != nil || made.Status != http.StatusOK {
			return fmt.Errorf("create: %d %s %w", made.Status, made.Body, err)
		}
		var track entity
		if err := json.Unmarshal(made.Body, &track); err != nil {
			return err
		}
		id := track.ID()
		if err := lists(t, there, id, true); err != nil {
			return err
		}
		if round%2 == 0 {
			continue
		}
		gone, err := there.Send(t, http.MethodDelete, there.EventPath("/tracks/"+id), nil)
		if err != nil || gone.Status != http.StatusOK {
			return fmt.Errorf("delete: %d %s %w", gone.Status, gone.Body, err)
		}
		if err := lists(t, here, id, false); err != nil {
			return err
		}
	}
	return nil
}

// lists is nil if a track is listed, or not, as wanted.
func lists(t *testing.T, s *stacktest.Stack, id string, wanted bool) error {
	answer, err := s.Send(t, http.MethodGet, s.EventPath("/tracks"), nil)
	if err != nil {
		return err
	}
	var tracks []entity
	if err := json.Unmarshal(answer.Body, &tracks); err != nil {
		return fmt.Errorf("list: %d %s: %w", answer.Status, answer.Body, err)
	}
	for _, track := range tracks {
		if track.ID() == id {
			wanted = !wanted
		}
	}
	if wanted {
		return fmt.Errorf("track %s is listed or missing against its last write", id)
	}
	return nil
}

func TestEveryWriteOfSettingsIsCountedAndRecorded(t *testing.T) {
	d := it.NewClient(t)
	began := time.Now()
	track := d.NewEntry("tracks", "One")
	path := "/tracks/" + track.ID()
	d.Do(200, http.MethodPut, path, object{"name": "Two"})
	d.DeleteRecord("tracks", track.ID())
	status := d.NewEntry("statuses", "Three")
	d.DeleteRecord("statuses", status.ID())
	d.Do(200, http.MethodPost, "/statuses/"+status.ID()+"/restore", nil)
	d.DefineField(200, object{"name": "Four"})
	d.Do(404, http.MethodDelete, path, nil)
	it.RequireSettingsVersion(t, d.Stack)

	var actions []string
	for _, record := range changesSince(t, d.Stack, began) {
		require.Equal(t, change.Actor{Type: change.ActorToken, ID: d.Member, Token: record.Actor.Token}, record.Actor)
		require.Equal(t, d.Event, record.Event)
		require.NotEmpty(t, record.RequestID)
		if record.RecordID == track.ID() && record.Version == 2 {
			require.Len(t, record.Values, 1)
			require.Equal(t, "name", record.Values[0].Field)
		}
		if record.Event != 0 && record.Type != "event" {
			actions = append(actions, record.Action)
		}
	}
	require.ElementsMatch(t, []string{
		"tracks.created", "tracks.updated", "tracks.deleted", "statuses.created", "statuses.deleted", "statuses.restored", "field.created",
	}, actions)
}

// changesSince reads the change records of an organization.
func changesSince(t *testing.T, s *stacktest.Stack, began time.Time) (all []change.Record) {
	t.Helper()
	partitions := map[string]bool{}
	for bucket := range change.Buckets {
		partitions[change.Partition(s.Org, began, bucket)] = true
		partitions[change.Partition(s.Org, time.Now(), bucket)] = true
	}
	for pk := range partitions {
		for stored, err := range s.Table(t).Between(t.Context(), pk, "0", "~") {
			require.NoError(t, err)
			var record change.Record
			require.NoError(t, json.Unmarshal(stored.Data, &record))
			if !record.At.Before(began.Truncate(time.Millisecond)) {
				all = append(all, record)
			}
		}
	}
	return all
}

func TestWhichSettingsAreLimited(t *testing.T) {
	d := it.NewClient(t)
	for path, entries := range searches {
		require.NotEmpty(t, d.Call(t, 200, http.MethodGet, d.EventPath(entries), nil).Header.Get("RateLimit-Limit"), entries)
		require.Empty(t, d.Call(t, 200, http.MethodPost, d.EventPath(path), nil).Header.Get("RateLimit-Limit"), path)
		create := d.Call(t, 400, http.MethodPost, d.EventPath(entries+"/create"), object{})
		require.NotEmpty(t, create.Header.Get("RateLimit-Limit"), "a refused body is counted as well")
	}
	reader := d.WithToken(d.NewToken(t, "read:events"))
	for _, entries := range searches {
		reader.Do(403, http.MethodPost, entries+"/create", object{})
	}
	reader.ListSettings("/rooms")
	d.WithToken(d.NewToken(t, "read:contacts")).Do(403, http.MethodGet, "/rooms", nil)
}
