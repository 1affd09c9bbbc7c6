package it_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func (c *crowd) speaker(status int, id string) entity {
	c.t.Helper()
	answer := c.send(status, http.MethodGet, "/speakers/"+id, nil)
	if status == 404 {
		isRefused(c.t, answer, "NOT_FOUND", "")
		require.Equal(c.t, "NotFoundError", answer["name"])
		require.Equal(c.t, "Speaker not found", answer["message"])
	}
	return answer
}

// lineup is an event with people in every place where they can be.
func lineup(t *testing.T) *crowd {
	t.Helper()
	c := newCrowd(t, "sessions_2_0")
	c.meet("Ann", "Bob", "Cid", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida")
	c.custom("Panelist", "speaker")
	main := c.hold("Main", nil, "Ann speaker", "Bob moderator", "Cid chairperson", "Dan panelist")
	c.hold("Part", object{"parent_session_id": main}, "Fay speaker")
	c.hold("Abstract", object{"is_abstract": true}, "Gus speaker")
	source := c.hold("Source", nil, "Hal speaker")
	c.done("session-link", link(main, source, "merged_session"))
	c.hold("Gone", nil, "Ida speaker", "Ann speaker")
	c.remove(200, c.held["Gone"].id())
	return c
}

func TestSpeakersHaveTheSpeakerRole(t *testing.T) {
	c := lineup(t)
	require.Equal(t, "Ann Fay Gus Hal", c.names("speakers", nil))
	for _, name := range []string{"Ann", "Fay", "Gus", "Hal"} {
		require.Equal(t, c.send(200, http.MethodGet, "/contacts/"+c.id(name), nil), c.speaker(200, c.id(name)))
	}
	for _, name := range []string{"Bob", "Cid", "Dan", "Eve", "Ida"} {
		c.speaker(404, c.id(name))
	}
	c.restore(200, c.held["Gone"].id())
	require.Equal(t, "Ann Fay Gus Hal Ida", c.names("speakers", nil))
	c.speaker(200, c.id("Ida"))

	c.recast("Main", "Bob speaker", "Ann moderator")
	require.Equal(t, "Ann Bob Fay Gus Hal Ida", c.names("speakers", nil), "Ann still is one of the session restored")
	c.remove(200, c.held["Gone"].id())
	require.Equal(t, "Bob Fay Gus Hal", c.names("speakers", nil))
}

func TestSpeakersAreShownAsContacts(t *testing.T) {
	c := lineup(t)
	answer := c.find("speakers", nil)
	require.Len(t, answer.Results, 4)
	for _, shown := range answer.Results {
		require.Equal(t, c.send(200, http.MethodGet, "/contacts/"+shown.id(), nil), shown)
		require.NotContains(t, shown, "roles")
	}
}

func TestADeletedCustomRoleIsTheOneItStandsFor(t *testing.T) {
	c := newCrowd(t, "sessions_2_0", "participant_roles")
	c.meet("Dan", "Eve")
	panelist := c.custom("Panelist", "speaker")
	c.hold("A", nil, "Dan panelist", "Dan speaker")
	c.hold("B", nil, "Dan panelist")
	c.hold("C", nil, "Eve panelist")
	require.Equal(t, "Dan", c.names("speakers", nil))
	require.Equal(t, "Dan Eve", c.names("participants", object{"roleIds": []string{panelist}}))
	c.done("participant-role-delete", object{"role_id": panelist})
	require.Equal(t, "Dan Eve", c.names("speakers", nil))
	c.speaker(200, c.id("Eve"))
	require.Equal(t, "Dan Eve", c.names("participants", object{"roleSlugs": []string{"speaker"}}))
	require.Empty(t, c.names("participants", object{"roleIds": []string{panelist}}))
	require.Empty(t, c.names("participants", object{"roleSlugs": []string{"panelist"}}))
	require.Equal(t, map[string]any{"speaker": c.sessions("A", "B")}, rolesOf(c.participant(200, "Dan")))
}

func TestASpeakerIsOfTheEvent(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann")
	c.hold("A", nil, "Ann speaker")
	there := c.there()
	there.speaker(404, c.id("Ann"))
	require.Empty(t, there.names("speakers", nil))
	there.meet("Ann")
	require.Equal(t, c.id("Ann"), there.id("Ann"))
	there.speaker(404, c.id("Ann"))
	there.hold("B", nil, "Ann moderator")
	require.Empty(t, there.names("speakers", nil))
	require.Equal(t, map[string]any{"moderator": there.sessions("B")}, rolesOf(there.participant(200, "Ann")))
	require.Equal(t, map[string]any{"speaker": c.sessions("A")}, rolesOf(c.participant(200, "Ann")))
	c.speaker(404, uuid.NewString())
	c.speaker(404, c.held["A"].id())
	isInvalid(t, c.send(400, http.MethodGet, "/speakers/x", nil), "contactId")
	isInvalid(t, c.send(400, http.MethodGet, "/speakers/"+c.id("Ann")+"?expand=x", nil), "expand")
}

// TestPeopleByCategory: each filter by metadata looks at top-level sessions, and
// the role must be held on one that passes all of them.
func TestPeopleByCategory(t *testing.T) {
	for _, facet := range byMetadata {
		t.Run(facet.filter, func(t *testing.T) {
			c := newCrowd(t, "sessions_2_0")
			c.meet("Ann", "Bob", "Cid", "Dan", "Eve", "Fay")
			entry := func(name string) (string, object) {
				id := c.entry(facet.kind, name).id()
				if facet.sent == "tag_ids" {
					return id, object{facet.sent: []string{id}}
				}
				return id, object{facet.sent: id}
			}
			first, inFirst := entry("First")
			second, inSecond := entry("Second")
			top := c.hold("A", inFirst, "Ann speaker", "Bob moderator")
			c.hold("B", inSecond, "Bob speaker", "Cid speaker", "Ann chairperson")
			c.hold("Part", merged(object{"parent_session_id": top}, inFirst), "Dan speaker")
			c.hold("Source", inFirst, "Eve speaker")
			c.done("session-link", link(top, c.held["Source"].id(), "merged_session"))
			c.hold("None", nil, "Fay speaker")

			by := func(ids ...string) object { return object{facet.filter: ids} }
			require.Equal(t, "Ann Eve", c.names("speakers", by(first)))
			require.Equal(t, "Bob Cid", c.names("speakers", by(second)))
			require.Equal(t, "Ann Bob Cid Eve", c.names("speakers", by(first, second)))
			require.Equal(t, "Ann Bob Eve", c.names("participants", by(first)))
			require.Equal(t, "Bob", c.names("participants", merged(by(first), object{"roleSlugs": []string{"moderator"}})))
			require.Equal(t, "Ann", c.names("participants", merged(by(second), object{"roleIds": []string{c.roleIDs()["chairperson"]}})))
			require.Empty(t, c.names("participants", merged(by(second), object{"roleSlugs": []string{"moderator"}})))
			require.Equal(t, map[string]any{"moderator": c.sessions("A"), "speaker": c.sessions("B")},
				rolesOf(c.find("participants", object{"filters": merged(by(first), object{"email": emailOf("Bob")})}).Results[0]))

			c.remove(409, top)
			c.remove(200, c.held["B"].id())
			require.Empty(t, c.names("speakers", by(second)))
			require.Empty(t, c.names("speakers", by(uuid.NewString())))
			c.drop(facet.kind, first)
			require.Empty(t, c.names("speakers", by(first)))
			require.Equal(t, "Ann Dan Eve Fay", c.names("speakers", nil))
		})
	}
}

func TestCategoriesMustPassOnOneSession(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann", "Bob")
	track, tag := c.entry("tracks", "Track").id(), c.entry("tags", "Tag").id()
	c.hold("Track", object{"track_id": track}, "Ann speaker")
	c.hold("Tag", object{"tag_ids": []string{tag}}, "Ann speaker")
	c.hold("Both", object{"track_id": track, "tag_ids": []string{tag}}, "Bob speaker", "Ann moderator")
	both := object{"trackIds": []string{track}, "tagIds": []string{tag}}
	require.Equal(t, "Bob", c.names("speakers", both))
	require.Equal(t, "Ann Bob", c.names("participants", both))
	require.Equal(t, "Ann Bob", c.names("speakers", object{"trackIds": []string{track}}))
}
