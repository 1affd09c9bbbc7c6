package people_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func speaker(c *it.Programme, status int, id string) entity {
	c.T.Helper()
	answer := c.Do(status, http.MethodGet, "/speakers/"+id, nil)
	if status == 404 {
		it.RequireError(c.T, answer, "NOT_FOUND", "")
		require.Equal(c.T, "NotFoundError", answer["name"])
		require.Equal(c.T, "Speaker not found", answer["message"])
	}
	return answer
}

// lineup is an event with people in every place where they can be.
func lineup(t *testing.T) *it.Programme {
	t.Helper()
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")
	c.NewRole("Panelist", "speaker")
	main := c.AddSession("Main", nil, "Ann speaker", "Bob moderator", "Cid chairperson", "Dan panelist")
	c.AddSession("Part", object{"parent_session_id": main}, "Fay speaker")
	c.AddSession("Abstract", object{"is_abstract": true}, "Gus speaker")
	source := c.AddSession("Source", nil, "Hal speaker")
	c.Command("session-link", it.Link(main, source, "merged_session"))
	c.AddSession("Gone", nil, "Ida speaker", "Ann speaker")
	c.Delete(200, c.Held["Gone"].ID())
	return c
}

func TestSpeakersHaveTheSpeakerRole(t *testing.T) {
	c := lineup(t)
	require.Equal(t, "Ann Fay Gus Hal", c.FindNames("speakers", nil))
	for _, name := range []string{"Ann", "Fay", "Gus", "Hal"} {
		require.Equal(t, c.Do(200, http.MethodGet, "/contacts/"+c.ContactID(name), nil), speaker(c, 200, c.ContactID(name)))
	}
	for _, name := range []string{"Bob", "Cid", "Dan", "Eve", "Ida"} {
		speaker(c, 404, c.ContactID(name))
	}
	c.Restore(200, c.Held["Gone"].ID())
	require.Equal(t, "Ann Fay Gus Hal Ida", c.FindNames("speakers", nil))
	speaker(c, 200, c.ContactID("Ida"))

	c.SetPeople("Main", "Bob speaker", "Ann moderator")
	require.Equal(t, "Ann Bob Fay Gus Hal Ida", c.FindNames("speakers", nil), "Ann still is one of the session restored")
	c.Delete(200, c.Held["Gone"].ID())
	require.Equal(t, "Bob Fay Gus Hal", c.FindNames("speakers", nil))
}

func TestSpeakersAreShownAsContacts(t *testing.T) {
	c := lineup(t)
	answer := c.Find("speakers", nil)
	require.Len(t, answer.Results, 4)
	for _, shown := range answer.Results {
		require.Equal(t, c.Do(200, http.MethodGet, "/contacts/"+shown.ID(), nil), shown)
		require.NotContains(t, shown, "roles")
	}
}

func TestADeletedCustomRoleIsTheOneItStandsFor(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0", "participant_roles")
	c.AddPeople("Dan", "Eve")
	panelist := c.NewRole("Panelist", "speaker").ID()
	c.AddSession("A", nil, "Dan panelist", "Dan speaker")
	c.AddSession("B", nil, "Dan panelist")
	c.AddSession("C", nil, "Eve panelist")
	require.Equal(t, "Dan", c.FindNames("speakers", nil))
	require.Equal(t, "Dan Eve", c.FindNames("participants", object{"roleIds": []string{panelist}}))
	c.Command("participant-role-delete", object{"role_id": panelist})
	require.Equal(t, "Dan Eve", c.FindNames("speakers", nil))
	speaker(c, 200, c.ContactID("Eve"))
	require.Equal(t, "Dan Eve", c.FindNames("participants", object{"roleSlugs": []string{"speaker"}}))
	require.Empty(t, c.FindNames("participants", object{"roleIds": []string{panelist}}))
	require.Empty(t, c.FindNames("participants", object{"roleSlugs": []string{"panelist"}}))
	require.Equal(t, map[string]any{"speaker": c.SessionIDs("A", "B")}, it.RolesOf(c.GetParticipant(200, "Dan")))
}

