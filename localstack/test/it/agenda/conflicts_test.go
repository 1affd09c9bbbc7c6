package agenda_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/wire"
)

const conflictsPath = "/agenda-conflicts"

// planner is a programme with rooms, by name.
type planner struct {
	*it.Programme
	rooms map[string]string
	// long has two long texts for fields of a session; nil before the first long session.
	long object
}

func newPlanner(t *testing.T, features ...string) *planner {
	return plannerOf(it.NewClient(t, features...))
}

// plannerOf makes rooms and people on the client's event.
func plannerOf(c *it.Client) *planner {
	p := &planner{Programme: it.ProgrammeOf(c), rooms: map[string]string{}}
	p.rooms["Big"] = p.NewEntry("rooms", "Big", object{"capacity": 100}).ID()
	p.rooms["Small"] = p.NewEntry("rooms", "Small", object{"capacity": 20}).ID()
	p.AddPeople("Ann", "Bob", "Cem")
	return p
}

// hour returns an hour of a Monday, such as 9.5.
func hour(h float64) string {
	return wire.At(time.Date(2027, 5, 10, 0, 0, 0, 0, time.UTC).Add(time.Duration(h * float64(time.Hour)))).String()
}

// place creates a session in a room between two hours, with participants as it.ParticipantsOf names
// them. The title is also the session's name in conflicts.
func (p *planner) place(title, room string, starts, ends float64, more object, people ...string) string {
	at := object{"starts_at": hour(starts), "ends_at": hour(ends)}
	if room != "" {
		at["room_id"] = p.rooms[room]
	}
	return p.AddSession(title, it.Merged(at, more), people...)
}

