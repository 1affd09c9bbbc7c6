package it_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestContactsAreWrittenUnderTwoNames(t *testing.T) {
	p := newPeople(t)
	for alias, field := range map[string]string{"company": "company_name", "phone": "phone_mobile"} {
		one, two := contactValue(field, "1"), contactValue(field, "2")
		made := p.create(200, object{"email": alias + "@example.org", alias: one})
		require.Equal(t, one, made[field])
		require.NotContains(t, made, alias)
		id := made.id()
		require.Equal(t, two, p.put(200, id, object{alias: two})[field])
		require.Equal(t, one, p.bulk(updating(id, object{alias: one})).data(t, 0)[field])
		require.Equal(t, two, p.put(200, id, object{alias: two, field: two})[field])
		for _, both := range []object{{alias: one, field: two}, {alias: nil, field: two}, {alias: one, field: nil}, {alias: "", field: one}} {
			isInvalid(t, p.put(400, id, both), alias)
			isInvalid(t, p.create(400, merged(object{"email": "new@example.org"}, both)), alias)
			require.Contains(t, p.bulk(updating(id, both)).plain(t, 0), alias)
		}
		isInvalid(t, p.put(400, id, object{alias: 7}), alias)
		isInvalid(t, p.put(400, id, object{alias: strings.Repeat("1", 256)}), alias)
		require.Equal(t, two, p.get(200, id)[field])
		require.Nil(t, p.put(200, id, object{alias: nil})[field])
		require.Nil(t, p.put(200, id, object{alias: nil, field: nil})[field])
	}
	isInvalid(t, p.put(400, p.addressed("x@example.org")[0], object{"phone": "call me"}), "phone")
}

func TestWhatAContactTakes(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@example.org")[0]
	want := p.get(200, id)
	most := func(field string) int {
		if field == "about" {
			return 64 << 10
		}
		return 255
	}
	for _, field := range contactFields {
		if field == "email" || field == "address_country" {
			continue
		}
		wrong := []any{7, true, []string{"x"}, object{}, strings.Repeat("1", most(field)+1)}
		long := strings.Repeat("1", most(field))
		switch field {
		case "photo_url":
			long = "https://x.org/" + strings.Repeat("1", 241)
			wrong = append(wrong, "x", "http://example.org/a.png", "//example.org/a.png", "ftp://x.org", "https://", "https://x.org/ a", "javascript:alert(1)", "https://x.org/"+strings.Repeat("1", 242))
		case "phone_home", "phone_mobile":
			wrong = append(wrong, "call me", "+", "ext")
		}
		for _, value := range wrong {
			isInvalid(t, p.put(400, id, object{"title": "x", field: value}), field)
			isInvalid(t, p.create(400, object{"email": "new@example.org", field: value}), field)
			p.bulk(updating(id, object{field: value})).plain(t, 0)
		}
		require.Equal(t, want, p.get(200, id), "nothing is written")
		require.Equal(t, long, p.put(200, id, object{field: long})[field])
		want = p.put(200, id, object{field: nil})
	}
	require.Equal(t, strings.Repeat("é", 255), p.put(200, id, object{"title": strings.Repeat("é", 255)})["title"], "characters, not bytes")
	isInvalid(t, p.put(400, id, object{"about": strings.Repeat("é", 32<<10) + "x"}), "about")
	for field, wrong := range map[string]any{"custom_fields": nil, "translations": "x", "updated_at": "yesterday"} {
		isInvalid(t, p.put(400, id, object{field: wrong}), field)
	}
	isInvalid(t, p.put(400, id, `[]`), "")
	isInvalid(t, p.put(400, id, `{"title":"a","title":"b"}`), "title")
	isInvalid(t, p.put(400, id, `{"title":"\u0000"}`), "title")
}

// TestWhatIsComputedIsNotWritten: it is ignored as what nobody knows.
func TestWhatIsComputedIsNotWritten(t *testing.T) {
	p := newPeople(t)
	computed := object{
		"id": "x", "friendly_id": "CONT-9", "full_name": "Somebody Else", "created_at": "2020-01-01T00:00:00Z", "translated_fields": []any{},
		"admin_url": "https://example.org", "deleted_at": "2020-01-01T00:00:00Z", "unknown": 1,
	}
	made := p.create(200, merged(computed, object{"email": "ada@example.org"}))
	require.Equal(t, "CONT-1", made["friendly_id"])
	changed := p.put(200, made.id(), computed)
	for _, name := range []string{"id", "friendly_id", "full_name", "created_at", "admin_url"} {
		require.Equal(t, made[name], changed[name], name)
	}
	require.NotContains(t, changed, "deleted_at")
}

func TestARecordHasALimitAsAWhole(t *testing.T) {
	p := newPeople(t)
	id := p.addressed("ada@example.org")[0]
	var names []string
	for _, letter := range strings.Split("abc", "") {
		names = append(names, p.field("Text "+letter, "wysiwyg", organizationWide))
	}
	long := strings.Repeat("x", 64<<10)
	p.put(200, id, object{"custom_fields": object{names[0]: long, names[1]: long}})
	isInvalid(t, p.put(400, id, object{"custom_fields": object{names[2]: long}}), "")
	require.Contains(t, p.bulk(updating(id, object{"custom_fields": object{names[2]: long}})).plain(t, 0), "record")
	require.Nil(t, p.get(200, id).value(names[2]))
	here := p.field("Here", "wysiwyg")
	p.put(200, id, object{"custom_fields": object{here: long}})
}
