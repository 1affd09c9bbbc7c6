package batteries_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// programmeFile is the programme of Google I/O 2019, beside the project.
const programmeFile = "../shared/data/google-io-2019.json"

// ioProgramme is the part of the file that has a place in the API.
type ioProgramme struct {
	Rooms    []struct{ ID, Name string }
	Tags     []ioTag
	Sessions []ioSession
	Speakers map[string]ioSpeaker
}

// ioTag is a topic, a level or a type of session.
type ioTag struct{ Tag, Name, Category, Color string }

type ioSession struct {
	ID, Title, Description, Type, Room, Section string
	ContentLevels, TagNames, Speakers           []string
	StartTimestamp, EndTimestamp                int64
	Livestream                                  bool
}

// imported is a session as it was sent and as it is read back.
type imported struct {
	ID          string         `json:"id"`
	Title       string         `json:"title"`
	Description *string        `json:"description"`
	StartsAt    time.Time      `json:"starts_at"`
	EndsAt      time.Time      `json:"ends_at"`
	Status      string         `json:"status"`
	IsPublic    bool           `json:"is_public"`
	IsAbstract  bool           `json:"is_abstract"`
	ClientID    string         `json:"client_session_id"`
	Room        entry          `json:"room"`
	Track       entry          `json:"track"`
	Level       entry          `json:"level"`
	Format      entry          `json:"format"`
	Tags        []entry        `json:"tags"`
	Fields      []fieldValue   `json:"custom_fields"`
	People      []entity       `json:"participants"`
	Speakers    []entity       `json:"speakers"`
	Values      map[string]any `json:"-"`
	// SpeakerIDs are the ids of the speakers in their order.
	SpeakerIDs []string `json:"-"`
}

// entry is nested metadata; unassigned, as {} or null, it is zero.
type entry struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type fieldValue struct {
	InternalName string `json:"internal_name"`
	Value        any    `json:"value"`
}

// TestImportGoogleIO imports a real conference through the API alone and reads
// every session of it back through search, list and GET, and every speaker through
// all reads of people.
func TestImportGoogleIO(t *testing.T) {
	file := readProgramme(t)
	require.Len(t, file.Sessions, 1097)
	s := stacktest.Start(t, stacktest.Features("participant_roles"))
	settings := importSettings(t, s, file)
	people := importSpeakers(t, s, file)
	sent := importSessions(t, s, file, settings, people)

	found := pagesOf(t, func(page int) stacktest.Answer {
		return s.Call(t, http.StatusOK, http.MethodPost, s.EventPath(fmt.Sprintf("/sessions?pageSize=100&page=%d", page)), map[string]any{})
	})
	requireSame(t, people, sent, found)
	listed := pagesOf(t, func(page int) stacktest.Answer {
		return s.Call(t, http.StatusOK, http.MethodGet, s.EventPath(fmt.Sprintf("/sessions?page_size=100&page=%d", page)), nil)
	})
	requireSame(t, people, sent, listed)
	var fetched []imported
	for id := range sent {
		fetched = append(fetched, stacktest.Call[imported](s, http.StatusOK, http.MethodGet, s.EventPath("/sessions/"+id), nil))
	}
	requireSame(t, people, sent, fetched)

	requireCounts(t, s, sent, settings)
	requireSettings(t, s, file)
	requirePeople(t, &it.Client{Stack: s, T: t}, people, found)
}

// readProgramme reads the file, which stands beside the module's root.
func readProgramme(t *testing.T) (file ioProgramme) {
	t.Helper()
	root, err := filepath.Abs(".")
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, filepath.Dir(root), root, "no go.mod above the test")
		root = filepath.Dir(root)
	}
	text, err := os.ReadFile(filepath.Join(root, programmeFile))
	require.NoError(t, err, "the test needs the programme of Google I/O 2019 at %s, from the module's root", programmeFile)
	require.NoError(t, json.Unmarshal(text, &file))
	return file
}

