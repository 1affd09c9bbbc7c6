package agenda_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// ruleShape and personaShape are the properties of a rule and of a persona (gaps.md 4).
const (
	ruleShape    = "config created_at enabled event_id id name type updated_at"
	personaShape = "config created_at description event_id id is_custom name updated_at"
)

// rule makes a rule of a type.
func rule(d *it.Client, status int, kind string, config any) entity {
	d.T.Helper()
	return d.Do(status, http.MethodPost, "/rules/create", object{"name": "Rule", "type": kind, "config": config})
}

func TestRulesOfAnEvent(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	require.Equal(t, "[]", string(d.Call(t, 200, http.MethodGet, d.EventPath("/rules"), nil).Body))
	plain := d.Do(200, http.MethodPost, "/rules/create", object{"name": "Rooms", "type": "no_room_overlap"})
	require.Equal(t, ruleShape, it.KeysOf(plain))
	require.Equal(t, object{"event_id": float64(d.Event), "name": "Rooms", "type": "no_room_overlap", "config": object{}, "enabled": true},
		it.Pick(plain, "event_id", "name", "type", "config", "enabled"))
	gap := rule(d, 200, "min_gap_minutes", object{"minutes": 15})
	path := "/rules/" + gap.ID()

	require.Equal(t, []string{plain.ID(), gap.ID()}, it.Texts(d.ListSettings("/rules"), "id"))
	require.Equal(t, gap, d.Do(200, http.MethodGet, path, nil))
	off := d.Do(200, http.MethodPut, path, object{"enabled": false})
	require.Equal(t, object{"enabled": false, "config": object{"minutes": 15.0}}, it.Pick(off, "enabled", "config"))
	longer := d.Do(200, http.MethodPut, path, object{"config": object{"minutes": 30.0}, "type": "min_gap_minutes"})
	require.Equal(t, object{"minutes": 30.0}, longer["config"])
	refusal := d.Do(400, http.MethodPut, path, object{"type": "free_text", "config": object{"text": "Be kind."}})
	it.RequireInvalid(t, refusal, "type")
	require.Equal(t, longer, d.Do(200, http.MethodGet, path, nil))

	gone := d.Do(200, http.MethodDelete, path, nil)
	require.NotEmpty(t, gone["deleted_at"])
	require.Equal(t, "Rule not found", d.Do(404, http.MethodGet, path, nil)["message"])
	require.Equal(t, []string{plain.ID()}, it.Texts(d.ListSettings("/rules"), "id"))
	d.Do(404, http.MethodGet, "/personas/"+plain.ID(), nil)
}

