package it_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
	"lectern/shared/session"
	"lectern/shared/table"
)

// journaled is what a client knows of a session of its own.
type journaled struct {
	title   string
	parent  string
	version int64
	deleted bool
}

// effect is what an operation does once it is done: new titles of sessions that
// are there, and sessions that are made.
type effect struct {
	request
	key     string
	sets    map[string]journaled // by id
	creates []journaled
}

// replayable is an acknowledged request that can be made again.
type replayable struct {
	effect
	body string
}

// client writes sessions that nobody else writes, and keeps a journal of what
// was acknowledged.
type client struct {
	t    *testing.T
	s    *stacktest.Stack
	r    *rand.Rand
	name int
	made int
	own  map[string]journaled
	// doubt is the request that got no answer, nil when there is none.
	doubt *effect
	acked []replayable
	// writes counts the acknowledged ones, doubts those without an answer, and
	// done those of them that were found done, at least in part.
	writes, doubts, done int
}

// work writes until a request stays without an answer.
func (c *client) work() {
	for c.doubt == nil && !c.t.Failed() {
		e := c.draw()
		e.path = c.s.EventPath(e.path)
		c.try(e, c.send(e))
	}
}

func (c *client) send(e effect) stacktest.Answer {
	var header []string
	if e.key != "" {
		header = []string{"Idempotency-Key", e.key}
	}
	a, err := c.s.Send(c.t, e.method, e.path, e.body, header...)
	if err != nil {
		return stacktest.Answer{}
	}
	return a
}

// try notes what the answer says: done, refused, or nothing.
func (c *client) try(e effect, a stacktest.Answer) {
	switch {
	case a.Status == http.StatusOK:
		c.writes++
		c.note(e, quick(a.Body))
		if e.key != "" {
			c.acked = append(c.acked, replayable{e, string(a.Body)})
		}
	case a.Status >= 500 || a.Status == 0:
		c.doubt = &e
	default:
		c.t.Errorf("%s: %d %s", e, a.Status, a.Body)
	}
}

// note takes an acknowledged effect over. Each operation of a bulk must have
// succeeded, since nobody else writes these sessions.
func (c *client) note(e effect, body map[string]any) {
	for id, now := range e.sets {
		c.own[id] = now
	}
	ids := []string{}
	if results, ok := body["results"].([]any); ok {
		for _, result := range results {
			result := result.(map[string]any)
			if result["status"] != "success" {
				c.t.Errorf("an operation of a bulk failed: %v", result)
			} else if result["action"] == "create" {
				ids = append(ids, result["id"].(string))
			}
		}
	} else if id, ok := body["id"].(string); ok {
		ids = append(ids, id)
	}
	for i, now := range e.creates {
		c.own[ids[i]] = now
	}
}

func (c *client) title() string {
	c.made++
	return fmt.Sprintf("client %d wrote %d", c.name, c.made)
}

// pick gives the ids of own sessions that keep holds for, in a fixed order.
func (c *client) pick(keep func(journaled) bool) []string {
	return keysWhere(c.own, keep)
}

// draw makes the next operation.
func (c *client) draw() effect {
	live := c.pick(func(j journaled) bool { return !j.deleted })
	top := c.pick(func(j journaled) bool { return !j.deleted && j.parent == "" })
	gone := c.pick(func(j journaled) bool { return j.deleted && !c.own[j.parent].deleted })
	childless := slices.DeleteFunc(slices.Clone(live), func(id string) bool {
		return len(c.pick(func(j journaled) bool { return j.parent == id && !j.deleted })) > 0
	})
	switch n := c.r.IntN(12); {
	case len(top) < 3 || n < 3:
		return c.create("")
	case n < 5:
		return c.create(oneOf(c.r, slices.DeleteFunc(top, func(id string) bool {
			return len(c.pick(func(j journaled) bool { return j.parent == id })) >= 20
		})))
	case n < 7:
		title := c.title()
		return effect{request: request{"PUT", "/sessions/" + oneOf(c.r, live), map[string]any{"title": title}}}.on(c, title, false)
	case n < 8:
		return effect{request: request{"DELETE", "/sessions/" + oneOf(c.r, childless), nil}}.on(c, "", true)
	case n < 9 && len(gone) > 0:
		return effect{request: request{"POST", "/sessions/" + oneOf(c.r, gone) + "/restore", nil}}.on(c, "", false)
	case n < 11:
		return c.bulk(live)
	}
	kind := oneOf(c.r, append(slices.Clone(kinds), "statuses", "fields"))
	body := map[string]any{"name": c.title()}
	if kind == "fields" {
		body["type"], body["module_id"] = "text", "session"
	}
	return effect{request: request{"POST", "/" + kind + "/create", body}, key: c.title()}
}

// on adds what the request does to the session in its path, and to its parent
// where it appears or disappears.
func (e effect) on(c *client, title string, deleted bool) effect {
	e.sets = map[string]journaled{}
	var id string
	for own := range c.own {
		if e.path == "/sessions/"+own || e.path == "/sessions/"+own+"/restore" {
			id = own
		}
	}
	now := c.own[id]
	if title != "" {
		now.title = title
	} else if now.parent != "" {
		e.sets[now.parent] = c.own[now.parent].next()
	}
	now.deleted = deleted
	e.sets[id] = now.next()
	return e
}

