package access_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// reference is a place in a request that names a record: by its id, or by the part
// of its address before the @.
type reference struct {
	collection string // what the record is among
	request    func(s *stacktest.Stack, id string) it.Request
}

// catalogued are records by their collection; accounts, addresses and roles count
// as collections too.
type catalogued map[string]string

// accounts is the collection of accounts in whatever role and on whatever event:
// another event's is no stranger there.
const accounts = "accounts"

func catalogue(t *testing.T, s *stacktest.Stack) catalogued {
	t.Helper()
	all := catalogued{"addresses": uuid.NewString()}
	for _, collection := range append([]string{"sessions", "statuses", "sponsors", "exhibitors"}, it.MetadataKinds...) {
		all[collection] = it.MustCreate(t, s, "/"+collection+"/create", it.SampleDraft(collection))
	}
	all["contacts"] = it.MustCreate(t, s, "/contacts/create", map[string]any{"email": all["addresses"] + "@example.org"})
	all[accounts] = all["sponsors"]
	all["roles"], _ = s.Operator(t, "participant-role-create", map[string]any{
		"org_id": s.Org, "event_id": s.Event, "name": "Juggler " + uuid.NewString(), "core_role": "speaker"})["id"].(string)
	require.NotEmpty(t, all["roles"])
	return all
}

// misplaced are the records of a catalogue where those of another kind are asked for.
func misplaced(own catalogued) []catalogued {
	people, companies := catalogued{}, catalogued{}
	for collection := range own {
		if collection != "addresses" {
			people[collection], companies[collection] = own["contacts"], own["exhibitors"]
		}
	}
	people["contacts"], companies["exhibitors"], companies[accounts] = own["sponsors"], own["sponsors"], own["sessions"]
	return []catalogued{people, companies}
}

// references are those in bodies and queries.
func references(own catalogued) []reference {
	r := &referencing{own: own}
	r.sessions()
	r.accounts()
	r.searches()
	return r.all
}

type referencing struct {
	own catalogued
	all []reference
}

func (r *referencing) add(collection, method, path string, body func(id string) any) {
	r.all = append(r.all, reference{collection, func(s *stacktest.Stack, id string) it.Request {
		asked := it.Request{Method: method, Path: s.EventPath(strings.ReplaceAll(path, "ID", id))}
		if body != nil {
			asked.Body = body(id)
		}
		return asked
	}})
}

// written adds a property to every write of the records.
func (r *referencing) written(records, collection string, data func(id string) map[string]any) {
	r.add(collection, "POST", "/"+records+"/create", func(id string) any { return data(id) })
	r.add(collection, "PUT", "/"+records+"/"+r.own[records], func(id string) any { return data(id) })
	r.add(collection, "POST", "/"+records+"/bulk", func(id string) any {
		return it.BulkOf(map[string]any{"action": "create", "data": data(id)}, map[string]any{"action": "update", "id": r.own[records], "data": data(id)})
	})
}

func (r *referencing) sessions() {
	for property, collection := range map[string]string{
		"track_id": "tracks", "room_id": "rooms", "level_id": "levels", "format_id": "formats", "language_id": "languages",
		"custom_status_id": "statuses", "parent_session_id": "sessions",
	} {
		r.written("sessions", collection, func(id string) map[string]any { return map[string]any{"title": "A title", property: id} })
	}
	for property, collection := range map[string]string{"tag_ids": "tags", "sponsor_ids": "sponsors", "exhibitor_ids": "exhibitors"} {
		r.written("sessions", collection, func(id string) map[string]any { return map[string]any{"title": "A title", property: []string{id}} })
	}
	for collection, entry := range map[string]func(id string) map[string]any{
		"contacts": func(id string) map[string]any { return map[string]any{"contact_id": id, "core_role": "speaker"} },
		"addresses": func(id string) map[string]any {
			return map[string]any{"email": id + "@example.org", "core_role": "speaker"}
		},
		"roles": func(id string) map[string]any { return map[string]any{"contact_id": r.own["contacts"], "role_id": id} },
	} {
		r.written("sessions", collection, func(id string) map[string]any {
			return map[string]any{"title": "A title", "participants": []any{entry(id)}}
		})
	}
}

