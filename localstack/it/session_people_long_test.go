package it_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestALongAnswerLeavesOutTranslationsOfPeople rather than being refused.
func TestALongAnswerLeavesOutTranslationsOfPeople(t *testing.T) {
	s := newTroupe(newDesk(t, "translated_fields"))
	texts := object{}
	for i := range 26 {
		texts[fmt.Sprintf("a%c", 'a'+i)] = object{"about": strings.Repeat("x", 5_000)}
	}
	var people []object
	for i := range 8 {
		name := fmt.Sprintf("P%d", i)
		s.hire(name, object{"about": "y", "translations": texts})
		people = append(people, s.part(name, "speaker"), s.part(name, "moderator"), s.part(name, "chairperson"))
	}
	s.sign("sponsor", "Acme", object{"translations": object{"de": object{"description": "Seile"}}})
	const expand = "expand=translated_fields"
	few := s.create(200, object{"title": "A", "participants": people[:6], "sponsor_ids": s.accounts("Acme")}, expand)
	require.Len(t, few.list("participants")[0].list("translated_fields"), 26)
	require.Len(t, few.list("sponsors")[0].list("translated_fields"), 1)
	sub := s.sub(few.id(), "S", object{"participants": people})
	for _, shown := range []entity{
		s.get(200, sub.id(), expand), s.put(200, sub.id(), object{"participants": people}, expand),
		s.get(200, few.id(), expand).list("subsessions")[0],
	} {
		for _, array := range []string{"participants", "speakers"} {
			require.NotEmpty(t, shown.list(array))
			for _, person := range shown.list(array) {
				require.NotContains(t, person, "about")
				require.NotContains(t, person, "translated_fields")
			}
			if omitted, single := shown["omitted"]; single {
				require.Contains(t, omitted, array+".translated_fields")
			}
		}
	}
	slim := s.get(200, few.id(), expand)
	for _, array := range []string{"participants", "speakers", "moderators", "chairpersons", "sponsors"} {
		require.Len(t, slim.list(array), len(few.list(array)), array)
		for _, entry := range slim.list(array) {
			require.NotContains(t, entry, "translated_fields", array)
		}
	}
	require.NotContains(t, s.list(expand).Results[0].list("participants")[0], "translated_fields", "no page is smaller")
	s.create(200, object{"title": "B", "participants": people})
	isInvalid(t, s.send(400, http.MethodGet, "/sessions?"+expand, nil), "page_size")
}

// TestASessionWithItsPeopleIsAtMost150KB: its people count towards the record.
func TestASessionWithItsPeopleIsAtMost150KB(t *testing.T) {
	s := newTroupe(newDesk(t))
	people, texts := s.speakers(100), object{}
	for i := range 2 {
		texts[s.field(fmt.Sprint("Note ", i), "wysiwyg")] = strings.Repeat("x", 60_000)
	}
	body := object{"title": "A", "description": strings.Repeat("x", 27_000), "custom_fields": texts}
	all, few := object{"participants": people}, object{"participants": people[:10]}
	isInvalid(t, s.create(400, merged(body, all)), "")
	id := s.create(200, merged(body, few)).id()
	refusal := s.put(400, id, all)
	isInvalid(t, refusal, "")
	require.NotContains(t, refusal, "details", "the record has no field")
	o := s.bulk(updating(id, all), creating(merged(body, all)), updating(id, merged(all, object{"description": nil})))
	o.failed(t, 0, "VALIDATION_ERROR", "")
	o.failed(t, 1, "VALIDATION_ERROR", "")
	require.Len(t, billed(o.data(t, 2)), 100)
	isInvalid(t, s.put(400, id, object{"description": body["description"]}), "")
	require.Nil(t, s.get(200, id)["description"])
	require.Equal(t, 1, s.search(object{}).Pagination.TotalResults)
}

// TestABulkShowsWhatASingleOperationShows: a session of a hundred people of an ordinary
// kind is answered in full by both.
func TestABulkShowsWhatASingleOperationShows(t *testing.T) {
	s := newTroupe(newDesk(t))
	people := s.crew(100, object{"about": strings.Repeat("words ", 60)})
	made := s.create(200, object{"title": "A", "participants": people})
	changed := s.bulk(updating(made.id(), object{"title": "B"})).data(t, 0)
	require.Equal(t, properties(made.list("participants")[0]), properties(changed.list("participants")[0]))
	require.Equal(t, made["speakers"], changed["speakers"])
}
