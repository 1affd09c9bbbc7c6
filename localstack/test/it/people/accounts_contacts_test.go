package people_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

func TestAccountShowsItsContacts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		profile := object{
			"first_name": "Ann", "last_name": "Lee", "photo_url": "https://example.org/ann.png", "company_name": "Acme", "title": "CEO", "about": "<p>x</p>",
		}
		ann, bob := s.NewContact("ann@example.org", profile), s.NewContact("bob@example.org")
		made := s.create(200, object{"name": "A", "contacts": []object{
			{"contact_id": strings.ToUpper(bob.ID())}, {"email": " ANN@example.org ", "is_primary": true},
		}})
		shown := made.List("contacts")
		require.Equal(t, entity(it.Merged(profile, object{
			"id": ann.ID(), "friendly_id": "CONT-1", "friendly_id_raw": 1.0, "full_name": "Ann Lee", "email": "ann@example.org", "is_primary": true,
			"contact_created_at": ann["created_at"], "contact_updated_at": ann["updated_at"],
			"relationship_created_at": made["created_at"], "relationship_updated_at": made["created_at"],
		})), shown[0], "the primary one is first")
		require.Equal(t, bob.ID(), shown[1].ID())
		require.Equal(t, false, shown[1]["is_primary"])
		for _, name := range []string{"full_name", "first_name", "last_name", "photo_url", "company_name", "title", "about"} {
			require.Contains(t, shown[1], name)
			require.Nil(t, shown[1][name])
		}
		require.Equal(t, made, s.get(200, made.ID()))
		require.Equal(t, []entity{made}, s.search(object{}).Results)
		require.Equal(t, shown, s.other().takes(200, made.ID()).List("contacts"), "both roles show the same")
		changed := s.Do(200, "PUT", "/contacts/"+ann.ID(), object{"title": "Chair"})
		for _, r := range []entity{s.get(200, made.ID()), s.search(object{}).Results[0]} {
			require.Equal(t, "Chair", r.List("contacts")[0]["title"])
			require.Equal(t, changed["updated_at"], r.List("contacts")[0]["contact_updated_at"])
			require.Equal(t, made["created_at"], r.List("contacts")[0]["relationship_updated_at"])
		}
	})
}

func TestAccountContactsAreReplacedAsAList(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann, bob := s.NewContact("ann@example.org").ID(), s.NewContact("bob@example.org").ID()
		of := func(id string, primary bool) object { return object{"contact_id": id, "is_primary": primary} }
		made := s.create(200, object{"name": "A", "contacts": []object{of(ann, true), of(bob, false)}})
		id, first := made.ID(), made.Text("updated_at")
		moved := s.put(200, id, object{"contacts": []object{of(ann, false), of(bob, false)}}).List("contacts")
		byID := func(contacts []entity, id string) entity { return it.ByID(t, contacts, id) }
		require.Equal(t, first, byID(moved, ann)["relationship_created_at"])
		require.Greater(t, byID(moved, ann)["relationship_updated_at"], first, "is_primary changed")
		require.Equal(t, first, byID(moved, bob)["relationship_updated_at"], "nothing changed")
		require.Equal(t, moved, s.put(200, id, object{"name": "B"}).List("contacts"), "what is not sent stays")
		require.Equal(t, moved, s.other().takes(200, id).List("contacts"))

		less := s.bulk(it.Updating(id, object{"contacts": []object{of(bob, true)}})).Data(t, 0).List("contacts")
		require.Equal(t, []string{bob}, it.Texts(less, "id"))
		require.Equal(t, first, less[0]["relationship_created_at"])
		require.Greater(t, less[0]["relationship_updated_at"], first)
		again := s.put(200, id, object{"contacts": []object{of(bob, true), {"email": "ann@example.org"}}}).List("contacts")
		require.Equal(t, less[0], again[0])
		require.Greater(t, again[1]["relationship_created_at"], byID(moved, ann)["relationship_updated_at"], "one that comes back is new")
		require.Equal(t, []any{}, s.put(200, id, object{"contacts": []object{}})["contacts"])
		require.Equal(t, []any{}, s.other().get(200, id)["contacts"])
	})
}