func (j journaled) next() journaled {
	j.version++
	return j
}

func (c *client) create(parent string) effect {
	title := c.title()
	body := map[string]any{"title": title}
	e := effect{request: request{"POST", "/sessions/create", body}, key: c.title(), creates: []journaled{{title: title, parent: parent, version: 1}}}
	if parent != "" {
		body["parent_session_id"] = parent
		e.sets = map[string]journaled{parent: c.own[parent].next()}
	}
	return e
}

// bulk makes some sessions and changes others, each once.
func (c *client) bulk(live []string) effect {
	e := effect{key: c.title(), sets: map[string]journaled{}}
	var operations []any
	for range 1 + c.r.IntN(20) {
		title := c.title()
		data := map[string]any{"title": title}
		if id := oneOf(c.r, live); e.sets[id].version == 0 && chance(c.r, 2) {
			now := c.own[id].next()
			now.title = title
			e.sets[id] = now
			operations = append(operations, map[string]any{"action": "update", "id": id, "data": data})
			continue
		}
		e.creates = append(e.creates, journaled{title: title, version: 1})
		operations = append(operations, map[string]any{"action": "create", "data": data})
	}
	e.request = request{"POST", "/sessions/bulk", operationsOf(operations...)}
	return e
}

// recover holds what is stored against the journal, settles the request that
// had no answer, and repeats it where it has a key.
func (c *client) recover(bodies map[string]*session.Body) {
	c.t.Helper()
	done := false
	for id, now := range c.own {
		got := bodies[id]
		require.NotNil(c.t, got, "%s was acknowledged and is lost", id)
		if c.doubt != nil && c.doubt.sets[id].version != 0 && got.Version != now.version {
			now, done = c.doubt.sets[id], true
		}
		require.Equal(c.t, now, journaledOf(got), "client %d: %s", c.name, id)
		c.own[id] = now
	}
	if c.doubt == nil {
		return
	}
	c.doubts++
	if c.settle(bodies) || done {
		c.done++
	}
	c.doubt = nil
}

func journaledOf(b *session.Body) journaled {
	return journaled{title: b.Title, parent: b.Parent, version: b.Version, deleted: b.DeletedAt != nil}
}

// settle: the request without an answer is done whole or not at all; of a bulk
// that holds for each operation. With its key it is made again, and makes what
// it has not made yet.
func (c *client) settle(bodies map[string]*session.Body) (done bool) {
	c.t.Helper()
	e := c.doubt
	there := map[string]string{} // what it has made, by title
	for id, b := range bodies {
		for _, made := range e.creates {
			if made.title == b.Title {
				require.Empty(c.t, there[b.Title], "%q is there twice", b.Title)
				there[b.Title] = id
			}
		}
	}
	if len(e.creates) == 1 && e.creates[0].parent != "" {
		parent := e.creates[0].parent
		require.Equal(c.t, len(there) == 1, c.own[parent] == e.sets[parent], "a subsession without its parent's change")
	}
	if e.key == "" {
		return false
	}
	a := c.send(*e)
	require.Equal(c.t, http.StatusOK, a.Status, "%s again: %s", e, a.Body)
	c.try(*e, a)
	shown := quick(a.Body)
	for i, made := range e.creates {
		id := createdID(shown, i)
		require.Equal(c.t, made, c.own[id])
		if was := there[made.title]; was != "" {
			require.Equal(c.t, was, id, "%q was made again", made.title)
		}
	}
	return len(there) > 0
}

// createdID is the id of the nth session that an answer shows as made.
func createdID(body map[string]any, n int) string {
	results, ok := body["results"].([]any)
	if !ok {
		return body["id"].(string)
	}
	for _, result := range results {
		result := result.(map[string]any)
		if result["action"] != "create" {
			continue
		}
		if n == 0 {
			return result["id"].(string)
		}
		n--
	}
	return ""
}

// repeat makes an acknowledged request again and must get its first answer.
func (c *client) repeat() {
	c.t.Helper()
	if len(c.acked) == 0 {
		return
	}
	again := oneOf(c.r, c.acked)
	a := c.send(again.effect)
	require.Equal(c.t, http.StatusOK, a.Status, "%s again: %s", again.effect, a.Body)
	require.Equal(c.t, again.body, string(a.Body), "%s", again.effect)
	require.Equal(c.t, "true", a.Header.Get("Idempotent-Replayed"))
}

// once: a setting that was made, whether at the first time or when its request
// was repeated, is there once.
func (c *client) once(all dump) {
	c.t.Helper()
	there := map[string]int{}
	for _, item := range all.below(table.Event(c.s.Org, c.s.Event) + "#M") {
		stored := quick([]byte(item.data))
		name, _ := cmp.Or(stored["name"], stored["public_name"]).(string)
		there[name]++
	}
	for _, done := range c.acked {
		if name, ok := done.request.body.(map[string]any)["name"].(string); ok {
			require.Equal(c.t, 1, there[name], "%s", done.effect)
		}
	}
}
