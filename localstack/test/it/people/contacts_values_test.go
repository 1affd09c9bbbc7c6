package people_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestContactsAreWrittenUnderTwoNames(t *testing.T) {
	p := NewContacts(t)
	for alias, field := range map[string]string{"company": "company_name", "phone": "phone_mobile"} {
		one, two := contactValue(field, "1"), contactValue(field, "2")
		made := p.Create(200, object{"email": alias + "@example.org", alias: one})
		require.Equal(t, one, made[field])
		require.NotContains(t, made, alias)
		id := made.ID()
		require.Equal(t, two, p.Put(200, id, object{alias: two})[field])
		require.Equal(t, one, p.Bulk(it.Updating(id, object{alias: one})).Data(t, 0)[field])
		require.Equal(t, two, p.Put(200, id, object{alias: two, field: two})[field])
		for _, both := range []object{{alias: one, field: two}, {alias: nil, field: two}, {alias: one, field: nil}, {alias: "", field: one}} {
			it.RequireInvalid(t, p.Put(400, id, both), alias)
			it.RequireInvalid(t, p.Create(400, it.Merged(object{"email": "new@example.org"}, both)), alias)
			require.Contains(t, p.Bulk(it.Updating(id, both)).PlainError(t, 0), alias)
		}
		it.RequireInvalid(t, p.Put(400, id, object{alias: 7}), alias)
		it.RequireInvalid(t, p.Put(400, id, object{alias: strings.Repeat("1", 256)}), alias)
		require.Equal(t, two, p.Get(200, id)[field])
		require.Nil(t, p.Put(200, id, object{alias: nil})[field])
		require.Nil(t, p.Put(200, id, object{alias: nil, field: nil})[field])
	}
	it.RequireInvalid(t, p.Put(400, p.WithAddresses("x@example.org")[0], object{"phone": "call me"}), "phone")
}

func TestWhatAContactTakes(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@example.org")[0]
	want := p.Get(200, id)
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
			it.RequireInvalid(t, p.Put(400, id, object{"title": "x", field: value}), field)
			it.RequireInvalid(t, p.Create(400, object{"email": "new@example.org", field: value}), field)
			p.Bulk(it.Updating(id, object{field: value})).PlainError(t, 0)
		}
		require.Equal(t, want, p.Get(200, id), "nothing is written")
		require.Equal(t, long, p.Put(200, id, object{field: long})[field])
		want = p.Put(200, id, object{field: nil})
	}
	require.Equal(t, strings.Repeat("é", 255), p.Put(200, id, object{"title": strings.Repeat("é", 255)})["title"], "characters, not bytes")
	it.RequireInvalid(t, p.Put(400, id, object{"about": strings.Repeat("é", 32<<10) + "x"}), "about")
	for field, wrong := range map[string]any{"custom_fields": nil, "translations": "x", "updated_at": "yesterday"} {
		it.RequireInvalid(t, p.Put(400, id, object{field: wrong}), field)
	}
	it.RequireInvalid(t, p.Put(400, id, `[]`), "")
	it.RequireInvalid(t, p.Put(400, id, `{"title":"a","title":"b"}`), "title")
	it.RequireInvalid(t, p.Put(400, id, `{"title":"\u0000"}`), "title")
}

// TestWhatIsComputedIsNotWritten: it is ignored as what nobody knows.
func TestWhatIsComputedIsNotWritten(t *testing.T) {
	p := NewContacts(t)
	computed := object{
		"id": "x", "friendly_id": "CONT-9", "full_name": "Somebody Else", "created_at": "2020-01-01T00:00:00Z", "translated_fields": []any{},
		"admin_url": "https://example.org", "deleted_at": "2020-01-01T00:00:00Z", "unknown": 1,
	}
	made := p.Create(200, it.Merged(computed, object{"email": "ada@example.org"}))
	require.Equal(t, "CONT-1", made["friendly_id"])
	changed := p.Put(200, made.ID(), computed)
	for _, name := range []string{"id", "friendly_id", "full_name", "created_at", "admin_url"} {
		require.Equal(t, made[name], changed[name], name)
	}
	require.NotContains(t, changed, "deleted_at")
}

func TestARecordHasALimitAsAWhole(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@example.org")[0]
	var names []string
	for _, letter := range strings.Split("abc", "") {
		names = append(names, p.NewField("Text "+letter, "wysiwyg", it.GlobalScope))
	}
	long := strings.Repeat("x", 64<<10)
	p.Put(200, id, object{"custom_fields": object{names[0]: long, names[1]: long}})
	it.RequireInvalid(t, p.Put(400, id, object{"custom_fields": object{names[2]: long}}), "")
	require.Contains(t, p.Bulk(it.Updating(id, object{"custom_fields": object{names[2]: long}})).PlainError(t, 0), "record")
	require.Nil(t, p.Get(200, id).FieldValue(names[2]))
	here := p.NewField("Here", "wysiwyg")
	p.Put(200, id, object{"custom_fields": object{here: long}})
}