func TestWrongAccountContacts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann, gone := s.NewContact("ann@example.org"), s.NewContact("gone@example.org")
		s.DeleteRecord("contacts", gone.ID())
		far := s.elsewhere().NewContact("far@example.org")
		id := s.create(200, object{"name": "A", "contacts": []object{{"contact_id": ann.ID()}}}).ID()
		kept := s.get(200, id)
		first := object{"contact_id": ann.ID(), "is_primary": true}
		for _, c := range []struct {
			field string
			entry any
		}{
			{"contacts[1].contact_id", object{"contact_id": far.ID()}}, {"contacts[1].email", object{"email": "far@example.org"}},
			{"contacts[1].contact_id", object{"contact_id": gone.ID()}}, {"contacts[1].email", object{"email": "gone@example.org"}},
			{"contacts[1].contact_id", object{"contact_id": uuid.NewString()}}, {"contacts[1].contact_id", object{"contact_id": id}},
			{"contacts[1].email", object{"email": "nobody@example.org"}}, {"contacts[1].contact_id", object{"contact_id": "x"}},
			{"contacts[1].contact_id", object{"contact_id": nil}}, {"contacts[1].email", object{"email": nil}}, {"contacts[1].email", object{"email": 1}},
			{"contacts[1].contact_id", object{}}, {"contacts[1].email", object{"contact_id": ann.ID(), "email": "ann@example.org"}},
			{"contacts[1].contact_id", object{"contact_id": ann.ID()}}, {"contacts[1].email", object{"email": "Ann@Example.org"}},
			{"contacts[1].is_primary", object{"contact_id": ann.ID(), "is_primary": true}},
			{"contacts[1].is_primary", object{"contact_id": ann.ID(), "is_primary": "yes"}},
			{"contacts[1].is_primary", object{"contact_id": ann.ID(), "is_primary": nil}}, {"contacts[1]", "ann@example.org"}, {"contacts[1]", nil},
		} {
			body := object{"contacts": []any{first, c.entry}}
			it.RequireInvalid(t, s.put(400, id, body), c.field)
			it.RequireInvalid(t, s.create(400, it.Merged(body, object{"name": "B"})), c.field)
			it.RequireInvalid(t, s.other().takes(400, id, body), c.field)
			s.bulk(it.Updating(id, body)).Failed(t, 0, "VALIDATION_ERROR", c.field)
		}
		many := make([]object, 101)
		for i := range many {
			many[i] = object{"contact_id": uuid.NewString()}
		}
		for _, wrong := range []any{nil, "x", object{}, many} {
			it.RequireInvalid(t, s.put(400, id, object{"contacts": wrong}), "contacts")
		}
		require.Equal(t, kept, s.get(200, id))
		require.Equal(t, 1, s.search(object{}).Pagination.TotalResults)
		require.Zero(t, s.other().search(object{}).Pagination.TotalResults)
	})
}

func TestAccountContactsAreHiddenWithoutTheirScope(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann := s.NewContact("ann@example.org").ID()
		made := s.create(200, object{"name": "A", "contacts": []object{{"contact_id": ann}}})
		id := made.ID()
		require.Contains(t, s.with("read:contacts").get(200, id), "contacts")
		require.Contains(t, s.as(s.TokenWith(t, object{"kind": "legacy"})).get(200, id), "contacts", "a legacy token reads all")
		blind := s.with("read:events")
		writer := s.with(s.writer())
		bare := lacking(made, "contacts")
		for _, r := range []entity{
			blind.get(200, id), blind.search(object{}).Results[0], without(writer.put(200, id, object{"contacts": []object{{"email": "ann@example.org"}}}), made),
			without(writer.bulk(it.Updating(id, object{"description": nil})).Data(t, 0), made), lacking(without(writer.remove(200, id), made), "deleted_at"),
			without(writer.restore(200, id), made),
		} {
			require.Equal(t, bare, r)
		}
		require.Equal(t, made["contacts"], s.get(200, id)["contacts"], "it wrote what it does not see")
		require.NotContains(t, writer.create(200, object{"name": "B", "contacts": []object{{"contact_id": ann}}}), "contacts")
	})
}

// lacking is the record without a property that it must have.
func lacking(r entity, name string) entity {
	rest := it.Merged(r)
	delete(rest, name)
	return rest
}

func TestADeletedContactIsHiddenUntilItIsRestored(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		ann, bob := s.NewContact("ann@example.org").ID(), s.NewContact("bob@example.org").ID()
		made := s.create(200, object{"name": "A", "contacts": []object{{"contact_id": ann}, {"contact_id": bob}}})
		shown := func() [][]string {
			return [][]string{
				it.Texts(s.get(200, made.ID()).List("contacts"), "id"), it.Texts(s.search(object{}).Results[0].List("contacts"), "id"),
			}
		}
		s.DeleteRecord("contacts", ann)
		require.Equal(t, [][]string{{bob}, {bob}}, shown())
		s.put(200, made.ID(), object{"name": "B"})
		s.RestoreRecord("contacts", ann)
		require.Equal(t, [][]string{{ann, bob}, {ann, bob}}, shown(), "it has its place again")
		require.Equal(t, made["created_at"], s.get(200, made.ID()).List("contacts")[0]["relationship_created_at"])

		s.DeleteRecord("contacts", ann)
		s.put(200, made.ID(), object{"contacts": []object{{"contact_id": bob}}})
		s.RestoreRecord("contacts", ann)
		require.Equal(t, [][]string{{ann, bob}, {ann, bob}}, shown(), "a new list replaces what could be seen")
	})
}

