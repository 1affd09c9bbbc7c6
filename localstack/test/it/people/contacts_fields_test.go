package people_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestWhereValuesOfContactsStand: those of a global field on the record, those of an
// event's field on this event.
func TestWhereValuesOfContactsStand(t *testing.T) {
	p := NewContacts(t)
	there := p.InNewEvent()
	badge, seat := p.NewField("Badge", "text", it.GlobalScope), p.NewField("Seat", "text")
	require.Equal(t, []string{"org_badge", "seat"}, []string{badge, seat})
	require.Equal(t, seat, there.NewField("Seat", "number"), "each event has names of its own")
	id := p.Create(200, object{"email": "ada@x.org", "custom_fields": object{badge: "A", seat: "front"}}).ID()
	there.WithAddresses("ada@x.org")
	there.Put(200, id, object{"custom_fields": object{seat: 7}})
	check := func(name any, here, elsewhere any) {
		t.Helper()
		for _, r := range []entity{p.Get(200, id), p.Search(object{}).Results[0]} {
			require.Equal(t, []any{name, here}, []any{r.FieldValue(badge), r.FieldValue(seat)})
		}
		for _, r := range []entity{there.Get(200, id), there.Search(object{}).Results[0]} {
			require.Equal(t, []any{name, elsewhere}, []any{r.FieldValue(badge), r.FieldValue(seat)})
		}
		for _, r := range []entity{p.GetFromOrganization(200, id), there.SearchOrganization(object{}).Results[0]} {
			require.Equal(t, []any{name, nil}, []any{r.FieldValue(badge), r.FieldValue(seat)})
		}
	}
	check("A", "front", 7.0)
	there.Put(200, id, object{"custom_fields": object{badge: "B", seat: nil}})
	check("B", "front", nil)
	p.Put(200, id, object{"custom_fields": object{badge: nil}})
	check(nil, "front", nil)
	require.Equal(t, "back", p.Bulk(it.Updating(id, object{"custom_fields": object{seat: "back"}})).Data(t, 0).FieldValue(seat))
	p.Put(200, id, object{"title": "x"})
	check(nil, "back", nil)
}

func TestValuesOfContactsOfEveryType(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@x.org")[0]
	for i, c := range it.ValueCases {
		for _, scope := range []object{nil, it.GlobalScope} {
			name := p.NewField("Field "+c.Kind+string(rune('a'+i)), c.Kind, c.More, scope)
			for j, good := range c.Good {
				want := c.Reads(j)
				require.Equal(t, want, p.Put(200, id, object{"custom_fields": object{name: good}}).FieldValue(name), "%s %v", c.Kind, good)
				require.Equal(t, want, p.Get(200, id).FieldValue(name))
			}
			for _, wrong := range c.Wrong {
				it.RequireError(t, p.Put(400, id, object{"title": "x", "custom_fields": object{name: wrong}}), "TYPE_MISMATCH", name)
			}
			it.RequireError(t, p.Create(400, object{"email": "new@x.org", "custom_fields": object{name: c.Wrong[0]}}), "TYPE_MISMATCH", name)
			p.Bulk(it.Updating(id, object{"custom_fields": object{name: c.Wrong[0]}})).PlainError(t, 0)
			require.Nil(t, p.Put(200, id, object{"custom_fields": object{name: nil}}).FieldValue(name))
		}
	}
	require.Nil(t, p.Get(200, id)["title"])
	require.Equal(t, 1, p.SearchOrganization(object{}).Pagination.TotalResults)
	owner := p.NewField("Owner", "user", it.GlobalScope)
	require.Equal(t, float64(p.Member), p.Put(200, id, object{"custom_fields": object{owner: p.Member}}).FieldValue(owner))
	it.RequireError(t, p.Put(400, id, object{"custom_fields": object{owner: p.InOtherOrganization().Member}}), "TYPE_MISMATCH", owner)
}

// TestAGlobalTimeIsShownAsOneReads: on an event in its zone, on the organization's
// level, which has none, in UTC.
func TestAGlobalTimeIsShownAsOneReads(t *testing.T) {
	p := NewContacts(t)
	arrival := p.NewField("Arrival", "datetime", it.GlobalScope)
	id := p.Create(200, object{"email": "ada@x.org", "custom_fields": object{arrival: "2027-05-11T09:30:00"}}).ID()
	require.Equal(t, "2027-05-11T09:30:00-05:00", p.Get(200, id).FieldValue(arrival))
	require.Equal(t, "2027-05-11T14:30:00Z", p.GetFromOrganization(200, id).FieldValue(arrival))
	require.Equal(t, "2027-05-11T14:30:00Z", p.SearchOrganization(object{}).Results[0].FieldValue(arrival))
}

