package batteries_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// journaled is what a client knows of a record of its own: in which collection it
// is, and what was written of it.
type journaled struct {
	kind, title, parent string
	// email is that of a contact, participants the people of a session.
	email, participants string
	version             int64
	deleted             bool
}

// journalKinds are the collections that clients write records of. An account is
// written in one role alone.
var journalKinds = []string{"sessions", "contacts", "sponsors", "exhibitors"}

// titled is a body with the title, under the name that it has in the collection.
func titled(kind, title string) map[string]any {
	name := map[string]string{"sessions": "title", "contacts": "first_name"}[kind]
	return map[string]any{cmp.Or(name, "name"): title}
}

// effect is what an operation does once it is done: what becomes of records that
// are there, and records that are made.
type effect struct {
	it.Request
	key     string
	sets    map[string]journaled // by id
	creates []journaled
}

// replayable is an acknowledged request that can be made again.
type replayable struct {
	effect
	body string
}

// client writes records that nobody else writes, and keeps a journal of what
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
		e.Path = c.s.EventPath(e.Path)
		c.try(e, c.send(e))
	}
}

func (c *client) send(e effect) stacktest.Answer {
	var header []string
	if e.key != "" {
		header = []string{"Idempotency-Key", e.key}
	}
	a, err := c.s.Send(c.t, e.Method, e.Path, stacktest.WithHeaders(e.Body, header...))
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
		c.note(e, it.DecodeObject(a.Body))
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
// succeeded, since nobody else writes these records.
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

// pick gives the ids of own records that keep holds for, in a fixed order.
func (c *client) pick(keep func(journaled) bool) []string {
	return keysWhere(c.own, keep)
}

// recover holds what is stored against the journal, settles the request that
// had no answer, and repeats it where it has a key.
func (c *client) recover(stored map[string]journaled) {
	c.t.Helper()
	done := false
	for id, now := range c.own {
		got, there := stored[id]
		require.True(c.t, there, "%s was acknowledged and is lost", id)
		if c.doubt != nil && c.doubt.sets[id].version != 0 && got.version != now.version {
			now, done = c.doubt.sets[id], true
		}
		require.Equal(c.t, now, got, "client %d: %s", c.name, id)
		c.own[id] = now
	}
	if c.doubt == nil {
		return
	}
	c.doubts++
	if c.settle(stored) || done {
		c.done++
	}
	c.doubt = nil
}

// settle: the request without an answer is done whole or not at all; of a bulk
// that holds for each operation. With its key it is made again, and makes what
// it has not made yet.
func (c *client) settle(stored map[string]journaled) (done bool) {
	c.t.Helper()
	e := c.doubt
	there := map[string]string{} // what it has made, by title
	for id, now := range stored {
		for _, made := range e.creates {
			if made.title == now.title {
				require.Empty(c.t, there[now.title], "%q is there twice", now.title)
				there[now.title] = id
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
	shown := it.DecodeObject(a.Body)
	for i, made := range e.creates {
		id := createdID(shown, i)
		require.Equal(c.t, made, c.own[id])
		if was := there[made.title]; was != "" {
			require.Equal(c.t, was, id, "%q was made again", made.title)
		}
	}
	return len(there) > 0
}

// createdID is the id of the nth record that an answer shows as made.
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

// shown is what a repetition shows as the first answer did, whatever was done to the
// records since: which they are, and how the operations of a bulk came out.
func shown(body map[string]any) (told []string) {
	results, ok := body["results"].([]any)
	if !ok {
		return []string{fmt.Sprint(body["id"])}
	}
	for _, result := range results {
		result := result.(map[string]any)
		told = append(told, fmt.Sprint(result["index"], result["action"], result["status"], result["id"]))
	}
	return append(told, fmt.Sprint(body["batch_id"]))
}

// repeat makes an acknowledged request again and must get what it made then.
func (c *client) repeat() {
	c.t.Helper()
	if len(c.acked) == 0 {
		return
	}
	again := it.OneOf(c.r, c.acked)
	a := c.send(again.effect)
	require.Equal(c.t, http.StatusOK, a.Status, "%s again: %s", again.effect, a.Body)
	require.Equal(c.t, shown(it.DecodeObject([]byte(again.body))), shown(it.DecodeObject(a.Body)), "%s", again.effect)
	require.Equal(c.t, "true", a.Header.Get("Idempotent-Replayed"))
}

// once: a setting that was made, whether at the first time or when its request
// was repeated, is there once.
func (c *client) once(all it.Dump) {
	c.t.Helper()
	there := map[string]int{}
	for _, item := range all.Below(table.Event(c.s.Org, c.s.Event) + "#M") {
		stored := it.DecodeObject([]byte(item.Data))
		name, _ := cmp.Or(stored["name"], stored["public_name"]).(string)
		there[name]++
	}
	for _, done := range c.acked {
		if name, ok := done.Body.(map[string]any)["name"].(string); ok && len(done.creates) == 0 {
			require.Equal(c.t, 1, there[name], "%s", done.effect)
		}
	}
}
