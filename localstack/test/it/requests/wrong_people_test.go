package requests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// assembly is a world with people and companies to make mistakes on.
type assembly struct {
	*targets
	// live and gone are a record and a deleted one of each kind.
	live, gone map[string]string
}

func newAssembly(t *testing.T) *assembly {
	t.Helper()
	c := &assembly{newTargets(t), map[string]string{}, map[string]string{}}
	for _, k := range partyRecords {
		c.live[k.Collection] = it.MustCreate(t, c.Stack, k.CreatePath(), k.Draft("Live"))
		c.gone[k.Collection] = it.MustCreate(t, c.Stack, k.CreatePath(), k.Draft("Gone"))
		c.Do(200, "DELETE", k.Path(c.gone[k.Collection]), nil)
	}
	return c
}

// partyRecords are the kinds that are people and companies.
var partyRecords = it.Kinds[1:]

// ofAll are mistakes that a contact and an account share, with the properties of
// that names.
func (c *assembly) ofAll(texts, images []string) (bodies []wrongBody) {
	for _, name := range texts {
		for _, value := range []any{1, true, []string{"x"}, object{}, strings.Repeat("x", 70_000)} {
			bodies = append(bodies, wrongBody{name, object{name: value}})
		}
	}
	for _, name := range images {
		for _, value := range []any{"example.org/a.png", "http://example.org/a.png", "javascript:alert(1)", "https://", 5, "https://" + strings.Repeat("x", 250)} {
			bodies = append(bodies, wrongBody{name, object{name: value}})
		}
	}
	for _, value := range []any{"Atlantis", "XX", "000", 0, 1000, -276, 276.5, true, object{}, []string{"DE"}, " "} {
		bodies = append(bodies, wrongBody{"address_country", object{"address_country": value}})
	}
	return append(bodies,
		wrongBody{"custom_fields", object{"custom_fields": nil}}, wrongBody{"custom_fields", object{"custom_fields": []string{}}},
		wrongBody{"custom_fields", object{"custom_fields": "x"}}, wrongBody{"translations", object{"translations": nil}},
		wrongBody{"translations", object{"translations": []any{}}}, wrongBody{"updated_at", object{"updated_at": "x"}},
		wrongBody{"updated_at", object{"updated_at": nil}}, wrongBody{"updated_at", object{"updated_at": 1747000000}},
	)
}

// ofContacts are bodies with one wrong property of a contact.
func (c *assembly) ofContacts() []wrongBody {
	bodies := c.ofAll([]string{"first_name", "title", "company", "phone", "about", "brand"}, []string{"photo_url"})
	for _, value := range []any{1, nil, "", "  ", "nobody", "a b@example.org", strings.Repeat("x", 250) + "@example.org", []string{"a@example.org"}} {
		bodies = append(bodies, wrongBody{"email", object{"email": value}})
	}
	return append(bodies,
		wrongBody{"company", object{"company": "A", "company_name": "B"}}, wrongBody{"phone", object{"phone": "1", "phone_mobile": "2"}},
		wrongBody{"company", object{"company": nil, "company_name": "B"}},
	)
}

// ofAccounts are bodies with one wrong property of an account.
func (c *assembly) ofAccounts() []wrongBody {
	bodies := c.ofAll([]string{"description", "phone", "address_city"}, []string{"logo_image_url", "banner_image_url"})
	for _, value := range []any{1, nil, "", "  ", []string{"x"}, strings.Repeat("x", 256)} {
		bodies = append(bodies, wrongBody{"name", object{"name": value}})
	}
	person := object{"contact_id": c.live["contacts"]}
	for field, value := range map[string]any{
		"contacts": nil, "contacts[0]": []any{1}, "contacts[0].contact_id": []object{{}}, "contacts[1].contact_id": []object{person, person},
		"contacts[0].email": []object{{"contact_id": c.live["contacts"], "email": "a@example.org"}}, "contacts[0].is_primary": []object{it.Merged(person, object{"is_primary": "x"})},
		"contacts[1].is_primary": []object{it.Merged(person, object{"is_primary": true}), {"email": "a@example.org", "is_primary": true}},
	} {
		bodies = append(bodies, wrongBody{field, object{"contacts": value}})
	}
	for _, id := range []any{"x", nil, 5, c.nobody, c.gone["contacts"], c.live["sponsors"], c.session} {
		bodies = append(bodies, wrongBody{"contacts[0].contact_id", object{"contacts": []object{{"contact_id": id}}}})
	}
	return append(bodies, wrongBody{"contacts", object{"contacts": object{}}}, wrongBody{"contacts", object{"contacts": slices.Repeat([]object{person}, 101)}},
		wrongBody{"contacts[0].email", object{"contacts": []object{{"email": "nobody@example.org"}}}},
		wrongBody{"address_coutnry", object{"address_coutnry": "Atlantis"}}, wrongBody{"address_coutnry", object{"address_coutnry": "DE", "address_country": "FR"}})
}