func TestASpeakerIsOfTheEvent(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann speaker")
	there := c.InNewProgramme()
	speaker(there, 404, c.ContactID("Ann"))
	require.Empty(t, there.FindNames("speakers", nil))
	there.AddPeople("Ann")
	require.Equal(t, c.ContactID("Ann"), there.ContactID("Ann"))
	speaker(there, 404, c.ContactID("Ann"))
	there.AddSession("B", nil, "Ann moderator")
	require.Empty(t, there.FindNames("speakers", nil))
	require.Equal(t, map[string]any{"moderator": there.SessionIDs("B")}, it.RolesOf(there.GetParticipant(200, "Ann")))
	require.Equal(t, map[string]any{"speaker": c.SessionIDs("A")}, it.RolesOf(c.GetParticipant(200, "Ann")))
	speaker(c, 404, uuid.NewString())
	speaker(c, 404, c.Held["A"].ID())
	it.RequireInvalid(t, c.Do(400, http.MethodGet, "/speakers/x", nil), "contactId")
	it.RequireInvalid(t, c.Do(400, http.MethodGet, "/speakers/"+c.ContactID("Ann")+"?expand=x", nil), "expand")
}

// TestPeopleByCategory: each filter by metadata looks at top-level sessions, and
// the role must be held on one that passes all of them.
func TestPeopleByCategory(t *testing.T) {
	for _, facet := range it.MetadataFilters {
		t.Run(facet.Filter, func(t *testing.T) {
			c := it.NewProgramme(t, "sessions_2_0")
			c.AddPeople("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")
			entry := func(name string) (string, object) {
				id := c.NewEntry(facet.Kind, name).ID()
				if facet.Sent == "tag_ids" {
					return id, object{facet.Sent: []string{id}}
				}
				return id, object{facet.Sent: id}
			}
			first, inFirst := entry("First")
			second, inSecond := entry("Second")
			top := c.AddSession("A", inFirst, "Ann speaker", "Bob moderator")
			c.AddSession("B", inSecond, "Bob speaker", "Cid speaker", "Ann chairperson")
			c.AddSession("Part", it.Merged(object{"parent_session_id": top}, inFirst), "Dan speaker")
			c.AddSession("Source", inFirst, "Eve speaker")
			c.Command("session-link", it.Link(top, c.Held["Source"].ID(), "merged_session"))
			c.AddSession("None", nil, "Fay speaker")

			by := func(ids ...string) object { return object{facet.Filter: ids} }
			require.Equal(t, "Ann Eve", c.FindNames("speakers", by(first)))
			require.Equal(t, "Bob Cid", c.FindNames("speakers", by(second)))
			require.Equal(t, "Ann Bob Cid Eve", c.FindNames("speakers", by(first, second)))
			require.Equal(t, "Ann Bob Eve", c.FindNames("participants", by(first)))
			require.Equal(t, "Bob", c.FindNames("participants", it.Merged(by(first), object{"roleSlugs": []string{"moderator"}})))
			require.Equal(t, "Ann", c.FindNames("participants", it.Merged(by(second), object{"roleIds": []string{c.RoleIDs()["chairperson"]}})))
			require.Empty(t, c.FindNames("participants", it.Merged(by(second), object{"roleSlugs": []string{"moderator"}})))
			require.Equal(t, map[string]any{"moderator": c.SessionIDs("A"), "speaker": c.SessionIDs("B")},
				it.RolesOf(c.Find("participants", object{"filters": it.Merged(by(first), object{"email": it.EmailOf("Bob")})}).Results[0]))

			c.Delete(409, top)
			c.Delete(200, c.Held["B"].ID())
			require.Empty(t, c.FindNames("speakers", by(second)))
			require.Empty(t, c.FindNames("speakers", by(uuid.NewString())))
			c.DeleteRecord(facet.Kind, first)
			require.Empty(t, c.FindNames("speakers", by(first)))
			require.Equal(t, "Ann Dan Eve Fay", c.FindNames("speakers", nil))
		})
	}
}

func TestCategoriesMustPassOnOneSession(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann", "Bob")
	track, tag := c.NewEntry("tracks", "Track").ID(), c.NewEntry("tags", "Tag").ID()
	c.AddSession("Track", object{"track_id": track}, "Ann speaker")
	c.AddSession("Tag", object{"tag_ids": []string{tag}}, "Ann speaker")
	c.AddSession("Both", object{"track_id": track, "tag_ids": []string{tag}}, "Bob speaker", "Ann moderator")
	both := object{"trackIds": []string{track}, "tagIds": []string{tag}}
	require.Equal(t, "Bob", c.FindNames("speakers", both))
	require.Equal(t, "Ann Bob", c.FindNames("participants", both))
	require.Equal(t, "Ann Bob", c.FindNames("speakers", object{"trackIds": []string{track}}))
}
