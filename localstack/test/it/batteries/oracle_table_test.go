package batteries_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/localstack/test/it"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/table"
)

// prepare makes what the writers need: a second event, a field of its own for each,
// and a custom role.
func (o *oracleRun) prepare() {
	s := o.at[0]
	o.m.events = []int64{s.Event, s.NewEvent(o.t, "sessions_2_0")}
	for _, event := range o.m.events {
		for _, module := range []string{"contact", "account"} {
			o.notes[it.MustCreate(o.t, s.In(event), "/fields/create", map[string]any{"name": noteField, "type": "text", "module_id": module})] = true
		}
	}
	at := map[string]any{"org_id": s.Org, "event_id": s.Event}
	role := map[string]any{"org_id": s.Org, "event_id": s.Event, "name": "Panelist", "core_role": "speaker", "order": 2}
	s.Operator(o.t, "participant-role-create", role)
	for _, role := range s.Operator(o.t, "participant-role-list", at)["results"].([]any) {
		role := role.(map[string]any)
		o.m.roles = append(o.m.roles, sessionRole{role["id"].(string), role["slug"].(string), role["core_role"].(string)})
	}
	o.m.sessions.read = func(id string) *state { return o.sessionIn(o.items(o.sessionKey(id)), id) }
	o.m.contacts.read = func(id string) *member { return o.memberIn(o.items(o.memberKeys(ofContact, id)...), ofContact, id) }
	o.m.accounts.read = func(id string) *member { return o.memberIn(o.items(o.memberKeys(ofAccount, id)...), ofAccount, id) }
}

// reload holds the model against all records of the table, when nobody writes.
func (o *oracleRun) reload() (problems []string) {
	all := o.engine.Dump(o.t)
	org, event := table.Org(o.at[0].Org), table.Event(o.at[0].Org, o.at[0].Event)
	problems = o.m.sessions.reload(rowsOf(all, event+"#RS", func(id string) *state { return o.sessionIn(all, id) }))
	problems = append(problems, o.m.contacts.reload(rowsOf(all, org+"#RC", func(id string) *member { return o.memberIn(all, ofContact, id) }))...)
	problems = append(problems, o.m.accounts.reload(rowsOf(all, org+"#RA", func(id string) *member { return o.memberIn(all, ofAccount, id) }))...)
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	clear(o.m.marks) // Writes without a certain outcome have one now.
	return problems
}

// rowsOf gives every record that has a row in a partition.
func rowsOf[S versioned](all it.Dump, rows string, read func(id string) S) map[string]S {
	found := map[string]S{}
	for key := range all {
		if key.PK == rows {
			id := key.SK[len("00#"):]
			found[id] = read(id)
		}
	}
	return found
}

// items reads items as they stand together, once all of them can be seen by
// everyone: a transaction's become visible one by one.
func (o *oracleRun) items(keys ...table.Key) it.Dump {
	for {
		together := snapshot(o.engine, o.t, keys)
		seen, err := o.at[0].Table(o.t).GetMany(context.Background(), keys)
		if err != nil && !errors.Is(err, table.ErrBusy) {
			o.t.Errorf("read %v: %v", keys, err)
			return together
		}
		settled := err == nil
		for _, key := range keys {
			settled = settled && seen[key].Version == together[key].Version
		}
		if settled {
			return together
		}
		time.Sleep(time.Millisecond)
	}
}

// decoded reads an item's text into a T.
func decoded[T any](o *oracleRun, item it.DumpedItem) *T {
	into := new(T)
	if err := json.Unmarshal([]byte(item.Data), into); err != nil {
		o.t.Errorf("read %q: %v", item.Data, err)
	}
	return into
}

// sessionKey is where a session is.
func (o *oracleRun) sessionKey(id string) table.Key {
	return table.Key{PK: table.Event(o.at[0].Org, o.at[0].Event) + "#S#" + id, SK: "B"}
}

// sessionIn gives a session, deleted or not.
func (o *oracleRun) sessionIn(all it.Dump, id string) *state {
	item := all[o.sessionKey(id)]
	body := decoded[session.Body](o, item)
	body.Version = item.Version
	return stateOf(body)
}

// ofContact and ofAccount begin the keys and the friendly ids of members.
var (
	ofContact = [2]string{"#C#", "CONT-"}
	ofAccount = [2]string{"#A#", "ACCT-"}
)

// memberKeys are where a member and its associations are.
func (o *oracleRun) memberKeys(kind [2]string, id string) []table.Key {
	partition := table.Org(o.at[0].Org) + kind[0] + id
	keys := []table.Key{{PK: partition, SK: "B"}}
	for _, event := range o.m.events {
		keys = append(keys, table.Key{PK: partition, SK: fmt.Sprintf("E#%d", event)})
	}
	return keys
}

// memberIn gives a contact or an account with its associations.
func (o *oracleRun) memberIn(all it.Dump, kind [2]string, id string) *member {
	keys := o.memberKeys(kind, id)
	body := decoded[party.Body](o, all[keys[0]])
	body.Version = all[keys[0]].Version
	var here []*party.Association
	for _, key := range keys[1:] {
		if item, there := all[key]; there {
			here = append(here, decoded[party.Association](o, item))
		}
	}
	return memberOf(kind[1], body, here, o.notes)
}