// of are bodies with one wrong property of a kind.
func (c *assembly) of(k it.Kind) []wrongBody {
	if k.Collection == "contacts" {
		return c.ofContacts()
	}
	return c.ofAccounts()
}

func TestWrongPeopleBodies(t *testing.T) {
	c := newAssembly(t)
	var all []mistake
	for _, k := range partyRecords {
		for _, b := range c.of(k) {
			all = append(all, bad("PUT", k.Path(c.live[k.Collection]), b.body, b.field),
				bad("POST", k.CreatePath(), it.Merged(it.SampleDraft(k.Collection), b.body.(object)), b.field))
		}
	}
	for name, k := range map[string]it.Kind{"first_name": it.Kinds[1], "description": it.Kinds[2]} {
		body := object{name: "a\x00b"}
		all = append(all, bad("PUT", k.Path(c.live[k.Collection]), body, name), bad("POST", k.CreatePath(), it.Merged(k.Draft("x"), body), name),
			bad("POST", k.BulkPath(), object{"operations": []object{it.Creating(it.Merged(k.Draft("x"), body))}}, "operations[0].data."+name))
	}
	for _, role := range []string{"/sponsors/create", "/exhibitors/create"} {
		all = append(all, eachOf("POST", role, []wrongBody{
			{"name", object{}}, {"name", object{"name": "x", "account_id": c.nobody}}, {"account_id", object{"account_id": "x"}}, {"account_id", object{"account_id": nil}},
			{"account_id", object{"account_id": c.nobody}}, {"account_id", object{"account_id": c.live["contacts"]}}, {"account_id", object{"account_id": c.session}},
		})...)
	}
	all = append(all, bad("POST", "/contacts/create", object{}, "email"), bad("POST", "/contacts/create", object{"first_name": "x"}, "email"))
	c.makes(all)
}

// TestWrongPeopleEntries: a bulk of nothing but mistakes answers 200 and writes
// nothing.
func TestWrongPeopleEntries(t *testing.T) {
	c := newAssembly(t)
	before := c.stock()
	for _, k := range partyRecords {
		for part := range slices.Chunk(c.of(k), 50) {
			var operations []object
			for _, b := range part {
				operations = append(operations, it.Updating(c.live[k.Collection], b.body.(object)), it.Creating(it.Merged(it.SampleDraft(k.Collection), b.body.(object))))
			}
			o := c.BulkUnder(k.BulkPath(), "", operations...)
			for i := range operations {
				k.RequireError(t, o, i, validation, part[i/2].field)
			}
		}
	}
	require.Empty(t, changed(before, c.stock()))
}

// TestWrongPeople asks for people and companies that are not there, in wrong ways,
// or without what is needed.
func TestWrongPeople(t *testing.T) {
	c := newAssembly(t)
	var all []mistake
	for _, k := range partyRecords {
		for _, id := range c.notAmong(k) {
			all = append(all, c.onNobody(k, id)...)
		}
		all = append(all, c.onOne(k, k.Path(c.live[k.Collection]))...)
		all = append(all, mistake{"POST", k.Path(c.gone[k.Collection]) + "/restore", nil, 409, "STALE_UPDATE", "", []string{"If-Match", `"99"`}})
	}
	contact := "/contacts/" + c.live["contacts"]
	taken := c.Do(200, "GET", contact, nil)["email"]
	all = append(all, mistake{"POST", "/contacts/create", object{"email": taken}, 409, "DUPLICATE_EMAIL", "email", nil},
		mistake{"POST", "/sponsors/create", object{"account_id": c.live["sponsors"]}, 409, "DUPLICATE_ROLE", "account_id", nil},
		mistake{"POST", "/sponsors/create", object{"account_id": c.gone["sponsors"]}, 409, "DUPLICATE_ROLE", "account_id", nil})
	c.makes(all)
}

