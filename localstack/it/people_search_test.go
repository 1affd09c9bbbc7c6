package it_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// TestParticipantsHaveAllTheirRoles: everyone with a role is found once, with the
// roles in the order of the settings and the sessions in that of their creation.
func TestParticipantsHaveAllTheirRoles(t *testing.T) {
	c := newCrowd(t, "sessions_2_0", "participant_roles")
	c.meet("Ann", "Bob", "Cid", "Eve")
	panelist := c.custom("Panelist", "speaker")
	main := c.hold("Main", nil, "Bob panelist", "Ann moderator", "Ann speaker")
	c.hold("Part", object{"parent_session_id": main}, "Ann speaker")
	c.hold("Abstract", object{"is_abstract": true}, "Ann speaker", "Bob chairperson")
	c.hold("Source", nil, "Ann moderator")
	c.done("session-link", link(main, c.held["Source"].id(), "merged_session"))
	c.hold("Gone", nil, "Cid speaker", "Ann chairperson")
	c.remove(200, c.held["Gone"].id())

	require.Equal(t, "Ann Bob", c.names("participants", nil))
	ids := c.roleIDs()
	require.Equal(t, ids["panelist"], panelist)
	role := func(name, core string, custom bool, titles ...string) any {
		slug := strings.ToLower(name)
		return object{"roleId": ids[slug], "roleName": name, "slug": slug, "coreRole": core, "isCustom": custom, "sessionIds": c.sessions(titles...)}
	}
	wanted := map[string][]any{
		"Ann": {role("Speaker", "speaker", false, "Main", "Part", "Abstract"), role("Moderator", "moderator", false, "Main", "Source")},
		"Bob": {role("Chairperson", "chairperson", false, "Abstract"), role("Panelist", "speaker", true, "Main")},
	}
	for _, shown := range c.find("participants", object{}).Results {
		name := shown.text("full_name")
		require.Equal(t, wanted[name], shown["roles"])
		require.Equal(t, merged(object(c.who[name]), object{"roles": wanted[name]}), object(shown), "the contact with the roles")
		require.Equal(t, shown, c.participant(200, name))
		for slug := range rolesOf(shown) {
			filtered := c.find("participants", object{"filters": object{"roleSlugs": []string{slug}, "search": name}})
			require.Equal(t, []entity{shown}, filtered.Results, "all roles, whatever is filtered by")
		}
	}
}

func TestRolesStandLast(t *testing.T) {
	c := newCrowd(t, "translated_fields")
	c.meet("Ann")
	id := c.hold("A", nil, "Ann speaker")
	wanted := `,"admin_url":null,"roles":[{"roleId":null,"roleName":"Speaker","slug":"speaker","coreRole":"speaker","isCustom":false,"sessionIds":["` + id + `"]}]}`
	for _, expand := range []string{"", "&expand=translated_fields"} {
		one := c.Call(t, 200, http.MethodGet, c.EventPath("/participants?email=ann%40example.org"+expand), nil)
		require.True(t, strings.HasSuffix(string(one.Body), wanted), "%s", one.Body)
		require.Equal(t, expand != "", strings.Contains(string(one.Body), `"translated_fields":[`))
	}
	page := c.Call(t, 200, http.MethodPost, c.EventPath("/participants"), object{"expand": []string{"translated_fields"}})
	require.Contains(t, string(page.Body), wanted)
}

// TestRoleIDsAreHiddenOnOlderEvents: without participant_roles they read null, and
// are accepted all the same.
func TestRoleIDsAreHiddenOnOlderEvents(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	c.meet("Ann", "Bob")
	host := c.custom("Host", "moderator")
	c.hold("A", nil, "Ann host", "Bob speaker")
	shown := c.participant(200, "Ann").list("roles")
	require.Equal(t, []any{nil}, column(shown, "roleId"))
	require.Equal(t, "Ann", c.names("participants", object{"roleIds": []string{host}}))
	require.Equal(t, "Ann", c.names("participants", object{"roleSlugs": []string{"host"}}))
	require.Len(t, c.roleIDs(), 4, "the list of roles keeps its ids")

	c.done("event-update", object{"features": object{"participant_roles": true}})
	require.Equal(t, []any{host}, column(c.participant(200, "Ann").list("roles"), "roleId"))
	require.Equal(t, "Ann", c.names("participants", object{"roleIds": []string{host}}))
}

