package people_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// contactKeys are the properties of a contact in the order of gaps.md section 2.1,
// with those that only a session shows there behind brand. contactFields are those of
// them that a client may write.
var (
	contactKeys = strings.Fields(`id friendly_id full_name first_name last_name email created_at updated_at photo_url
		company_name title about phone_home phone_mobile address_line_1 address_line_2 address_city address_state
		address_postal_code address_country website_url linkedin_url twitter_url facebook_url honorific salutation pronouns
		gender past_companies educational_affiliation highest_level_of_education ethnicity languages speaker_score
		organization_contact speaker_fee availability preferred_session_format annual_revenue headcount
		years_in_operation organization_structure industry global_region audience_type target_age_range topic_expertise
		brand instagram_url snapchat_username tiktok_username custom_fields admin_url`)
	contactFields = slices.DeleteFunc(slices.Clone(contactKeys), func(name string) bool {
		return slices.Contains(strings.Fields("id friendly_id full_name created_at updated_at custom_fields admin_url"), name)
	})
)

// contactValue is a value of a contact's field, another one for another n.
func contactValue(field string, n string) any {
	switch field {
	case "email":
		return "ada." + n + "@example.org"
	case "photo_url":
		return "https://example.org/" + n + ".png"
	case "phone_home", "phone_mobile":
		return "+44 20 7946 0" + n
	case "address_country":
		return map[string]string{"1": "826", "2": "276", "3": "756"}[n]
	}
	return "The <b>" + field + "</b> & more " + n
}

// contactValues are values of all fields.
func contactValues(n string) object {
	all := object{}
	for _, field := range contactFields {
		all[field] = contactValue(field, n)
	}
	return all
}

func TestContactShowsEveryField(t *testing.T) {
	p := NewContacts(t)
	shoe := p.NewField("Shoe size", "number")
	body := it.Merged(contactValues("1"), object{"custom_fields": object{shoe: 42}})
	made := p.Create(200, body)
	id := made.ID()
	require.NoError(t, uuid.Validate(id))
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, made["created_at"])
	shown := made.List("custom_fields")
	require.Len(t, shown, 1)
	require.Equal(t, entity(it.Merged(contactValues("1"), object{
		"id": id, "friendly_id": "CONT-1", "full_name": body["first_name"].(string) + " " + body["last_name"].(string),
		"created_at": made["created_at"], "updated_at": made["created_at"], "admin_url": nil,
		"custom_fields": []any{object{
			"id": shown[0].ID(), "name": "Shoe size", "type": "number", "internal_name": shoe, "value": 42.0, "created_at": made["created_at"],
		}},
	})), made)
	require.Equal(t, made, p.Get(200, id), "a GET shows what the create answered")
	require.Equal(t, []entity{made}, p.Search(object{}).Results)
	onlyHere := entity(it.Merged(object(made), object{"custom_fields": []any{}}))
	require.Equal(t, onlyHere, p.GetFromOrganization(200, id))
	require.Equal(t, []entity{onlyHere}, p.SearchOrganization(object{}).Results)
}