// notAmong are ids of what is none of the kind on the event.
func (c *assembly) notAmong(k it.Kind) []string {
	ids := []string{c.nobody, c.session, c.track, c.gone[k.Collection], it.MustCreate(c.T, c.InNewEvent().Stack, k.CreatePath(), k.Draft("There"))}
	for collection, id := range c.live {
		if collection != k.Collection {
			ids = append(ids, id)
		}
	}
	return ids
}

// onNobody are the operations on a record that is not there.
func (c *assembly) onNobody(k it.Kind, id string) []mistake {
	at := k.Path(id)
	all := []mistake{
		{"GET", at, nil, 404, "", "", nil}, {"PUT", at, k.WithText("x"), 404, "", "", nil}, {"DELETE", at, nil, 404, "", "", nil},
		bad("PUT", at, k.WithText("x"), "If-Match", "If-Match", "x"), bad("DELETE", at, nil, "If-Match", "If-Match", "x"),
		bad("PUT", at, object{"address_country": "Atlantis"}, "address_country"),
		{"PUT", at, object{"custom_fields": object{"nothing": 1}}, 400, "FIELD_NOT_FOUND", "nothing", nil},
	}
	if id != c.gone[k.Collection] {
		all = append(all, mistake{"POST", at + "/restore", nil, 404, "", "", nil})
	}
	return all
}

// onOne are wrong writes of a record that is there.
func (c *assembly) onOne(k it.Kind, at string) []mistake {
	translated := object{"translations": object{"de": object{k.TextField: "y"}}}
	stale := it.Merged(k.WithText("x"), object{"updated_at": "2020-01-01T00:00:00Z"})
	return []mistake{
		{"PUT", at, stale, 409, "STALE_UPDATE", "", nil}, {"PUT", at, k.WithText("x"), 409, "STALE_UPDATE", "", []string{"If-Match", `"99"`}},
		{"DELETE", at, nil, 409, "STALE_UPDATE", "", []string{"If-Match", `"99.x"`}}, {"POST", at + "/restore", nil, 404, "", "", nil},
		{"PUT", at, translated, 403, "FEATURE_NOT_ENABLED", "", nil},
		{"POST", k.CreatePath(), it.Merged(k.Draft("x"), translated), 403, "FEATURE_NOT_ENABLED", "", nil},
		{"POST", k.CreatePath(), it.Merged(k.Draft("x"), object{"custom_fields": object{c.note: "x"}}), 400, "FIELD_NOT_FOUND", c.note, nil},
		{"PUT", at, object{"custom_fields": object{k.TextField: "x"}}, 400, "FIELD_NOT_FOUND", k.TextField, nil},
		bad("PUT", at, k.WithText("x"), "If-Match", "If-Match", "2"), bad("GET", at+"?expand=composition", nil, "expand"),
		bad("PUT", at+"?expand=x", k.WithText("x"), "expand"), bad("POST", k.CreatePath()+"?expand=x", k.Draft("x"), "expand"),
		bad("DELETE", at+"?expand=x", nil, "expand"), bad("POST", k.CreatePath(), k.Draft("x"), "Idempotency-Key", "Idempotency-Key", strings.Repeat("k", 256)),
		bad("POST", k.BulkPath(), object{}, "operations"), bad("POST", k.BulkPath(), object{"operations": []any{}}, "operations"),
		bad("POST", k.BulkPath(), object{"operations": slices.Repeat([]object{it.Creating(k.Draft("x"))}, 101)}, "operations"),
		bad("POST", k.BulkPath()+"?expand=x", object{"operations": []object{it.Creating(k.Draft("x"))}}, "expand"),
	}
}

