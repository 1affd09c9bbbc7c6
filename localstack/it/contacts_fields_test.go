package it_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestWhereValuesOfContactsStand: those of a global field on the record, those of an
// event's field on this event.
func TestWhereValuesOfContactsStand(t *testing.T) {
	p := newPeople(t)
	there := p.elsewhere()
	badge, seat := p.field("Badge", "text", organizationWide), p.field("Seat", "text")
	require.Equal(t, []string{"org_badge", "seat"}, []string{badge, seat})
	require.Equal(t, seat, there.field("Seat", "number"), "each event has names of its own")
	id := p.create(200, object{"email": "ada@x.org", "custom_fields": object{badge: "A", seat: "front"}}).id()
	there.addressed("ada@x.org")
	there.put(200, id, object{"custom_fields": object{seat: 7}})
	check := func(name any, here, elsewhere any) {
		t.Helper()
		for _, r := range []entity{p.get(200, id), p.search(object{}).Results[0]} {
			require.Equal(t, []any{name, here}, []any{r.value(badge), r.value(seat)})
		}
		for _, r := range []entity{there.get(200, id), there.search(object{}).Results[0]} {
			require.Equal(t, []any{name, elsewhere}, []any{r.value(badge), r.value(seat)})
		}
		for _, r := range []entity{p.whole(200, id), there.searchAll(object{}).Results[0]} {
			require.Equal(t, []any{name, nil}, []any{r.value(badge), r.value(seat)})
		}
	}
	check("A", "front", 7.0)
	there.put(200, id, object{"custom_fields": object{badge: "B", seat: nil}})
	check("B", "front", nil)
	p.put(200, id, object{"custom_fields": object{badge: nil}})
	check(nil, "front", nil)
	require.Equal(t, "back", p.bulk(updating(id, object{"custom_fields": object{seat: "back"}})).data(t, 0).value(seat))
	p.put(200, id, object{"title": "x"})
	check(nil, "back", nil)
}

func TestValuesOfContactsOfEveryType(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@x.org")[0]
	for i, c := range valueCases {
		for _, scope := range []object{nil, organizationWide} {
			name := p.field("Field "+c.kind+string(rune('a'+i)), c.kind, c.more, scope)
			for j, good := range c.good {
				want := c.reads(j)
				require.Equal(t, want, p.put(200, id, object{"custom_fields": object{name: good}}).value(name), "%s %v", c.kind, good)
				require.Equal(t, want, p.get(200, id).value(name))
			}
			for _, wrong := range c.wrong {
				isRefused(t, p.put(400, id, object{"title": "x", "custom_fields": object{name: wrong}}), "TYPE_MISMATCH", name)
			}
			isRefused(t, p.create(400, object{"email": "new@x.org", "custom_fields": object{name: c.wrong[0]}}), "TYPE_MISMATCH", name)
			p.bulk(updating(id, object{"custom_fields": object{name: c.wrong[0]}})).plain(t, 0)
			require.Nil(t, p.put(200, id, object{"custom_fields": object{name: nil}}).value(name))
		}
	}
	require.Nil(t, p.get(200, id)["title"])
	require.Equal(t, 1, p.searchAll(object{}).Pagination.TotalResults)
	owner := p.field("Owner", "user", organizationWide)
	require.Equal(t, float64(p.Member), p.put(200, id, object{"custom_fields": object{owner: p.Member}}).value(owner))
	isRefused(t, p.put(400, id, object{"custom_fields": object{owner: p.stranger().Member}}), "TYPE_MISMATCH", owner)
}

// TestAGlobalTimeIsShownAsOneReads: on an event in its zone, on the organization's
// level, which has none, in UTC.
func TestAGlobalTimeIsShownAsOneReads(t *testing.T) {
	p := newPeople(t)
	arrival := p.field("Arrival", "datetime", organizationWide)
	id := p.create(200, object{"email": "ada@x.org", "custom_fields": object{arrival: "2027-05-11T09:30:00"}}).id()
	require.Equal(t, "2027-05-11T09:30:00-05:00", p.get(200, id).value(arrival))
	require.Equal(t, "2027-05-11T14:30:00Z", p.whole(200, id).value(arrival))
	require.Equal(t, "2027-05-11T14:30:00Z", p.searchAll(object{}).Results[0].value(arrival))
}