// TestTheConfigOfARule is checked for the types that are known; that of others is kept as
// it was sent.
func TestTheConfigOfARule(t *testing.T) {
	d := it.NewClient(t)
	one, other := it.UnknownID, strings.Replace(it.UnknownID, "0", "1", 1)
	for kind, configs := range map[string][]string{
		"no_room_overlap": {`{}`, `{"anything":[1,{"b":null}]}`}, "no_participant_overlap": {`{"level":"error"}`},
		"room_capacity":   {`{}`, `{"level":"warning"}`},
		"min_gap_minutes": {`{"minutes":1}`, `{"minutes":1440,"note":"x","level":"warning"}`},
		"time_window": {
			`{"starts":"09:00","ends":"18:30"}`, `{"ends":"23:59","starts":"00:00","weekdays":["monday","sunday"]}`,
			`{"starts":"09:00","ends":"09:01","weekdays":[]}`,
		},
		"track_in_one_room": {`{"track_id":"` + one + `"}`}, "order": {`{"before_session_id":"` + one + `","after_session_id":"` + other + `"}`},
		"free_text": {`{"text":"No keynote after lunch."}`}, "of_my_own": {`{"z":1.50,"a":{"minutes":"x"},"level":7}`, `{}`},
	} {
		for _, config := range configs {
			body := object{"name": "x", "type": kind, "config": json.RawMessage(config)}
			answer := d.Call(t, 200, http.MethodPost, d.EventPath("/rules/create"), body)
			require.Contains(t, string(answer.Body), `"config":`+config, "as it was sent")
			made := entity(answer.JSON(t))
			require.Equal(t, made, d.Do(200, http.MethodGet, "/rules/"+made.ID(), nil))
			d.Do(200, http.MethodPut, "/rules/"+made.ID(), made)
		}
	}
	window := func(starts, ends any, weekdays ...any) object {
		return object{"starts": starts, "ends": ends, "weekdays": append([]any{}, weekdays...)}
	}
	for _, c := range []struct {
		kind   string
		config any
		field  string
	}{
		{"no_room_overlap", object{"level": "info"}, "config.level"}, {"order", object{"before_session_id": one, "after_session_id": other, "level": 1}, "config.level"},
		{"min_gap_minutes", object{}, "config.minutes"}, {"min_gap_minutes", object{"minutes": -1}, "config.minutes"},
		{"time_window", object{"starts": "09:00"}, "config.ends"}, {"time_window", window("9:00", "10:00"), "config.starts"},
		{"time_window", window("09:00", "24:00"), "config.ends"}, {"time_window", window("10:00", "10:00"), "config.ends"},
		{"time_window", window("09:00", "10:00", "Monday"), "config.weekdays[0]"},
		{"time_window", window("09:00", "10:00", "monday", "monday"), "config.weekdays[1]"},
		{"track_in_one_room", object{"track_id": "x"}, "config.track_id"}, {"track_in_one_room", object{}, "config.track_id"},
		{"order", object{"before_session_id": one}, "config.after_session_id"},
		{"order", object{"before_session_id": one, "after_session_id": one}, "config.after_session_id"},
		{"free_text", object{"text": " "}, "config.text"}, {"free_text", object{"text": strings.Repeat("x", 3001)}, "config.text"},
		{"free_text", object{}, "config.text"},
		{"of_my_own", object{"x": strings.Repeat("x", 12<<10)}, "config"}, {"of_my_own", "x", "config"}, {"of_my_own", nil, "config"},
	} {
		it.RequireInvalid(t, rule(d, 400, c.kind, c.config), c.field)
	}
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/rules/create", object{"name": "x", "type": "free_text"}), "config.text")
	text := rule(d, 200, "free_text", object{"text": "A"})
	it.RequireInvalid(t, d.Do(400, http.MethodPut, "/rules/"+text.ID(), object{"config": object{}}), "config.text")
}

func TestPersonasOfAnEvent(t *testing.T) {
	d := it.NewClient(t)
	plain := d.NewEntry("personas", "Nobody")
	require.Equal(t, personaShape, it.KeysOf(plain))
	require.Equal(t, object{"event_id": float64(d.Event), "name": "Nobody", "description": nil, "config": object{}},
		it.Pick(plain, "event_id", "name", "description", "config"))
	config := object{"role": "Designer", "feedback_style": "critical", "likes": []any{"tea"}}
	nadia := d.NewEntry("personas", "Nadia", object{"description": "New.", "config": it.Merged(config, object{"unknown": 1})})
	require.Equal(t, config, nadia["config"])
	path := "/personas/" + nadia.ID()
	changed := d.Do(200, http.MethodPut, path, object{"config": object{"biography": "Short."}, "description": nil})
	require.Equal(t, object{"name": "Nadia", "description": nil, "config": object{"biography": "Short."}},
		it.Pick(changed, "name", "description", "config"))
	require.Equal(t, []string{plain.ID(), nadia.ID()}, it.Texts(d.ListSettings("/personas")[3:], "id"))
	d.Do(200, http.MethodDelete, path, nil)
	require.Equal(t, []string{plain.ID()}, it.Texts(d.ListSettings("/personas")[3:], "id"))
}

// TestEveryEventHasThreePersonas, which nobody can change, and which are other records on another event.
func TestEveryEventHasThreePersonas(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	builtIn := d.ListSettings("/personas")
	require.Equal(t, []string{"Newcomer", "Specialist", "Manager"}, it.Texts(builtIn, "name"))
	other := d.InNewEvent()
	for _, p := range builtIn {
		require.Equal(t, personaShape, it.KeysOf(p))
		require.Equal(t, object{"is_custom": false, "event_id": float64(d.Event)}, it.Pick(p, "is_custom", "event_id"))
		path := "/personas/" + p.ID()
		require.Equal(t, p, d.Do(200, http.MethodGet, path, nil))
		other.Do(404, http.MethodGet, path, nil)
		other.Do(404, http.MethodDelete, path, nil)
		require.Equal(t, "BUILT_IN", d.Do(409, http.MethodPut, path, object{"name": "Another"})["code"])
		require.Equal(t, "BUILT_IN", d.Do(409, http.MethodDelete, path, nil)["code"])
		it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"name": 1}), "name")
	}
	require.Equal(t, builtIn, d.ListSettings("/personas"))
}