// TestWrongPeoplePlaces: methods, ids and organizations that are none.
func TestWrongPeoplePlaces(t *testing.T) {
	c := newAssembly(t)
	var all []mistake
	for _, k := range partyRecords {
		variable := strings.TrimSuffix(k.Collection, "s") + "Id"
		for _, id := range []string{"x", "1", "CONT-1", c.nobody + "0", "{" + c.nobody + "}", "%00", "%ff"} {
			all = append(all, bad("GET", k.Path(id), nil, variable), bad("PUT", k.Path(id), k.WithText("x"), variable), bad("DELETE", k.Path(id), nil, variable),
				bad("POST", k.Path(id)+"/restore", nil, variable))
		}
		for path, methods := range map[string][]string{
			"": {"GET", "PUT", "DELETE"}, "/" + c.nobody: {"POST", "PATCH"}, "/" + c.nobody + "/restore": {"GET", "PUT"},
		} {
			for _, method := range methods {
				all = append(all, mistake{method, "/" + k.Collection + path, nil, 405, "", "", nil})
			}
		}
	}
	for _, id := range []string{"x", "1"} {
		all = append(all, bad("GET", "/speakers/"+id, nil, "contactId"), bad("GET", "/contacts/"+id+"/sessions", nil, "contactId"))
	}
	all = append(all, mistake{"GET", "/speakers/" + c.live["contacts"], nil, 404, "", "", nil}, mistake{"GET", "/participants?email=nobody@example.org", nil, 404, "", "", nil},
		bad("GET", "/participants", nil, "email"), bad("GET", "/participants?email=", nil, "email"), bad("GET", "/participants?email=a@example.org&email=b@example.org", nil, "email"),
		bad("GET", "/participants?email=%00", nil, "email"), mistake{"GET", "/contacts/" + c.live["sponsors"] + "/sessions", nil, 404, "", "", nil})
	c.makes(append(all, c.organizations()...))
}

// organizations are mistakes on the organization's level.
func (c *assembly) organizations() (all []mistake) {
	live := c.live["contacts"]
	for _, org := range []string{"x", "0", "-1", "1.5", "%20", uuid.NewString()} {
		at := "/v1/organization/" + org + "/contacts"
		all = append(all, bad("POST", at, object{}, "orgId"), bad("GET", at+"/"+live, nil, "orgId"), bad("GET", at+"/"+live+"/sessions", nil, "orgId"))
	}
	for _, other := range []*stacktest.Stack{it.AtUnknownEvent(c.Stack), c.NewOrganization(c.T)} {
		at := (&it.Contacts{Client: &it.Client{Stack: other, T: c.T}}).OrganizationPath("")
		all = append(all, mistake{"POST", at, "{", 404, "", "", nil}, mistake{"GET", at + "/" + live, nil, 404, "", "", nil},
			mistake{"GET", at + "/" + live + "/sessions", nil, 404, "", "", nil}, mistake{"GET", at + "/x", nil, 400, validation, "contactId", nil})
	}
	return all
}

// TestWrongPeopleCategories: what finds sessions by their metadata finds speakers and
// participants, and neither contacts nor accounts.
func TestWrongPeopleCategories(t *testing.T) {
	c := newAssembly(t)
	var all []mistake
	for _, filter := range []string{"trackIds", "tagIds", "levelIds", "formatIds", "languageIds"} {
		at := "filters." + filter
		for _, path := range []string{"/contacts", "/sponsors", "/exhibitors", (&it.Contacts{Client: c.Client}).OrganizationPath("")} {
			all = append(all, bad("POST", path, object{"filters": object{filter: []string{c.track}}}, at))
		}
		for _, path := range []string{"/speakers", "/participants"} {
			all = append(all, eachOf("POST", path, []wrongBody{
				{at, object{"filters": object{filter: []string{}}}}, {at + "[1]", object{"filters": object{filter: []any{c.track, "x"}}}},
				{at, object{"filters": object{filter: c.track}}}, {at, object{"filters": object{filter: nil}}},
			})...)
		}
	}
	c.makes(all)
}