// conflicts returns a line for each conflict, with titles and names in place of ids.
func (p *planner) conflicts() (lines []string) {
	p.T.Helper()
	names := map[string]string{"": ""}
	for title, made := range p.Held {
		names[made.ID()] = title
	}
	for name, id := range p.IDs {
		names[id] = name
	}
	for _, s := range p.ListSettings(conflictsPath) {
		require.Equal(p.T, "conflicts friendly_id session_id title", it.KeysOf(s))
		title := s.Text("title")
		require.Equal(p.T, []string{title, p.Held[title].Text("friendly_id")}, []string{names[s.Text("session_id")], s.Text("friendly_id")})
		for _, c := range s.List("conflicts") {
			require.NotEmpty(p.T, c["message"])
			line := fmt.Sprint(title, ": ", c["type"], " ", c["level"])
			for _, name := range []string{"rule_id", "session_id"} {
				if id, has := c[name].(string); has {
					line += " " + cmp.Or(names[id], "rule")
				}
			}
			if people, has := c["contact_ids"].([]any); has {
				for _, id := range people {
					line += " " + names[id.(string)]
				}
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func TestConflictsOfTheLiveAgenda(t *testing.T) {
	stacktest.Everywhere(t)
	p := newPlanner(t)
	require.Equal(t, "[]", string(p.Call(t, 200, http.MethodGet, p.EventPath(conflictsPath), nil).Body))
	p.place("Keynote", "Big", 9, 10, nil, "Ann speaker", "Ann moderator")
	p.place("Panel", "Big", 9.5, 10.5, object{"capacity": 101}, "Bob speaker", "Ann chairperson")
	p.place("Talk", "Small", 10.5, 11, object{"capacity": 20}, "Bob speaker", "Cem speaker")
	overlaps := []string{
		"Keynote: room_overlap error Panel", "Keynote: participant_overlap error Panel Ann",
		"Panel: room_overlap error Keynote", "Panel: participant_overlap error Keynote Ann", "Panel: room_capacity error",
	}
	require.Equal(t, overlaps, p.conflicts())

	track := p.NewEntry("tracks", "Web").ID()
	p.Put(200, p.Held["Panel"].ID(), object{"track_id": track})
	p.Put(200, p.Held["Talk"].ID(), object{"track_id": track})
	warning := object{"level": "warning"}
	rule(p.Client, 200, "no_room_overlap", warning)
	rule(p.Client, 200, "room_capacity", warning)
	gap := rule(p.Client, 200, "min_gap_minutes", it.Merged(warning, object{"minutes": json.RawMessage("15.0")}))
	rule(p.Client, 200, "time_window", object{"starts": "00:00", "ends": "23:59", "weekdays": []any{"sunday"}})
	rule(p.Client, 200, "track_in_one_room", object{"track_id": track})
	rule(p.Client, 200, "order", object{"before_session_id": p.Held["Talk"].ID(), "after_session_id": p.Held["Keynote"].ID()})
	rule(p.Client, 200, "free_text", object{"text": "No talk at lunch."})
	rule(p.Client, 200, "of_my_own", object{})
	require.Equal(t, []string{
		"Keynote: room_overlap warning rule Panel", "Keynote: participant_overlap error Panel Ann", "Keynote: rule error rule",
		"Keynote: rule error rule Talk",
		"Panel: room_overlap warning rule Keynote", "Panel: participant_overlap error Keynote Ann", "Panel: room_capacity warning rule",
		"Panel: rule warning rule Talk Bob", "Panel: rule error rule",
		"Talk: rule warning rule Panel Bob", "Talk: rule error rule", "Talk: rule error rule Panel", "Talk: rule error rule Keynote",
	}, p.conflicts())

	p.Do(200, http.MethodPut, "/rules/"+gap.ID(), object{"enabled": false})
	for _, r := range p.ListSettings("/rules") {
		if r.ID() != gap.ID() {
			p.DeleteRecord("rules", r.ID())
		}
	}
	require.Equal(t, overlaps, p.conflicts())
	p.Put(200, p.Held["Panel"].ID(), object{"starts_at": hour(10), "capacity": 100})
	require.Empty(t, p.conflicts())
}

// TestTheAgendaHasTheSessionsThatTakePlace, in the rooms and with the people that they show.
func TestTheAgendaHasTheSessionsThatTakePlace(t *testing.T) {
	p := newPlanner(t, "sessions_2_0", "speaker_acceptance")
	p.place("Keynote", "Big", 9, 12, object{"capacity": 500}, "Ann speaker", "Bob speaker")
	capacity := "Keynote: room_capacity error"
	keynote := p.Held["Keynote"].ID()
	p.place("Abstract", "Big", 9, 12, object{"is_abstract": true}, "Ann speaker")
	p.place("Declined", "Big", 9, 12, object{"status": "declined"}, "Ann speaker")
	p.place("Part", "Big", 9, 10, object{"parent_session_id": keynote}, "Ann speaker")
	p.place("Elsewhere", "Big", 9, 12, object{"location": "virtual"})
	parent := p.place("Workshop", "", 9, 12, object{"status": "declined"})
	p.place("Exercise", "Big", 9, 12, object{"parent_session_id": parent, "status": "accepted"}, "Ann speaker")
	p.AddSession("Begun", object{"starts_at": hour(9), "room_id": p.rooms["Big"]}, "Ann speaker")
	p.Delete(200, p.place("Deleted", "Big", 9, 12, nil, "Ann speaker"))
	source := p.place("Source", "Big", 9, 12, nil, "Ann speaker")
	overlap := []string{"Keynote: room_overlap error Source", "Keynote: participant_overlap error Source Ann"}
	require.Subset(t, p.conflicts(), overlap)
	p.Command("session-link", it.Link(keynote, source, "merged_session"))
	require.Equal(t, []string{capacity}, p.conflicts())

	p.place("Talk", "Small", 11, 12, object{"status": "decline_queue"}, "Bob moderator")
	both := []string{"Keynote: participant_overlap error Talk Bob", capacity, "Talk: participant_overlap error Keynote Bob"}
	require.Equal(t, both, p.conflicts())
	p.DeletePerson("contacts", "Bob")
	require.Equal(t, []string{capacity}, p.conflicts())
	p.RestorePerson("contacts", "Bob")
	require.Equal(t, both, p.conflicts())
	declined := it.Merged(p.Participant("Bob", "moderator"), object{"acceptance_status": "declined"})
	p.Put(200, p.Held["Talk"].ID(), object{"participants": []object{declined}})
	require.Equal(t, []string{capacity}, p.conflicts())
	p.SetFeature("speaker_acceptance", false)
	require.Equal(t, both, p.conflicts())

	field := p.DefineField(200, object{"name": "Expected audience", "type": "number"})
	require.Equal(t, "expected_audience", field["internal_name"])
	p.PutFields(200, keynote, object{"expected_audience": 100.5})
	require.Contains(t, p.conflicts(), capacity)
	p.PutFields(200, keynote, object{"expected_audience": 99.5})
	require.NotContains(t, p.conflicts(), capacity)
	p.DeleteRecord("fields", field.ID())
	require.Contains(t, p.conflicts(), capacity, "the session's own capacity")
	p.DeleteRecord("rooms", p.rooms["Big"])
	require.NotContains(t, p.conflicts(), capacity)
}

// TestADeletedRoleHidesNoAnswer: a person who was in a deleted role is shown in the role that stands for it, with the answer there.
func TestADeletedRoleHidesNoAnswer(t *testing.T) {
	p := newPlanner(t, "sessions_2_0", "speaker_acceptance", "participant_roles")
	role := p.Command("participant-role-create", object{"name": "Panelist", "core_role": "speaker"})
	p.place("Keynote", "Big", 9, 12, nil, "Ann speaker")
	panel := p.place("Panel", "Small", 10, 12, nil)
	declined := it.Merged(p.Participant("Ann", "speaker"), object{"acceptance_status": "declined"})
	p.Put(200, panel, object{"participants": []object{declined, p.Participant("Ann", role.Text("slug"))}})
	overlap := []string{"Keynote: participant_overlap error Panel Ann", "Panel: participant_overlap error Keynote Ann"}
	require.Equal(t, overlap, p.conflicts())
	p.Command("participant-role-delete", object{"role_id": role.ID()})
	require.Empty(t, p.conflicts())

	again := p.Command("participant-role-create", object{"name": "Guest", "core_role": "speaker"})
	guest := it.Merged(p.Participant("Ann", again.Text("slug")), object{"acceptance_status": "declined"})
	accepted := it.Merged(p.Participant("Ann", "speaker"), object{"acceptance_status": "accepted"})
	p.Put(200, panel, object{"participants": []object{accepted, guest}})
	require.Equal(t, overlap, p.conflicts())
	p.Command("participant-role-delete", object{"role_id": again.ID()})
	require.Equal(t, overlap, p.conflicts(), "the answer of the deleted role hides no other")
}

// TestADeletedTrackIsInAnyRoom: its sessions show no track.
func TestADeletedTrackIsInAnyRoom(t *testing.T) {
	p := newPlanner(t)
	track := p.NewEntry("tracks", "Web").ID()
	p.place("Talk", "Big", 9, 10, object{"track_id": track})
	p.place("Panel", "Small", 10, 11, object{"track_id": track})
	rule(p.Client, 200, "track_in_one_room", object{"track_id": strings.ToUpper(track)})
	require.Equal(t, []string{"Panel: rule error rule Talk"}, p.conflicts())
	p.DeleteRecord("tracks", track)
	require.Empty(t, p.conflicts())
}

// TestTheWindowOfARuleIsInTheZoneOfTheEvent, which may change.
func TestTheWindowOfARuleIsInTheZoneOfTheEvent(t *testing.T) {
	p := newPlanner(t)
	p.Command("event-update", object{"timezone": "Asia/Kolkata"})
	p.place("Talk", "Big", 9, 10, nil)
	rule(p.Client, 200, "time_window", object{"starts": "14:30", "ends": "15:30", "weekdays": []any{"monday"}})
	require.Empty(t, p.conflicts())
	p.Command("event-update", object{"timezone": "UTC"})
	require.Equal(t, []string{"Talk: rule error rule"}, p.conflicts())
}

// TestWhoMaySeeConflicts: either scope is enough, and a conflict names nobody.
func TestWhoMaySeeConflicts(t *testing.T) {
	p := newPlanner(t)
	p.place("Keynote", "Big", 9, 10, nil, "Ann speaker")
	p.place("Panel", "Small", 9, 10, nil, "Ann speaker")
	path := p.EventPath(conflictsPath)
	for _, scope := range []string{"read:events", "read:sessions"} {
		answer := p.As(p.NewToken(t, scope)).Call(t, 200, http.MethodGet, path, nil)
		require.Contains(t, string(answer.Body), "participant_overlap", scope)
		require.NotContains(t, strings.ToLower(string(answer.Body)), "ann", scope)
	}
	p.As("").Call(t, 401, http.MethodGet, path, nil)
	p.As(p.NewToken(t, "write:events", "read:contacts")).Call(t, 403, http.MethodGet, path, nil)
	p.Call(t, 404, http.MethodGet, "/v1/event/999999999"+conflictsPath, nil)
	p.Call(t, 400, http.MethodGet, "/v1/event/x"+conflictsPath, nil)
	p.Call(t, 405, http.MethodPost, path, object{})
	other := p.NewOrganization(t)
	other.Call(t, 404, http.MethodGet, path, nil)
	require.Equal(t, "[]", string(other.Call(t, 200, http.MethodGet, other.EventPath(conflictsPath), nil).Body))
}

// TestASessionIsReadOnceForItsConflicts: another request reads the caller, the rules and the versions alone.
func TestASessionIsReadOnceForItsConflicts(t *testing.T) {
	log := &stacktest.Log{}
	p := &planner{Programme: it.ProgrammeOf(&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t})}
	p.AddPeople("Ann")
	var last string
	for i := range 40 {
		last = p.place(fmt.Sprint("Talk ", i), "", float64(i), float64(i)+1.5, nil, "Ann speaker")
	}
	units := func() float64 {
		answer := p.Call(t, 200, http.MethodGet, p.EventPath(conflictsPath), nil)
		return log.Fields(t, answer.Header.Get("X-Request-Id"))["rcu"].(float64)
	}
	first, again := units(), units()
	require.Greater(t, first, 40.0)
	require.LessOrEqual(t, again, 6.0)
	p.Put(200, last, object{"title": "Another"})
	require.LessOrEqual(t, units(), again+5)
	require.Equal(t, again, units())
}

// TestTooManyConflictsAreRefused with a message that says so.
func TestTooManyConflictsAreRefused(t *testing.T) {
	p := newPlanner(t)
	for range 3 {
		var operations []object
		for i := range 80 {
			data := object{"title": fmt.Sprint("Talk ", i), "room_id": p.rooms["Big"], "starts_at": hour(9), "ends_at": hour(10)}
			operations = append(operations, object{"action": "create", "data": data})
		}
		p.Bulk(operations...)
	}
	for _, path := range []string{conflictsPath, newDraft(p.Client, "Plan B") + "/changes"} {
		refusal := p.Do(400, http.MethodGet, path, nil)
		require.Equal(t, "The agenda has more than 50000 conflicts. Give sessions other times or rooms, or disable rules.", refusal["message"])
	}
}

// TestConflictsOfSimultaneousRequests: requests that fill the memory at the same time find the same, beside
// a writer whose sessions overlap nothing.
func TestConflictsOfSimultaneousRequests(t *testing.T) {
	p := newPlanner(t)
	for i := range 12 {
		p.place(fmt.Sprint("Talk ", i), "Big", float64(i)/2, float64(i)/2+1, nil, "Ann speaker")
	}
	want := string(p.Call(t, 200, http.MethodGet, p.EventPath(conflictsPath), nil).Body)
	require.Contains(t, want, "participant_overlap")
	answers := make([]stacktest.Answer, 12)
	fresh := p.Instance(t)
	it.Concurrently(len(answers)+1, func(client int) {
		if client == len(answers) {
			for i := range 8 {
				it.MustCreate(t, p.Stack, "/sessions/create", object{"title": fmt.Sprint("Other ", i), "starts_at": hour(20)})
			}
			return
		}
		answers[client] = fresh.Call(t, 200, http.MethodGet, p.EventPath(conflictsPath), nil)
	})
	for _, answer := range answers {
		require.Equal(t, want, string(answer.Body))
	}
}