func (r *referencing) accounts() {
	for _, role := range []string{"sponsors", "exhibitors"} {
		for collection, entry := range map[string]func(id string) map[string]any{
			"contacts":  func(id string) map[string]any { return map[string]any{"contact_id": id} },
			"addresses": func(id string) map[string]any { return map[string]any{"email": id + "@example.org"} },
		} {
			r.written(role, collection, func(id string) map[string]any {
				return map[string]any{"name": "A name", "contacts": []any{entry(id)}}
			})
		}
		named := func(id string) any { return map[string]any{"account_id": id} }
		r.add(accounts, "POST", "/"+role+"/create", named)
		r.add(accounts, "POST", "/"+role+"/bulk", func(id string) any {
			return it.BulkOf(map[string]any{"action": "create", "data": named(id)})
		})
	}
	for _, k := range it.Kinds {
		r.add(k.Collection, "POST", "/"+k.Collection+"/bulk", func(id string) any {
			return it.BulkOf(map[string]any{"action": "update", "id": id, "data": k.WithText("Taken")}, map[string]any{"action": "delete", "id": id})
		})
	}
}

func (r *referencing) searches() {
	filter := func(name string, value func(id string) any) func(id string) any {
		return func(id string) any { return map[string]any{"filters": map[string]any{name: value(id)}} }
	}
	listed := func(id string) any { return []string{id} }
	address := func(id string) any { return id + "@example.org" }
	for name, collection := range map[string]string{"track": "tracks", "level": "levels", "format": "formats", "language": "languages", "tag": "tags"} {
		for _, path := range []string{"/sessions", "/sessions/status", "/speakers", "/participants"} {
			r.add(collection, "POST", path, filter(name+"Ids", listed))
		}
		r.add(collection, "GET", "/sessions?"+name+"_id=ID", nil)
		r.add(collection, "GET", "/sessions?"+name+"_ids=ID", nil)
	}
	for _, path := range []string{"/contacts", "/speakers", "/participants"} {
		r.add("addresses", "POST", path, filter("search", address))
	}
	r.add("roles", "POST", "/participants", filter("roleIds", listed))
	r.add("addresses", "POST", "/participants", filter("email", address))
	r.add("addresses", "GET", "/participants?email=ID@example.org", nil)
	r.add("sessions", "GET", "/sessions?search=ID", nil)
}

var batchID = regexp.MustCompile(`"batch_id":"[^"]+"`)

// nameless is an answer without what differs by the id that was asked for.
func nameless(a stacktest.Answer, id string) it.StableAnswer {
	p := it.Stable(a)
	p.Body = strings.ReplaceAll(batchID.ReplaceAllString(p.Body, ""), id, "ID")
	p.Header.Del("Etag")
	return p
}

// TestForeignReferences names records of somebody else, and own ones of another
// kind, inside requests that are otherwise the caller's own. Each answer is that of
// an unknown id.
func TestForeignReferences(t *testing.T) {
	s, engine := it.StartWithEngine(t, nil, stacktest.Features("sessions_2_0"))
	foreign := catalogue(t, s.NewOrganization(t, "sessions_2_0"))
	elsewhere := catalogue(t, s.In(s.NewEvent(t, "sessions_2_0")))
	own, others := catalogue(t, s), misplaced(catalogue(t, s))
	delete(elsewhere, accounts)
	before := engine.Dump(t)
	calls := 0
	for _, r := range references(own) {
		want := nameless(r.request(s, it.UnknownID).Send(t, s), it.UnknownID)
		for _, theirs := range slices.Concat([]catalogued{foreign, elsewhere}, others) {
			if id := theirs[r.collection]; id != "" {
				asked := r.request(s, id)
				require.Equal(t, want, nameless(asked.Send(t, s), id), "%s", asked)
				calls++
			}
		}
	}
	require.Equal(t, settled(before, s), settled(engine.Dump(t), s))
	t.Logf("%d calls", calls)
}

// settled is a dump without limits, which count every call, and the running
// numbers, which a refused create may use up.
func settled(d it.Dump, s *stacktest.Stack) it.Dump {
	kept := maps.Clone(d)
	for key := range kept {
		number := key.PK == table.Event(s.Org, s.Event)+"#N#session" || strings.HasPrefix(key.PK, table.Org(s.Org)+"#N#")
		if number || strings.HasPrefix(key.PK, "L#") {
			delete(kept, key)
		}
	}
	return kept
}