// TestContactOrder: the documented order of the properties on every operation, and
// where those stand that are not always there.
func TestContactOrder(t *testing.T) {
	p := NewContacts(t, "translated_fields")
	translated := slices.Insert(slices.Clone(contactKeys), slices.Index(contactKeys, "custom_fields"), "translated_fields")
	id := p.WithAddresses("ada@example.org")[0]
	one, expand := "/"+id, "?expand=translated_fields"
	for _, c := range []struct {
		method, path string
		body         any
		more         []string
	}{
		{"POST", "/create", object{"email": "b@example.org"}, nil}, {"GET", one, nil, nil}, {"PUT", one, object{}, nil},
		{"DELETE", one, nil, []string{"deleted_at"}}, {"POST", one + "/restore", nil, nil},
	} {
		require.Equal(t, slices.Concat(contactKeys, c.more), keysInOrder(t, p.CallContacts(200, c.method, c.path, c.body).Body), c.path)
		if c.path == "/create" {
			c.body = object{"email": "c@example.org"}
		}
		if c.method == "DELETE" {
			p.Restore(200, id)
		} else if strings.HasSuffix(c.path, "restore") {
			p.Delete(200, id)
		}
		require.Equal(t, slices.Concat(translated, c.more), keysInOrder(t, p.CallContacts(200, c.method, c.path+expand, c.body).Body), c.path)
	}
	require.Equal(t, contactKeys, keysInOrder(t, p.Call(t, 200, "GET", p.OrganizationPath(one), nil).Body))
	require.Equal(t, translated, keysInOrder(t, p.Call(t, 200, "GET", p.OrganizationPath(one+expand), nil).Body))
	for _, path := range []string{p.EventPath("/contacts"), p.OrganizationPath("")} {
		var page struct{ Results []json.RawMessage }
		p.Call(t, 200, http.MethodPost, path, object{}).Into(t, &page)
		require.Len(t, page.Results, 3)
		require.Equal(t, contactKeys, keysInOrder(t, page.Results[0]))
		p.Call(t, 200, http.MethodPost, path, object{"expand": []string{"translated_fields"}}).Into(t, &page)
		require.Equal(t, translated, keysInOrder(t, page.Results[0]))
	}
	var bulk struct {
		Results []struct{ Data json.RawMessage }
	}
	p.CallContacts(200, "POST", "/bulk", object{"operations": []object{it.Creating(object{"email": "d@example.org"}), it.Updating(id, object{})}}).Into(t, &bulk)
	require.Equal(t, contactKeys, keysInOrder(t, bulk.Results[0].Data))
	require.Equal(t, contactKeys, keysInOrder(t, bulk.Results[1].Data))
}

func TestContactOfAnAddressAlone(t *testing.T) {
	p := NewContacts(t)
	made := p.Create(200, object{"email": "ada@example.org"})
	for _, name := range contactFields {
		if name != "email" {
			require.Contains(t, made, name)
			require.Nil(t, made[name], name)
		}
	}
	require.Nil(t, made["full_name"])
	require.Nil(t, made["admin_url"])
	require.Equal(t, []any{}, made["custom_fields"])
	require.Equal(t, "Lovelace", p.Put(200, made.ID(), object{"last_name": "Lovelace"})["full_name"])
	require.Equal(t, "Ada Lovelace", p.Put(200, made.ID(), object{"first_name": "Ada"})["full_name"])
	require.Equal(t, "Ada", p.Put(200, made.ID(), object{"last_name": nil})["full_name"])
}

// TestEveryFieldIsWritten: alone, on create, update and in a bulk, under the name it
// is read by; null clears all but the address.
func TestEveryFieldIsWritten(t *testing.T) {
	p := NewContacts(t)
	for _, field := range contactFields {
		want := p.Create(200, it.Merged(object{"email": uuid.NewString() + "@example.org"}, object{field: contactValue(field, "1")}))
		require.Equal(t, contactValue(field, "1"), want[field])
		id := want.ID()
		check := func(value any, changed entity) {
			t.Helper()
			require.Greater(t, changed["updated_at"], want["updated_at"])
			want[field], want["updated_at"], want["full_name"] = value, changed["updated_at"], changed["full_name"]
			require.Equal(t, want, changed, field)
			require.Equal(t, want, p.Get(200, id))
		}
		check(contactValue(field, "2"), p.Put(200, id, object{field: contactValue(field, "2")}))
		check(contactValue(field, "3"), p.Bulk(it.Updating(id, object{field: contactValue(field, "3")})).Data(t, 0))
		if field == "email" {
			continue
		}
		check(nil, p.Put(200, id, object{field: nil}))
		o := p.Bulk(it.Creating(it.Merged(object{"email": uuid.NewString() + "@example.org"}, object{field: contactValue(field, "1")})))
		require.Equal(t, contactValue(field, "1"), o.Data(t, 0)[field])
	}
}
