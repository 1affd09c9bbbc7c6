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
				require.Equal(t, "y", person["about"])
				require.NotContains(t, person, "translated_fields")
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
	isInvalid(t, s.send(400, http.MethodGet, "/sessions?"+expand, nil), "page_size")
}