func TestRefusedFieldsOfContacts(t *testing.T) {
	p := NewContacts(t)
	mine, session := p.NewField("Mine", "text"), p.Client.NewField("Of sessions", "text")
	theirs := p.InNewEvent().NewField("Elsewhere", "text")
	owned := p.NewConnectorField("CRM", object{"module_id": "contact"})
	id := p.WithAddresses("ada@x.org")[0]
	want := p.Get(200, id)
	check := func(code, name string, value any) {
		t.Helper()
		body := object{"title": "x", "custom_fields": object{mine: "x", name: value}}
		it.RequireError(t, p.Put(400, id, body), code, name)
		it.RequireError(t, p.Create(400, it.Merged(body, object{"email": "new@x.org"})), code, name)
		require.Contains(t, p.Bulk(it.Updating(id, body)).PlainError(t, 0), name)
	}
	for _, name := range []string{"nothing", "", "Mine", "title", "email", session, theirs, uuid.NewString()} {
		for _, value := range []any{"x", nil} {
			check("FIELD_NOT_FOUND", name, value)
		}
	}
	for _, value := range []any{"x", nil, 7} {
		check("FIELD_READ_ONLY", owned, value)
	}
	require.Equal(t, want, p.Get(200, id), "nothing else in the request is written")
	require.Equal(t, 1, p.SearchOrganization(object{}).Pagination.TotalResults)
	gone := p.Put(200, id, object{"custom_fields": object{mine: "x"}}).List("custom_fields")[0].ID()
	p.DeleteRecord("fields", gone)
	require.Equal(t, []any{}, p.Get(200, id)["custom_fields"])
	p.NewField("Mine", "text")
	require.Equal(t, []any{}, p.Get(200, id)["custom_fields"], "a field made again starts empty")
}

func TestContactsAreTranslated(t *testing.T) {
	p := NewContacts(t, "translated_fields")
	there := p.InNewEvent("translated_fields")
	badge, seat, size := p.NewField("Badge", "text", it.GlobalScope), p.NewField("Seat", "textarea"), p.NewField("Size", "number")
	made := p.Create(200, object{
		"email": "ada@x.org", "title": "Countess", "translations": object{
			"de": object{"title": "Gräfin", "about": "Über sie", seat: "vorne"}, "FR": object{badge: "Insigne"},
		},
	}, "expand=translated_fields")
	shown := made.List("translated_fields")
	require.Equal(t, []string{"Über sie", "vorne", "Gräfin", "Insigne"}, it.Texts(shown, "value"))
	require.Equal(t, []string{"about", seat, "title", badge}, it.Texts(shown, "parent_field_internal_name"))
	require.Equal(t, []string{"de", "de", "de", "fr"}, it.Texts(shown, "translated_language"))
	require.Equal(t, []string{"standard", "custom", "standard", "custom"}, it.Texts(shown, "parent_field_source"))
	require.Equal(t, "Countess", made["title"], "the record stays in the event's language")
	id := made.ID()
	for name, r := range map[string]entity{
		"get": p.Get(200, id, "expand=translated_fields"), "search": p.Search(object{"expand": []string{"translated_fields"}}).Results[0],
		"put": p.Put(200, id, object{}, "expand=translated_fields"),
	} {
		require.Equal(t, made["translated_fields"], r["translated_fields"], name)
	}
	require.NotContains(t, p.Get(200, id), "translated_fields")
	require.NotContains(t, p.Search(object{}).Results[0], "translated_fields")

	there.WithAddresses("ada@x.org")
	global := []string{"Über sie", "Gräfin", "Insigne"}
	require.Equal(t, global, it.Texts(there.Get(200, id, "expand=translated_fields").List("translated_fields"), "value"))
	require.Equal(t, global, it.Texts(p.GetFromOrganization(200, id, "expand=translated_fields").List("translated_fields"), "value"))
	require.Equal(t, global, it.Texts(p.SearchOrganization(object{"expand": []string{"translated_fields"}}).Results[0].List("translated_fields"), "value"))
	there.Put(200, id, object{"translations": object{"de": object{"title": nil}, "fr": nil}})
	changed := p.Get(200, id, "expand=translated_fields")
	require.Equal(t, []string{"Über sie", "vorne"}, it.Texts(changed.List("translated_fields"), "value"), "null clears, the rest stays")
	for field, translations := range map[string]any{
		"translations.de." + size: object{"de": object{size: "3"}}, "translations.de.nothing": object{"de": object{"nothing": "x"}},
		"translations.de.email": object{"de": object{"email": "x@x.org"}}, "translations.german!": object{"german!": object{"title": "x"}},
		"translations.de.title": object{"de": object{"title": 1}}, "translations": nil,
	} {
		it.RequireInvalid(t, p.Put(400, id, object{"title": "x", "translations": translations}), field)
	}
	require.Equal(t, []any{}, p.Create(200, object{"email": "b@x.org"}, "expand=translated_fields")["translated_fields"])
}

func TestTranslationsOfContactsNeedTheirFeature(t *testing.T) {
	p := NewContacts(t)
	german := object{"translations": object{"de": object{"title": "Gräfin"}}}
	it.RequireFeatureDisabled(t, p.Create(403, it.Merged(german, object{"email": "ada@x.org"})))
	id := p.WithAddresses("ada@x.org")[0]
	it.RequireFeatureDisabled(t, p.Put(403, id, german))
	it.RequireFeatureDisabled(t, p.Put(403, uuid.NewString(), german))
	it.RequireInvalid(t, p.Put(400, id, it.Merged(german, object{"photo_url": "x"})), "photo_url")
	p.Bulk(it.Updating(id, german)).PlainError(t, 0)
	require.Equal(t, []any{}, p.Get(200, id, "expand=translated_fields")["translated_fields"])
	p.SetFeature("translated_fields", true)
	p.Put(200, id, german)
	require.Len(t, p.Get(200, id, "expand=translated_fields").List("translated_fields"), 1)
}