func TestParticipantsByRole(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	c.meet("Ann", "Bob", "Cid")
	panelist := c.custom("Panelist", "speaker")
	c.hold("A", nil, "Ann speaker", "Bob moderator")
	c.hold("B", nil, "Ann moderator", "Cid panelist")
	ids := c.roleIDs()
	list := func(all ...string) []string { return all }
	for _, f := range []struct {
		ids, slugs []string
		want       string
	}{
		{list(ids["speaker"]), nil, "Ann"},
		{list(ids["moderator"]), nil, "Ann Bob"},
		{list(panelist), nil, "Cid"},
		{list(strings.ToUpper(panelist)), nil, "Cid"},
		{list(panelist, ids["speaker"]), nil, "Ann Cid"},
		{list(uuid.NewString()), nil, ""},
		{list(uuid.NewString(), panelist), nil, "Cid"},
		{nil, list("speaker"), "Ann"},
		{nil, list("panelist", "moderator"), "Ann Bob Cid"},
		{nil, list("juggler"), ""},
		{nil, list("Speaker"), ""},
		{list(ids["moderator"]), list("moderator", "speaker"), "Ann Bob"},
		{list(ids["moderator"]), list("speaker"), "Ann"},
		{list(ids["speaker"]), list("moderator"), "Ann"},
		{list(panelist), list("speaker"), ""},
		{list(panelist, ids["moderator"]), list("speaker", "panelist"), "Ann Cid"},
		{list(ids["moderator"]), list("juggler"), ""},
		{list(uuid.NewString()), list("speaker"), ""},
	} {
		filters := object{}
		if f.ids != nil {
			filters["roleIds"] = f.ids
		}
		if f.slugs != nil {
			filters["roleSlugs"] = f.slugs
		}
		require.Equal(t, f.want, c.names("participants", filters), "%v", filters)
	}
	require.Empty(t, c.there().names("participants", object{"roleIds": list(ids["speaker"])}))
}

// TestRolesByIDAndBySlugAreTwoFilters: a person may pass them by two roles, on two
// sessions, each of which passes the filters by metadata.
func TestRolesByIDAndBySlugAreTwoFilters(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	c.meet("Ann", "Bob", "Cid", "Dan")
	track := c.entry("tracks", "Main").id()
	on := object{"track_id": track}
	top := c.hold("A", on, "Ann speaker", "Bob speaker", "Bob moderator", "Cid speaker", "Dan moderator")
	c.hold("B", on, "Ann moderator")
	c.hold("Off", nil, "Cid moderator")
	c.hold("Part", merged(on, object{"parent_session_id": top}), "Dan speaker")
	both := object{"roleIds": []string{c.roleIDs()["speaker"]}, "roleSlugs": []string{"moderator"}}
	onTrack := merged(both, object{"trackIds": []string{track}})

	require.Equal(t, "Ann Bob Cid Dan", c.names("participants", both))
	require.Equal(t, "Ann Bob", c.names("participants", onTrack))
	for name, is := range map[string]bool{"Ann": true, "Cid": false, "Dan": false} {
		require.Equal(t, is, c.names("participants", merged(onTrack, object{"email": emailOf(name)})) == name, name)
		require.Equal(t, name, c.names("participants", merged(both, object{"email": emailOf(name)})))
	}
	c.remove(200, c.held["B"].id())
	require.Equal(t, "Bob", c.names("participants", onTrack))
	require.Equal(t, "Bob Cid Dan", c.names("participants", both))
}

func TestRolesAreTornWhereSessionsAre(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann")
	c.hold("A", nil, "Ann speaker", "Ann moderator")
	c.hold("B", nil, "Ann speaker")
	speaks := func(titles ...string) map[string]any { return map[string]any{"speaker": c.sessions(titles...)} }
	require.Equal(t, map[string]any{"speaker": c.sessions("A", "B"), "moderator": c.sessions("A")}, rolesOf(c.participant(200, "Ann")))
	c.recast("A", "Ann speaker")
	require.Equal(t, speaks("A", "B"), rolesOf(c.participant(200, "Ann")))
	c.remove(200, c.held["B"].id())
	require.Equal(t, speaks("A"), rolesOf(c.participant(200, "Ann")))
	c.recast("A")
	require.Equal(t, "Participant not found on this event", c.participant(404, "Ann")["message"])
	require.Empty(t, c.names("participants", nil))
	c.restore(200, c.held["B"].id())
	require.Equal(t, speaks("B"), rolesOf(c.participant(200, "Ann")))
}