// importSettings makes rooms, tracks, tags, levels, formats and fields, and
// returns their ids by kind and by what the file calls them.
func importSettings(t *testing.T, s *stacktest.Stack, file ioProgramme) map[string]map[string]entry {
	t.Helper()
	settings := map[string]map[string]entry{}
	add := func(kind, key string, body map[string]any) {
		made := stacktest.Call[entry](s, http.StatusOK, http.MethodPost, s.EventPath("/"+kind+"/create"), body)
		if settings[kind] == nil {
			settings[kind] = map[string]entry{}
		}
		settings[kind][key] = made
	}
	for _, room := range file.Rooms {
		add("rooms", room.ID, map[string]any{"name": room.Name})
	}
	for i, tag := range file.Tags {
		add("tags", tag.Tag, map[string]any{"name": tag.Tag, "order": i})
		switch tag.Category {
		case "topic":
			add("tracks", tag.Tag, map[string]any{"name": tag.Name, "color": tag.Color, "order": i})
		case "level":
			add("levels", tag.Name, map[string]any{"name": tag.Name, "order": i})
		}
	}
	for _, session := range file.Sessions {
		if _, there := settings["formats"][session.Type]; !there {
			add("formats", session.Type, map[string]any{"name": session.Type})
		}
	}
	add("fields", "section", map[string]any{"name": "Section", "type": "text", "module_id": "session"})
	add("fields", "livestream", map[string]any{"name": "Livestream", "type": "checkbox", "module_id": "session"})
	add("fields", "github", map[string]any{"name": "GitHub", "type": "text", "module_id": "contact"})
	return settings
}

// importSessions makes the sessions with their speakers and returns what they must
// read as, by the id they got.
func importSessions(t *testing.T, s *stacktest.Stack, file ioProgramme, settings map[string]map[string]entry, people map[string]object) map[string]imported {
	t.Helper()
	var expected []imported
	var bodies []any
	for _, session := range file.Sessions {
		want := session.expected(settings)
		want.SpeakerIDs = []string{}
		for _, id := range session.Speakers {
			want.SpeakerIDs = append(want.SpeakerIDs, people[id]["id"].(string))
		}
		expected = append(expected, want)
		bodies = append(bodies, it.Merged(want.body(), object{"participants": session.participants()}))
	}
	sent := map[string]imported{}
	for i, id := range (&it.Client{Stack: s, T: t}).CreateAll("sessions", bodies) {
		expected[i].ID = id
		sent[id] = expected[i]
	}
	require.Len(t, sent, len(file.Sessions))
	return sent
}

// expected is the session as the API shows it after the import: its first
// topic is its track, its first level its level.
func (session ioSession) expected(settings map[string]map[string]entry) imported {
	want := imported{
		Title: session.Title, Description: &session.Description, Status: "accepted", IsPublic: true, ClientID: session.ID,
		StartsAt: time.UnixMilli(session.StartTimestamp).UTC(), EndsAt: time.UnixMilli(session.EndTimestamp).UTC(),
		Room: settings["rooms"][session.Room], Format: settings["formats"][session.Type],
		Values: map[string]any{"livestream": session.Livestream},
	}
	if session.Section != "" {
		want.Values["section"] = session.Section
	}
	if len(session.ContentLevels) > 0 {
		want.Level = settings["levels"][session.ContentLevels[0]]
	}
	for _, tag := range session.TagNames {
		want.Tags = append(want.Tags, settings["tags"][tag])
		if want.Track.ID == "" && strings.HasPrefix(tag, "topic_") {
			want.Track = settings["tracks"][tag]
		}
	}
	return want
}

// body is the request that makes the session.
func (i imported) body() map[string]any {
	body := map[string]any{
		"title": i.Title, "description": i.Description, "starts_at": i.StartsAt, "ends_at": i.EndsAt, "status": i.Status,
		"is_public": i.IsPublic, "client_session_id": i.ClientID, "custom_fields": i.Values,
	}
	for key, assigned := range map[string]entry{"room_id": i.Room, "track_id": i.Track, "level_id": i.Level, "format_id": i.Format} {
		if assigned.ID != "" {
			body[key] = assigned.ID
		}
	}
	var tags []string
	for _, tag := range i.Tags {
		tags = append(tags, tag.ID)
	}
	body["tag_ids"] = tags
	return body
}

