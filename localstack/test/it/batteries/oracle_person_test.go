package batteries_test

import (
	"fmt"
	"slices"
	"strings"

	"lectern/localstack/test/it"
)

// roleOnEvent is where contacts or accounts of one role are written on one event.
type roleOnEvent struct {
	family *family[*member]
	event  int64
	role   string
}

// errand is one operation of a roleOnEvent, alone or in a bulk: what it is about, and
// what it changes of records that are there.
type errand struct {
	job
	action, id string
	data       map[string]any
	effect     map[string]int64
}

// person writes a contact or an account, or several at once.
func (w *writer) person() {
	o := roleOnEvent{w.m.contacts, it.OneOf(w.r, w.m.events), it.OneOf(w.r, []string{"contact", "contact", "sponsor", "exhibitor"})}
	if o.role != "contact" {
		o.family = w.m.accounts
	}
	if chance(w.r, 8) {
		w.people(o)
		return
	}
	e := w.errand(o)
	path := "/" + o.role + "s/" + e.id
	method := map[string]string{"update": "PUT", "delete": "DELETE", "restore": "POST", "create": "POST"}[e.action]
	switch e.action {
	case "create":
		path += "create"
	case "restore":
		path += "/restore"
	}
	var sent any
	if e.data != nil {
		sent = e.data
	}
	write(w, o.family, e.job, w.on(o.event, method, path, sent), func(body map[string]any) map[string]int64 {
		if e.action == "create" {
			e.effect[body["id"].(string)]++
		}
		w.checkMember(e.data, body)
		return e.effect
	})
}

// people does several errands in a bulk, some of them about the same record.
func (w *writer) people(o roleOnEvent) {
	var operations []any
	var errands []errand
	var all job
	for len(errands) < 6 {
		e := w.errand(o)
		if e.action == "restore" { // Which no bulk has.
			continue
		}
		operation := map[string]any{"action": e.action}
		if e.id != "" {
			operation["id"] = e.id
		}
		if e.data != nil {
			operation["data"] = e.data
		}
		operations, errands = append(operations, operation), append(errands, e)
		all.touched, all.marks, all.creates = append(all.touched, e.touched...), append(all.marks, e.marks...), all.creates+e.creates
	}
	do := w.on(o.event, "POST", "/"+o.role+"s/bulk", map[string]any{"operations": operations})
	write(w, o.family, all, do, func(body map[string]any) map[string]int64 {
		changed := map[string]int64{}
		for i, result := range body["results"].([]any) {
			w.bulkResult(operations[i].(map[string]any), result.(map[string]any), errands[i].effect, changed, w.checkMember)
		}
		return changed
	})
}

// errand draws an operation.
func (w *writer) errand(o roleOnEvent) errand {
	all := o.family.some(func(*member) bool { return true })
	here := o.family.some(func(m *member) bool { return m.holds(o.event, o.role) })
	gone := o.family.some(func(m *member) bool { return m.lost(o.event, o.role) })
	about := func(action, id string, data map[string]any) errand {
		return errand{job{touched: []string{id}, marks: marksOf(data)}, action, id, data, map[string]int64{id: 1}}
	}
	switch n := w.r.IntN(100); {
	case len(here) < 5, n < 20 && len(all) < w.most:
		return w.newcomer(o)
	case n < 35:
		return w.again(o, all)
	case n < 62:
		return about("update", it.OneOf(w.r, here), w.profile(o))
	case n < 65: // Mostly refused.
		return about("update", it.OneOf(w.r, all), w.profile(o))
	case n < 82 || len(gone) == 0:
		return about("delete", it.OneOf(w.r, here), nil)
	default:
		return about("restore", it.OneOf(w.r, gone), nil)
	}
}

// newcomer makes a record.
func (w *writer) newcomer(o roleOnEvent) errand {
	data := w.profile(o)
	if o.role == "contact" {
		data["email"] = w.address()
	} else {
		data["name"] = w.title()
	}
	return errand{job{creates: 1, marks: marksOf(data)}, "create", "", data, map[string]int64{}}
}

// again brings a record onto the event that is there or was, on this event or on
// another one. Who has an address may change until the create is done.
func (w *writer) again(o roleOnEvent, all []string) errand {
	id, data := it.OneOf(w.r, all), w.profile(o)
	e := errand{job{touched: []string{id}}, "create", "", data, map[string]int64{}}
	if o.role != "contact" {
		delete(data, "name")
		data["account_id"] = id
		return e
	}
	data["email"] = strings.ToUpper(o.family.state(id).values["email"])
	e.creates, e.marks = 1, marksOf(data)
	return e
}