func TestRefusedFieldsOfContacts(t *testing.T) {
	p := newPeople(t)
	mine, session := p.field("Mine", "text"), p.desk.field("Of sessions", "text")
	theirs := p.elsewhere().field("Elsewhere", "text")
	owned := p.connectorField("CRM", object{"module_id": "contact"})
	id := p.addressed("ada@x.org")[0]
	want := p.get(200, id)
	check := func(code, name string, value any) {
		t.Helper()
		body := object{"title": "x", "custom_fields": object{mine: "x", name: value}}
		isRefused(t, p.put(400, id, body), code, name)
		isRefused(t, p.create(400, merged(body, object{"email": "new@x.org"})), code, name)
		require.Contains(t, p.bulk(updating(id, body)).plain(t, 0), name)
	}
	for _, name := range []string{"nothing", "", "Mine", "title", "email", session, theirs, uuid.NewString()} {
		for _, value := range []any{"x", nil} {
			check("FIELD_NOT_FOUND", name, value)
		}
	}
	for _, value := range []any{"x", nil, 7} {
		check("FIELD_READ_ONLY", owned, value)
	}
	require.Equal(t, want, p.get(200, id), "nothing else in the request is written")
	require.Equal(t, 1, p.searchAll(object{}).Pagination.TotalResults)
	gone := p.put(200, id, object{"custom_fields": object{mine: "x"}}).list("custom_fields")[0].id()
	p.drop("fields", gone)
	require.Equal(t, []any{}, p.get(200, id)["custom_fields"])
	p.field("Mine", "text")
	require.Equal(t, []any{}, p.get(200, id)["custom_fields"], "a field made again starts empty")
}

func TestContactsAreTranslated(t *testing.T) {
	p := newPeople(t, "translated_fields")
	there := p.elsewhere("translated_fields")
	badge, seat, size := p.field("Badge", "text", organizationWide), p.field("Seat", "textarea"), p.field("Size", "number")
	made := p.create(200, object{
		"email": "ada@x.org", "title": "Countess", "translations": object{
			"de": object{"title": "Gräfin", "about": "Über sie", seat: "vorne"}, "FR": object{badge: "Insigne"},
		},
	}, "expand=translated_fields")
	shown := made.list("translated_fields")
	require.Equal(t, []string{"Über sie", "vorne", "Gräfin", "Insigne"}, texts(shown, "value"))
	require.Equal(t, []string{"about", seat, "title", badge}, texts(shown, "parent_field_internal_name"))
	require.Equal(t, []string{"de", "de", "de", "fr"}, texts(shown, "translated_language"))
	require.Equal(t, []string{"standard", "custom", "standard", "custom"}, texts(shown, "parent_field_source"))
	require.Equal(t, "Countess", made["title"], "the record stays in the event's language")
	id := made.id()
	for name, r := range map[string]entity{
		"get": p.get(200, id, "expand=translated_fields"), "search": p.search(object{"expand": []string{"translated_fields"}}).Results[0],
		"put": p.put(200, id, object{}, "expand=translated_fields"),
	} {
		require.Equal(t, made["translated_fields"], r["translated_fields"], name)
	}
	require.NotContains(t, p.get(200, id), "translated_fields")
	require.NotContains(t, p.search(object{}).Results[0], "translated_fields")

	there.addressed("ada@x.org")
	global := []string{"Über sie", "Gräfin", "Insigne"}
	require.Equal(t, global, texts(there.get(200, id, "expand=translated_fields").list("translated_fields"), "value"))
	require.Equal(t, global, texts(p.whole(200, id, "expand=translated_fields").list("translated_fields"), "value"))
	require.Equal(t, global, texts(p.searchAll(object{"expand": []string{"translated_fields"}}).Results[0].list("translated_fields"), "value"))
	there.put(200, id, object{"translations": object{"de": object{"title": nil}, "fr": nil}})
	changed := p.get(200, id, "expand=translated_fields")
	require.Equal(t, []string{"Über sie", "vorne"}, texts(changed.list("translated_fields"), "value"), "null clears, the rest stays")
	for field, translations := range map[string]any{
		"translations.de." + size: object{"de": object{size: "3"}}, "translations.de.nothing": object{"de": object{"nothing": "x"}},
		"translations.de.email": object{"de": object{"email": "x@x.org"}}, "translations.german!": object{"german!": object{"title": "x"}},
		"translations.de.title": object{"de": object{"title": 1}}, "translations": nil,
	} {
		isInvalid(t, p.put(400, id, object{"title": "x", "translations": translations}), field)
	}
	require.Equal(t, []any{}, p.create(200, object{"email": "b@x.org"}, "expand=translated_fields")["translated_fields"])
}

func TestTranslationsOfContactsNeedTheirFeature(t *testing.T) {
	p := newPeople(t)
	german := object{"translations": object{"de": object{"title": "Gräfin"}}}
	isForbidden(t, p.create(403, merged(german, object{"email": "ada@x.org"})))
	id := p.addressed("ada@x.org")[0]
	isForbidden(t, p.put(403, id, german))
	isForbidden(t, p.put(403, uuid.NewString(), german))
	isInvalid(t, p.put(400, id, merged(german, object{"photo_url": "x"})), "photo_url")
	p.bulk(updating(id, german)).plain(t, 0)
	require.Equal(t, []any{}, p.get(200, id, "expand=translated_fields")["translated_fields"])
	p.feature("translated_fields", true)
	p.put(200, id, german)
	require.Len(t, p.get(200, id, "expand=translated_fields").list("translated_fields"), 1)
}
