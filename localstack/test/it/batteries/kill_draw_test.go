package batteries_test

import (
	"slices"
	"strings"

	"lectern/localstack/test/it"
)

// draw makes the next operation.
func (c *client) draw() effect {
	kind := it.OneOf(c.r, append([]string{"sessions"}, journalKinds...))
	live := c.pick(func(j journaled) bool { return j.kind == kind && !j.deleted })
	top := c.pick(func(j journaled) bool { return j.kind == kind && !j.deleted && j.parent == "" })
	gone := c.pick(func(j journaled) bool { return j.kind == kind && j.deleted && !c.own[j.parent].deleted })
	childless := slices.DeleteFunc(slices.Clone(live), func(id string) bool {
		return len(c.pick(func(j journaled) bool { return j.parent == id && !j.deleted })) > 0
	})
	switch n := c.r.IntN(12); {
	case len(top) < 3 || n < 3:
		return c.create(kind, "")
	case n < 5 && kind == "sessions":
		return c.create(kind, it.OneOf(c.r, slices.DeleteFunc(top, func(id string) bool {
			return len(c.pick(func(j journaled) bool { return j.parent == id })) >= 20
		})))
	case n < 7:
		return c.update(it.OneOf(c.r, live))
	case n < 8:
		return c.turn(it.OneOf(c.r, childless), "DELETE", "", true)
	case n < 9 && len(gone) > 0:
		return c.turn(it.OneOf(c.r, gone), "POST", "/restore", false)
	case n < 11:
		return c.bulk(kind, live)
	}
	return c.setting()
}

// setting makes an entry of metadata, a status or a field.
func (c *client) setting() effect {
	kind := it.OneOf(c.r, append(slices.Clone(it.MetadataKinds), "statuses", "fields"))
	body := map[string]any{"name": c.title()}
	if kind == "fields" {
		body["type"], body["module_id"] = "text", "session"
	}
	return effect{Request: it.Request{Method: "POST", Path: "/" + kind + "/create", Body: body}, key: c.title()}
}

// update gives a record a new title, and a contact sometimes a new address.
func (c *client) update(id string) effect {
	data, now := c.change(id)
	return effect{Request: it.Request{Method: "PUT", Path: "/" + now.kind + "/" + id, Body: data}, sets: map[string]journaled{id: now}}
}

func (c *client) change(id string) (data map[string]any, now journaled) {
	now = c.own[id].next()
	now.title = c.title()
	data = titled(now.kind, now.title)
	if now.kind == "contacts" && chance(c.r, 2) {
		now.email = c.address()
		data["email"] = now.email
	}
	return data, now
}

// turn deletes or restores a record, which changes the parent of one that has one.
func (c *client) turn(id, method, rest string, deleted bool) effect {
	now := c.own[id].next()
	now.deleted = deleted
	e := effect{Request: it.Request{Method: method, Path: "/" + now.kind + "/" + id + rest, Body: nil}, sets: map[string]journaled{id: now}}
	if now.parent != "" {
		e.sets[now.parent] = c.own[now.parent].next()
	}
	return e
}

func (j journaled) next() journaled {
	j.version++
	return j
}

func (c *client) create(kind, parent string) effect {
	body, made := c.newcomer(kind)
	made.parent = parent
	e := effect{Request: it.Request{Method: "POST", Path: "/" + kind + "/create", Body: body}, key: c.title(), creates: []journaled{made}}
	if parent != "" {
		body["parent_session_id"] = parent
		e.sets = map[string]journaled{parent: c.own[parent].next()}
	}
	return e
}

// newcomer is a new record: a contact with its address, a session with people.
func (c *client) newcomer(kind string) (data map[string]any, made journaled) {
	made = journaled{kind: kind, title: c.title(), version: 1}
	data = titled(kind, made.title)
	switch kind {
	case "contacts":
		made.email = c.address()
		data["email"] = made.email
	case "sessions":
		people := c.pick(func(j journaled) bool { return j.kind == "contacts" && !j.deleted })
		people = people[:min(len(people), c.r.IntN(4))]
		made.participants = strings.Join(people, " ")
		entries := []any{}
		for _, id := range people {
			entries = append(entries, map[string]any{"contact_id": id, "core_role": "speaker"})
		}
		data["participants"] = entries
	}
	return data, made
}

func (c *client) address() string { return strings.ReplaceAll(c.title(), " ", "-") + "@example.org" }

// bulk makes some records and changes others, each once.
func (c *client) bulk(kind string, live []string) effect {
	e := effect{key: c.title(), sets: map[string]journaled{}}
	var operations []any
	for range 1 + c.r.IntN(20) {
		if id := it.OneOf(c.r, live); e.sets[id].version == 0 && chance(c.r, 2) {
			data, now := c.change(id)
			e.sets[id] = now
			operations = append(operations, map[string]any{"action": "update", "id": id, "data": data})
			continue
		}
		data, made := c.newcomer(kind)
		e.creates = append(e.creates, made)
		operations = append(operations, map[string]any{"action": "create", "data": data})
	}
	e.Request = it.Request{Method: "POST", Path: "/" + kind + "/bulk", Body: it.BulkOf(operations...)}
	return e
}
