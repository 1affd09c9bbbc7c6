package it_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ruleShape and personaShape are the properties of a rule and of a persona (gaps.md 4).
const (
	ruleShape    = "config created_at enabled event_id id name type updated_at"
	personaShape = "config created_at description event_id id name updated_at"
)

// rule makes a rule of a type.
func (d *desk) rule(status int, kind string, config any) entity {
	d.t.Helper()
	return d.send(status, http.MethodPost, "/rules/create", object{"name": "Rule", "type": kind, "config": config})
}

func TestRulesOfAnEvent(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, "[]", string(d.Call(t, 200, http.MethodGet, d.EventPath("/rules"), nil).Body))
	plain := d.send(200, http.MethodPost, "/rules/create", object{"name": "Rooms", "type": "no_room_overlap"})
	require.Equal(t, ruleShape, shapeOf(plain))
	require.Equal(t, object{"event_id": float64(d.Event), "name": "Rooms", "type": "no_room_overlap", "config": object{}, "enabled": true},
		pick(plain, "event_id", "name", "type", "config", "enabled"))
	gap := d.rule(200, "min_gap_minutes", object{"minutes": 15})
	path := "/rules/" + gap.id()

	require.Equal(t, []string{plain.id(), gap.id()}, texts(d.array("/rules"), "id"))
	require.Equal(t, gap, d.send(200, http.MethodGet, path, nil))
	off := d.send(200, http.MethodPut, path, object{"enabled": false})
	require.Equal(t, object{"enabled": false, "config": object{"minutes": 15.0}}, pick(off, "enabled", "config"))
	longer := d.send(200, http.MethodPut, path, object{"config": object{"minutes": 30.0}, "type": "min_gap_minutes"})
	require.Equal(t, object{"minutes": 30.0}, longer["config"])
	refusal := d.send(400, http.MethodPut, path, object{"type": "free_text", "config": object{"text": "Be kind."}})
	isInvalid(t, refusal, "type")
	require.Equal(t, longer, d.send(200, http.MethodGet, path, nil))

	gone := d.send(200, http.MethodDelete, path, nil)
	require.NotEmpty(t, gone["deleted_at"])
	require.Equal(t, "Rule not found", d.send(404, http.MethodGet, path, nil)["message"])
	require.Equal(t, []string{plain.id()}, texts(d.array("/rules"), "id"))
	d.send(404, http.MethodGet, "/personas/"+plain.id(), nil)
}

