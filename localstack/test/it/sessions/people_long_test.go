package sessions_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestALongAnswerLeavesOutTranslationsOfPeople rather than being refused.
func TestALongAnswerLeavesOutTranslationsOfPeople(t *testing.T) {
	s := it.NewPeople(it.NewClient(t, "translated_fields"))
	texts := object{}
	for i := range 26 {
		texts[fmt.Sprintf("a%c", 'a'+i)] = object{"about": strings.Repeat("x", 5_000)}
	}
	var people []object
	for i := range 8 {
		name := fmt.Sprintf("P%d", i)
		s.AddContact(name, object{"about": "y", "translations": texts})
		people = append(people, s.Participant(name, "speaker"), s.Participant(name, "moderator"), s.Participant(name, "chairperson"))
	}
	s.AddAccount("sponsor", "Acme", object{"translations": object{"de": object{"description": "Seile"}}})
	const expand = "expand=translated_fields"
	few := s.Create(200, object{"title": "A", "participants": people[:6], "sponsor_ids": s.AccountIDs("Acme")}, expand)
	require.Len(t, few.List("participants")[0].List("translated_fields"), 26)
	require.Len(t, few.List("sponsors")[0].List("translated_fields"), 1)
	sub := s.NewSubsession(few.ID(), "S", object{"participants": people})
	for _, shown := range []entity{
		s.Get(200, sub.ID(), expand), s.Put(200, sub.ID(), object{"participants": people}, expand),
		s.Get(200, few.ID(), expand).List("subsessions")[0],
	} {
		for _, array := range []string{"participants", "speakers"} {
			require.NotEmpty(t, shown.List(array))
			for _, person := range shown.List(array) {
				require.NotContains(t, person, "about")
				require.NotContains(t, person, "translated_fields")
			}
			if omitted, single := shown["omitted"]; single {
				require.Contains(t, omitted, array+".translated_fields")
			}
		}
	}
	slim := s.Get(200, few.ID(), expand)
	for _, array := range []string{"participants", "speakers", "moderators", "chairpersons", "sponsors"} {
		require.Len(t, slim.List(array), len(few.List(array)), array)
		for _, entry := range slim.List(array) {
			require.NotContains(t, entry, "translated_fields", array)
		}
	}
	require.NotContains(t, s.List(expand).Results[0].List("participants")[0], "translated_fields", "no page is smaller")
	s.Create(200, object{"title": "B", "participants": people})
	it.RequireInvalid(t, s.Do(400, http.MethodGet, "/sessions?"+expand, nil), "page_size")
}

// TestASessionWithItsPeopleIsAtMost150KB: its people count towards the record.
func TestASessionWithItsPeopleIsAtMost150KB(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	people, texts := s.AddSpeakers(100), object{}
	for i := range 2 {
		texts[s.NewField(fmt.Sprint("Note ", i), "wysiwyg")] = strings.Repeat("x", 60_000)
	}
	body := object{"title": "A", "description": strings.Repeat("x", 27_000), "custom_fields": texts}
	all, few := object{"participants": people}, object{"participants": people[:10]}
	it.RequireInvalid(t, s.Create(400, it.Merged(body, all)), "")
	id := s.Create(200, it.Merged(body, few)).ID()
	refusal := s.Put(400, id, all)
	it.RequireInvalid(t, refusal, "")
	require.NotContains(t, refusal, "details", "the record has no field")
	o := s.Bulk(it.Updating(id, all), it.Creating(it.Merged(body, all)), it.Updating(id, it.Merged(all, object{"description": nil})))
	o.Failed(t, 0, "VALIDATION_ERROR", "")
	o.Failed(t, 1, "VALIDATION_ERROR", "")
	require.Len(t, billed(o.Data(t, 2)), 100)
	it.RequireInvalid(t, s.Put(400, id, object{"description": body["description"]}), "")
	require.Nil(t, s.Get(200, id)["description"])
	require.Equal(t, 1, s.Search(object{}).Pagination.TotalResults)
}

// TestABulkShowsWhatASingleOperationShows: a session of a hundred people of an ordinary
// kind is answered in full by both.
func TestABulkShowsWhatASingleOperationShows(t *testing.T) {
	s := it.NewPeople(it.NewClient(t))
	people := s.AddHeavyPeople(100, object{"about": strings.Repeat("words ", 60)})
	made := s.Create(200, object{"title": "A", "participants": people})
	changed := s.Bulk(it.Updating(made.ID(), object{"title": "B"})).Data(t, 0)
	require.Equal(t, it.ShownKeys(made.List("participants")[0]), it.ShownKeys(changed.List("participants")[0]))
	require.Equal(t, made["speakers"], changed["speakers"])
}