// pagesOf collects all pages of a search or list.
func pagesOf(t *testing.T, get func(page int) stacktest.Answer) (all []imported) {
	t.Helper()
	for page := 1; ; page++ {
		var answer struct {
			Results    []imported
			Pagination struct{ CurrentPage, TotalPages, TotalResults int }
		}
		get(page).Into(t, &answer)
		require.Equal(t, page, answer.Pagination.CurrentPage)
		require.Equal(t, 1097, answer.Pagination.TotalResults)
		all = append(all, answer.Results...)
		if page >= answer.Pagination.TotalPages {
			return all
		}
	}
}

// requireSame wants exactly the sessions that were sent, in any order.
func requireSame(t *testing.T, people map[string]object, sent map[string]imported, got []imported) {
	t.Helper()
	require.Len(t, got, len(sent))
	seen := map[string]bool{}
	for _, session := range got {
		require.False(t, seen[session.ID], "%s is there twice", session.ID)
		seen[session.ID] = true
		session.Values = map[string]any{}
		for _, field := range session.Fields {
			session.Values[field.InternalName] = field.Value
		}
		session.Fields = nil
		session.SpeakerIDs = speakersOf(t, people, session)
		session.People, session.Speakers = nil, nil
		want := sent[session.ID]
		// Tags are a set: they are shown in the event's order.
		byID := func(a, b entry) int { return strings.Compare(a.ID, b.ID) }
		want.Tags, session.Tags = slices.SortedFunc(slices.Values(want.Tags), byID), slices.SortedFunc(slices.Values(session.Tags), byID)
		require.Equal(t, want, session)
	}
}

// requireCounts holds the totals of filtered searches and lists against counts
// over what was sent.
func requireCounts(t *testing.T, s *stacktest.Stack, sent map[string]imported, settings map[string]map[string]entry) {
	t.Helper()
	count := func(keep func(imported) bool) (n int) {
		for _, session := range sent {
			if keep(session) {
				n++
			}
		}
		return n
	}
	total := func(method, path string, body any) int {
		answer := stacktest.Call[struct{ Pagination struct{ TotalResults int } }](s, http.StatusOK, method, s.EventPath(path), body)
		return answer.Pagination.TotalResults
	}
	has := func(session imported, tag entry) bool { return slices.Contains(session.Tags, tag) }
	of := map[string]func(imported, entry) bool{
		"track": func(i imported, e entry) bool { return i.Track == e }, "level": func(i imported, e entry) bool { return i.Level == e },
		"format": func(i imported, e entry) bool { return i.Format == e }, "tag": has,
	}
	for kind, is := range of {
		for _, e := range settings[kind+"s"] {
			want := count(func(i imported) bool { return is(i, e) })
			require.Equal(t, want, total(http.MethodPost, "/sessions", map[string]any{"filters": map[string]any{kind + "Ids": []string{e.ID}}}), "%s %s", kind, e.Name)
			require.Equal(t, want, total(http.MethodGet, "/sessions?"+kind+"_ids="+e.ID, nil), "%s %s", kind, e.Name)
		}
	}
	web, cloud, beginner := settings["tags"]["topic_web"], settings["tags"]["topic_cloud"], settings["levels"]["Beginner"]
	either := count(func(i imported) bool { return (has(i, web) || has(i, cloud)) && i.Level == beginner })
	require.Positive(t, either)
	require.Equal(t, either, total(http.MethodPost, "/sessions", map[string]any{"filters": map[string]any{
		"tagIds": []string{web.ID, cloud.ID}, "levelIds": []string{beginner.ID}, "isAbstract": false}}))
	const word = "firebase"
	require.Equal(t, count(func(i imported) bool { return strings.Contains(strings.ToLower(i.Title), word) }), total(http.MethodGet, "/sessions?search="+word, nil))
}

// requireSettings wants each kind's list to have what the file has.
func requireSettings(t *testing.T, s *stacktest.Stack, file ioProgramme) {
	t.Helper()
	categories := map[string]int{}
	for _, tag := range file.Tags {
		categories[tag.Category]++
	}
	for kind, want := range map[string]int{"rooms": len(file.Rooms), "tags": len(file.Tags), "tracks": categories["topic"], "levels": categories["level"], "formats": 7} {
		require.Len(t, stacktest.Call[[]entry](s, http.StatusOK, http.MethodGet, s.EventPath("/"+kind), nil), want, kind)
	}
}