// TestTheConfigOfARule is checked for the types that are known; that of others is kept as
// it was sent.
func TestTheConfigOfARule(t *testing.T) {
	d := newDesk(t)
	one, other := unknownID, strings.Replace(unknownID, "0", "1", 1)
	for kind, configs := range map[string][]string{
		"no_room_overlap": {`{}`, `{"anything":[1,{"b":null}]}`}, "no_participant_overlap": {`{}`}, "room_capacity": {`{}`},
		"min_gap_minutes": {`{"minutes":1}`, `{"minutes":1440,"note":"x"}`},
		"time_window": {
			`{"starts":"09:00","ends":"18:30"}`, `{"ends":"23:59","starts":"00:00","weekdays":["monday","sunday"]}`,
			`{"starts":"09:00","ends":"09:01","weekdays":[]}`,
		},
		"track_in_one_room": {`{"track_id":"` + one + `"}`}, "order": {`{"before_session_id":"` + one + `","after_session_id":"` + other + `"}`},
		"free_text": {`{"text":"No keynote after lunch."}`}, "of_my_own": {`{"z":1.50,"a":{"minutes":"x"}}`, `{}`},
	} {
		for _, config := range configs {
			body := object{"name": "x", "type": kind, "config": json.RawMessage(config)}
			answer := d.Call(t, 200, http.MethodPost, d.EventPath("/rules/create"), body)
			require.Contains(t, string(answer.Body), `"config":`+config, "as it was sent")
			made := entity(answer.JSON(t))
			require.Equal(t, made, d.send(200, http.MethodGet, "/rules/"+made.id(), nil))
			d.send(200, http.MethodPut, "/rules/"+made.id(), made)
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
		isInvalid(t, d.rule(400, c.kind, c.config), c.field)
	}
	isInvalid(t, d.send(400, http.MethodPost, "/rules/create", object{"name": "x", "type": "free_text"}), "config.text")
	text := d.rule(200, "free_text", object{"text": "A"})
	isInvalid(t, d.send(400, http.MethodPut, "/rules/"+text.id(), object{"config": object{}}), "config.text")
}

func TestPersonasOfAnEvent(t *testing.T) {
	d := newDesk(t)
	plain := d.entry("personas", "Nobody")
	require.Equal(t, personaShape, shapeOf(plain))
	require.Equal(t, object{"event_id": float64(d.Event), "name": "Nobody", "description": nil, "config": object{}},
		pick(plain, "event_id", "name", "description", "config"))
	config := object{"role": "Designer", "feedback_style": "critical", "likes": []any{"tea"}}
	nadia := d.entry("personas", "Nadia", object{"description": "New.", "config": merged(config, object{"unknown": 1})})
	require.Equal(t, config, nadia["config"])
	path := "/personas/" + nadia.id()
	changed := d.send(200, http.MethodPut, path, object{"config": object{"biography": "Short."}, "description": nil})
	require.Equal(t, object{"name": "Nadia", "description": nil, "config": object{"biography": "Short."}},
		pick(changed, "name", "description", "config"))
	require.Equal(t, []string{plain.id(), nadia.id()}, texts(d.array("/personas"), "id"))
	d.send(200, http.MethodDelete, path, nil)
	require.Equal(t, []string{plain.id()}, texts(d.array("/personas"), "id"))
}

func TestPersonasThatAreWrong(t *testing.T) {
	d := newDesk(t)
	for field, config := range map[string]any{
		"config": "x", "config.role": object{"role": strings.Repeat("x", 256)}, "config.biography": object{"biography": strings.Repeat("x", 2001)},
		"config.feedback_style": object{"feedback_style": "kind"}, "config.likes": object{"likes": []string{"a", "b", "c", "d"}},
		"config.dislikes[0]": object{"dislikes": []string{" "}},
	} {
		isInvalid(t, d.send(400, http.MethodPost, "/personas/create", object{"name": "x", "config": config}), field)
	}
	isInvalid(t, d.send(400, http.MethodPost, "/personas/create", object{"name": "x", "description": strings.Repeat("x", 2001)}), "description")
	longest := strings.Repeat("😀", 2000)
	d.entry("personas", strings.Repeat("😀", 255), object{"description": longest, "config": object{"biography": longest}})
}

// TestARuleAsReadCanBeSentBack: its parameters stay what they are, byte for byte.
func TestARuleAsReadCanBeSentBack(t *testing.T) {
	d := newDesk(t)
	config := `{"text":"` + strings.Repeat("<", 3000) + `"}`
	made := d.Call(t, 200, http.MethodPost, d.EventPath("/rules/create"), `{"name":"x","type":"free_text","config":`+config+`}`)
	require.Contains(t, string(made.Body), config)
	changed := d.Call(t, 200, http.MethodPut, d.EventPath("/rules/"+entity(made.JSON(t)).id()), string(made.Body))
	require.Contains(t, string(changed.Body), config)
}

// TestAnEventHasAHundredPersonas at most.
func TestAnEventHasAHundredPersonas(t *testing.T) {
	d := newDesk(t)
	for i := range 100 {
		d.entry("personas", fmt.Sprint("Persona ", i))
	}
	refusal := d.send(409, http.MethodPost, "/personas/create", object{"name": "One more"})
	require.Equal(t, "LIMIT_REACHED", refusal["code"])
	require.Equal(t, "personas", refusal.at("details.limit"))
	require.Equal(t, 100.0, refusal.at("details.maximum"))
	d.elsewhere().entry("personas", "There")
	d.rule(200, "room_capacity", object{})
}

// TestRulesAndPersonasLeaveTheSettingsAlone: what every request of the event relies on does
// not change with them.
func TestRulesAndPersonasLeaveTheSettingsAlone(t *testing.T) {
	d := newDesk(t)
	d.entry("tracks", "Web")
	before := d.Call(t, 200, http.MethodGet, d.EventPath("/tracks"), nil)
	d.drop("rules", d.rule(200, "room_capacity", object{}).id())
	d.entry("personas", "Nadia")
	requireSum(t, d.Stack)
	require.Equal(t, before.Body, d.Call(t, 200, http.MethodGet, d.EventPath("/tracks"), nil).Body)
}