func TestPersonasThatAreWrong(t *testing.T) {
	d := it.NewClient(t)
	for field, config := range map[string]any{
		"config": "x", "config.role": object{"role": strings.Repeat("x", 256)}, "config.biography": object{"biography": strings.Repeat("x", 2001)},
		"config.feedback_style": object{"feedback_style": "kind"}, "config.likes": object{"likes": []string{"a", "b", "c", "d"}},
		"config.dislikes[0]": object{"dislikes": []string{" "}},
	} {
		it.RequireInvalid(t, d.Do(400, http.MethodPost, "/personas/create", object{"name": "x", "config": config}), field)
	}
	it.RequireInvalid(t, d.Do(400, http.MethodPost, "/personas/create", object{"name": "x", "description": strings.Repeat("x", 2001)}), "description")
	longest := strings.Repeat("😀", 2000)
	d.NewEntry("personas", strings.Repeat("😀", 255), object{"description": longest, "config": object{"biography": longest}})
}

// TestARuleAsReadCanBeSentBack: its parameters stay what they are, byte for byte.
func TestARuleAsReadCanBeSentBack(t *testing.T) {
	d := it.NewClient(t)
	config := `{"text":"` + strings.Repeat("<", 3000) + `"}`
	made := d.Call(t, 200, http.MethodPost, d.EventPath("/rules/create"), `{"name":"x","type":"free_text","config":`+config+`}`)
	require.Contains(t, string(made.Body), config)
	changed := d.Call(t, 200, http.MethodPut, d.EventPath("/rules/"+entity(made.JSON(t)).ID()), string(made.Body))
	require.Contains(t, string(changed.Body), config)
}

// TestAnEventHasAHundredPersonas at most.
func TestAnEventHasAHundredPersonas(t *testing.T) {
	d := it.NewClient(t)
	for i := range 100 {
		d.NewEntry("personas", fmt.Sprint("Persona ", i))
	}
	refusal := d.Do(409, http.MethodPost, "/personas/create", object{"name": "One more"})
	require.Equal(t, "LIMIT_REACHED", refusal["code"])
	require.Equal(t, "personas", refusal.At("details.limit"))
	require.Equal(t, 100.0, refusal.At("details.maximum"))
	d.InNewEvent().NewEntry("personas", "There")
	rule(d, 200, "room_capacity", object{})
}

// TestRulesAndPersonasLeaveTheSettingsAlone: what every request of the event relies on does
// not change with them.
func TestRulesAndPersonasLeaveTheSettingsAlone(t *testing.T) {
	d := it.NewClient(t)
	d.NewEntry("tracks", "Web")
	before := d.Call(t, 200, http.MethodGet, d.EventPath("/tracks"), nil)
	d.DeleteRecord("rules", rule(d, 200, "room_capacity", object{}).ID())
	d.NewEntry("personas", "Nadia")
	it.RequireSettingsVersion(t, d.Stack)
	require.Equal(t, before.Body, d.Call(t, 200, http.MethodGet, d.EventPath("/tracks"), nil).Body)
}

// TestARuleOfAnOlderReleaseCanBeChanged although its parameters would be refused now, unless these are sent.
func TestARuleOfAnOlderReleaseCanBeChanged(t *testing.T) {
	d := it.NewClient(t)
	id := rule(d, 200, "no_room_overlap", object{"note": "high"}).ID()
	engine := it.EngineOf(t, d.Stack)
	for key, l := range engine.Dump(t) {
		if strings.HasSuffix(key.SK, id) && strings.Contains(l.Data, `"note":"high"`) {
			item, err := d.Table(t).Get(t.Context(), key)
			require.NoError(t, err)
			item.Data = bytes.Replace(item.Data, []byte(`"note"`), []byte(`"level"`), 1)
			require.NoError(t, d.Table(t).Transact(t.Context(), table.Put(item)))
		}
	}
	path := "/rules/" + id
	require.Equal(t, object{"level": "high"}, d.Do(200, http.MethodGet, path, nil)["config"])
	require.Equal(t, false, d.Do(200, http.MethodPut, path, object{"enabled": false})["enabled"])
	it.RequireInvalid(t, d.Do(400, http.MethodPut, path, object{"config": object{"level": "high"}}), "config.level")
}