func TestParticipantsByAddress(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann", "Bob", "Eve")
	c.hold("A", nil, "Ann speaker", "Bob moderator")
	there := c.there()
	there.meet("Dan", "Ann")
	there.hold("B", nil, "Dan speaker")
	for address, want := range map[string]string{
		"ann@example.org": "Ann", "ann@example": "", "nobody@example.org": "", "Ann": "", "%": "",
		"eve@example.org": "", "dan@example.org": "",
	} {
		require.Equal(t, want, c.names("participants", object{"email": address}), address)
	}
	require.Equal(t, "Ann", c.names("participants", object{"email": " ANN@Example.org\t"}))
	require.Empty(t, c.names("participants", object{"email": emailOf("Ann"), "roleSlugs": []string{"moderator"}}))
	require.Empty(t, there.names("participants", object{"email": emailOf("Ann")}))

	for address, name := range map[string]string{"ann@example.org": "Ann", "%20ANN%40EXAMPLE.ORG%20": "Ann", "bob@example.org": "Bob"} {
		require.Equal(t, name, c.send(200, http.MethodGet, "/participants?email="+address, nil)["full_name"])
	}
	for _, address := range []string{"eve@example.org", "dan@example.org", "nobody@example.org", "x"} {
		answer := c.send(404, http.MethodGet, "/participants?email="+address, nil)
		isRefused(t, answer, "NOT_FOUND", "")
		require.Equal(t, "NotFoundError", answer["name"])
		require.Equal(t, "Participant not found on this event", answer["message"])
	}
	for _, parts := range []string{"", "?email=", "?email=%20", "?email=a%00", "?email=a&email=b", "?email=" + strings.Repeat("a", 256)} {
		isInvalid(t, c.send(400, http.MethodGet, "/participants"+parts, nil), "email")
	}
	isInvalid(t, c.send(400, http.MethodGet, "/participants?email=a&expand=roles", nil), "expand")

	c.send(200, http.MethodPut, "/contacts/"+c.id("Ann"), object{"email": "anna@example.org"})
	c.participant(404, "Ann")
	c.participant(200, "Anna")
	require.Equal(t, "Ann", c.names("participants", object{"email": "anna@example.org"}))
}

// TestDeletedPeopleAreHidden: sessions keep their place, and they are back with it.
func TestDeletedPeopleAreHidden(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann", "Bob")
	c.hold("A", nil, "Ann speaker", "Bob speaker")
	one := "/contacts/" + c.id("Ann")
	before := c.participant(200, "Ann")
	require.Equal(t, []any{"A"}, column(c.send(200, http.MethodGet, one+"/sessions", nil).list("sessions"), "title"))
	c.fire("contacts", "Ann")
	require.Equal(t, "Bob", c.names("speakers", nil))
	require.Equal(t, "Bob", c.names("participants", nil))
	require.Empty(t, c.names("participants", object{"email": emailOf("Ann")}))
	c.speaker(404, c.id("Ann"))
	c.participant(404, "Ann")
	require.Equal(t, "Contact not found", c.send(404, http.MethodGet, one+"/sessions", nil)["message"])

	c.rehire("contacts", "Ann")
	require.Equal(t, "Ann Bob", c.names("speakers", nil))
	c.speaker(200, c.id("Ann"))
	require.Equal(t, before["roles"], c.participant(200, "Ann")["roles"])
}