// TestAWriteShowsTheTextsThatFit has an account whose contacts say more about themselves than the
// answer of a bulk keeps of an account, and less than 5 MB.
func TestAWriteShowsTheTextsThatFit(t *testing.T) {
	d := it.NewClient(t)
	var operations, contacts []object
	for i := range 50 {
		email := fmt.Sprintf("writer%d@example.org", i)
		operations = append(operations, object{"action": "create", "data": object{"email": email, "about": strings.Repeat("words ", 8000)}})
		contacts = append(contacts, object{"email": email})
	}
	d.BulkUnder("/contacts/bulk", "", operations...)
	create := func() entity {
		body := stacktest.WithHeaders(object{"name": "A", "contacts": contacts}, it.KeyHeader, "k")
		return d.Call(t, 200, "POST", d.EventPath("/sponsors/create"), body).JSON(t)
	}
	made := create()
	path := d.EventPath("/sponsors/" + made.ID())
	read := entity(d.Call(t, 200, "GET", path, nil).JSON(t))
	require.NotContains(t, read, "omitted")
	require.Len(t, read.List("contacts")[49]["about"], 48_000)
	require.Equal(t, read, made)
	require.Equal(t, read, create(), "a repetition of the request")
	changed := entity(d.Call(t, 200, "PUT", path, object{"description": "New."}).JSON(t))
	require.Equal(t, read["contacts"], changed["contacts"])
	inBulk := d.BulkUnder("/sponsors/bulk", "", it.Updating(made.ID(), object{"description": "Newer."})).Data(t, 0)
	require.Equal(t, []any{"contacts.about"}, inBulk["omitted"])
	require.Len(t, inBulk.List("contacts"), 50)
}

// TestAnAccountOfManyWordsCanBeRead has contacts that say more about themselves than an
// answer can hold.
func TestAnAccountOfManyWordsCanBeRead(t *testing.T) {
	d := it.NewClient(t)
	var operations, contacts []object
	for i := range 100 {
		email := fmt.Sprintf("talkative%d@example.org", i)
		operations = append(operations, object{"action": "create", "data": object{"email": email, "about": strings.Repeat([]string{"words ", "\"\"\"\"\"\"", "\x01\x01"}[i%3], 10_000)}})
		contacts = append(contacts, object{"email": email})
	}
	for part := range slices.Chunk(operations, 25) {
		d.BulkUnder("/contacts/bulk", "", part...)
	}
	made := entity(d.Call(t, 200, "POST", d.EventPath("/sponsors/create"), object{"name": "A", "contacts": contacts}).JSON(t))
	read := entity(d.Call(t, 200, "GET", d.EventPath("/sponsors/"+made.ID()), nil).JSON(t))
	require.Equal(t, made["contacts"], read["contacts"])
	require.Equal(t, []any{"contacts.about"}, read["omitted"])
	both := entity(d.Call(t, 200, "GET", d.EventPath("/sponsors/"+made.ID()+"?expand=translated_fields"), nil).JSON(t))
	require.Equal(t, []any{"contacts.about"}, both["omitted"], "an expansion is omitted after that, and only where needed")
	require.Contains(t, both, "translated_fields")
	require.Len(t, read.List("contacts"), 100)
	for _, c := range read.List("contacts") {
		require.Nil(t, c["about"])
		require.NotEmpty(t, c["email"])
	}
	d.Call(t, 200, "POST", d.EventPath("/sponsors?pageSize=1"), nil)
}

// TestAccountsOfManyEscapes have contacts with 6 MB of texts, which are 36 MB of JSON: a page of
// them is refused with a size that is answered.
func TestAccountsOfManyEscapes(t *testing.T) {
	d := it.NewClient(t)
	for _, name := range []string{"A", "B", "C"} {
		var contacts []object
		for part := range 4 {
			operations := make([]object, 25)
			for i := range operations {
				email := fmt.Sprintf("%s%d-%d@example.org", name, part, i)
				operations[i] = it.Creating(object{"email": email, "about": strings.Repeat("\x01", 20_000)})
				contacts = append(contacts, object{"email": email})
			}
			d.BulkUnder("/contacts/bulk", "", operations...)
		}
		d.Call(t, 200, "POST", d.EventPath("/sponsors/create"), object{"name": name, "contacts": contacts})
	}
	refusal := d.Call(t, 400, "POST", d.EventPath("/sponsors"), object{}).JSON(t)
	it.RequireInvalid(t, refusal, "pageSize")
	require.Equal(t, "The answer would be larger than 30 MB; without Accept-Encoding: gzip the limit is 5 MB. Ask again with a pageSize of 1 or less.",
		refusal["message"])
	require.Len(t, d.Call(t, 200, "POST", d.EventPath("/sponsors?pageSize=1"), object{}).JSON(t)["results"], 1)
	packed := func(status int, size string) stacktest.Answer {
		return d.Call(t, status, "POST", d.EventPath("/sponsors?pageSize="+size), stacktest.WithHeaders(object{}, "Accept", "*/*", "Accept-Encoding", "gzip"))
	}
	it.RequireInvalid(t, packed(400, "3").JSON(t), "pageSize")
	require.Contains(t, string(packed(400, "3").Body), "pageSize of 2 or less")
	require.Equal(t, "gzip", packed(200, "2").Header.Get("Content-Encoding"))
}