func (w *writer) address() string {
	w.made++
	return fmt.Sprintf("%s-%d-%d@Example.org", it.OneOf(w.r, []string{"Ann", "bo", "CY"}), w.name, w.made)
}

// profile is what is written of a contact or an account: sometimes no more than the
// event's own field, which is not the record's.
func (w *writer) profile(o roleOnEvent) map[string]any {
	d := map[string]any{}
	some := func(n int, name string, value func() any) {
		if chance(w.r, n) {
			d[name] = value()
		}
	}
	text := func() any { return w.title() }
	some(2, "custom_fields", func() any { return map[string]any{noteField: w.title()} })
	if len(d) > 0 && chance(w.r, 2) {
		return d
	}
	if o.role != "contact" {
		some(3, "description", text)
		some(4, "contacts", func() any { return w.relations(o) })
		d["name"] = w.title()
		return d
	}
	some(3, "first_name", func() any { return it.OneOf(w.r, words) })
	some(3, "company", func() any { return it.OneOf(w.r, words) })
	some(6, "email", func() any { return w.address() })
	some(20, "email", func() any { return it.OneOf(w.r, w.addresses(o)) })
	d["last_name"] = w.title()
	return d
}

// addresses are those that contacts have, or a new one where there are none.
func (w *writer) addresses(o roleOnEvent) (all []string) {
	for _, id := range o.family.some(func(*member) bool { return true }) {
		all = append(all, o.family.state(id).values["email"])
	}
	return append(all, w.address())
}

// relations are contacts of an account.
func (w *writer) relations(o roleOnEvent) []any {
	list := []any{}
	for i, id := range w.any(w.m.contacts, o.event, "contact", 3) {
		list = append(list, map[string]any{"contact_id": id, "is_primary": i == 0})
	}
	return list
}

// any gives some who hold a role on an event.
func (w *writer) any(f *family[*member], event int64, role string, most int) []string {
	ids := f.some(func(m *member) bool { return m.holds(event, role) })
	w.r.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids[:min(w.r.IntN(most+1), len(ids))]
}

// addParticipants adds people and accounts to what is written of a session, of
// every kind at once now and then.
func (w *writer) addParticipants(d map[string]any) {
	event, crowd := w.m.events[0], chance(w.r, 6)
	if crowd || chance(w.r, 3) {
		list := []any{}
		for _, id := range w.any(w.m.contacts, event, "contact", 4) {
			list = append(list, w.seat(id))
		}
		d["participants"] = list
	}
	for _, role := range accountRoles {
		if crowd || chance(w.r, 6) {
			d[role+"_ids"] = append([]string{}, w.any(w.m.accounts, event, role, 3)...)
		}
	}
}

// seat is a contact in a role, each named in one of the ways there are.
func (w *writer) seat(id string) map[string]any {
	entry := map[string]any{"order": w.r.IntN(3)}
	if chance(w.r, 3) {
		entry["email"] = w.m.contacts.state(id).values["email"]
	} else {
		entry["contact_id"] = id
	}
	role := it.OneOf(w.r, w.m.roles)
	switch n := w.r.IntN(3); {
	case n == 0:
		entry["role_id"] = role.id
	case n == 1 && role.slug == role.core:
		entry["core_role"] = role.core
	default:
		entry["role_slug"] = role.slug
	}
	return entry
}

// marksOf are the marks of what is written: the address it is about, and the contacts
// that it brings onto a session.
func marksOf(draft map[string]any) (marks []string) {
	if email, ok := draft["email"].(string); ok {
		marks = append(marks, addressed(email))
	}
	people, _ := draft["participants"].([]any)
	for _, entry := range people {
		entry := entry.(map[string]any)
		if email, ok := entry["email"].(string); ok {
			marks = append(marks, invited(email))
		} else {
			marks = append(marks, seated(entry["contact_id"].(string)))
		}
	}
	return marks
}

// checkMember: the answer of a write shows what was written.
func (w *writer) checkMember(draft, answer map[string]any) {
	shown := shownMemberOf(answer)
	for name, sent := range draft {
		switch name {
		case "company":
			name = "company_name"
		case "custom_fields":
			name, sent = noteField, sent.(map[string]any)[noteField]
		case "contacts":
			continue
		case "account_id":
			name = "id"
		}
		if shown.values[name] != sent {
			w.t.Errorf("%s was written as %v and is answered as %v", name, sent, shown.values[name])
		}
	}
}

// checkFailure is checkRefused for an operation of a bulk of contacts, whose error
// is its message alone.
func (w *writer) checkFailure(message string) {
	known := []string{"Contact not found", "e-mail address"}
	if !slices.ContainsFunc(known, func(part string) bool { return strings.Contains(message, part) }) {
		w.t.Errorf("an operation of a bulk failed: %s", message)
	}
}