func TestParticipantRolesAreListedInOrder(t *testing.T) {
	c := newCrowd(t, "sessions_2_0")
	require.Equal(t, []string{"Speaker", "Chairperson", "Moderator"}, texts(c.array("/participant-roles"), "name"))
	host := c.custom("Host", "moderator")
	c.done("participant-role-update", object{"role_id": host, "order": 0})
	roles := c.array("/participant-roles")
	require.Equal(t, []string{"Host", "Speaker", "Chairperson", "Moderator"}, texts(roles, "name"))
	require.Equal(t, entity{"id": host, "name": "Host", "core_role": "moderator", "is_custom": true}, roles[0])
	require.Equal(t, entity{"id": roles[1].id(), "name": "Speaker", "core_role": "speaker", "is_custom": false}, roles[1])

	c.meet("Ann")
	c.hold("A", nil, "Ann moderator", "Ann speaker", "Ann host")
	require.Equal(t, []string{"host", "speaker", "moderator"}, texts(c.participant(200, "Ann").list("roles"), "slug"))
	c.done("participant-role-delete", object{"role_id": host})
	require.Equal(t, []string{"Speaker", "Chairperson", "Moderator"}, texts(c.array("/participant-roles"), "name"))
	require.Equal(t, []string{"speaker", "moderator"}, texts(c.participant(200, "Ann").list("roles"), "slug"))
}

// TestPeopleAreFoundAsContactsAre: by text and times, sorted, in pages, with what
// is expanded.
func TestPeopleAreFoundAsContactsAre(t *testing.T) {
	c := newCrowd(t, "translated_fields")
	names := []string{"Ann", "Bob", "Cid", "Dan", "Eve"}
	c.meet(names...)
	c.meet("Zoe")
	c.hold("A", nil, "Ann speaker", "Bob speaker", "Cid speaker", "Dan speaker", "Eve speaker")
	for _, name := range []string{"Dan", "Ann"} {
		c.who[name] = c.send(200, http.MethodPut, "/contacts/"+c.id(name), object{"company_name": name + " Inc"})
	}
	var all []entity
	for _, name := range names {
		all = append(all, c.who[name])
	}
	for _, what := range []string{"speakers", "participants"} {
		t.Run(what, func(t *testing.T) {
			c := c.seenBy(c.in(t))
			require.Equal(t, "Ann Dan", c.names(what, object{"search": "INC"}))
			require.Equal(t, "Cid", c.names(what, object{"search": "cid@EX"}))
			require.Empty(t, c.names(what, object{"search": "Zoe"}))
			require.Equal(t, "Ann Dan", c.names(what, object{"updatedAt": object{"after": c.who["Eve"]["updated_at"]}}))
			second := sorted(all, by("created_at", false))[1]
			moment := byID(t, all, second).text("created_at")
			var after []string
			for _, r := range all {
				if r.text("created_at") > moment {
					after = append(after, r.text("full_name"))
				}
			}
			slices.Sort(after)
			require.Equal(t, strings.Join(after, " "), c.names(what, object{"createdAt": object{"after": moment}}))

			require.Equal(t, sorted(all, by("created_at", false)), texts(c.find(what, nil).Results, "id"))
			for key, name := range map[string]string{"createdAt": "created_at", "updatedAt": "updated_at"} {
				for direction, desc := range map[string]bool{"asc": false, "desc": true} {
					wanted := sorted(all, by(name, desc))
					sort := object{"sort": object{key: object{"sort": direction}}}
					require.Equal(t, wanted, texts(c.find(what, sort).Results, "id"))
					require.Equal(t, wanted[2:4], texts(c.find(what, sort, "page=2", "pageSize=2").Results, "id"))
				}
			}
			page := c.find(what, nil, "page=3", "pageSize=2")
			require.Len(t, page.Results, 1)
			require.Equal(t, found{Results: page.Results, Pagination: struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{3, 2, 3, 5}}, page)
			beyond := c.find(what, nil, "page=4", "pageSize=2")
			require.Empty(t, beyond.Results)
			require.Equal(t, 5, beyond.Pagination.TotalResults)

			for _, r := range c.find(what, object{"expand": []string{"translated_fields"}}).Results {
				require.Equal(t, []any{}, r["translated_fields"])
			}
			require.NotContains(t, c.find(what, nil).Results[0], "translated_fields")
		})
	}
	require.Contains(t, c.send(200, http.MethodGet, "/speakers/"+c.id("Ann")+"?expand=translated_fields", nil), "translated_fields")
}

func TestNobodyIsFoundWithoutSessions(t *testing.T) {
	c := newCrowd(t)
	c.meet("Ann")
	for _, path := range []string{"/speakers", "/participants"} {
		require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`,
			string(c.Call(t, 200, http.MethodPost, c.EventPath(path), nil).Body))
	}
}
