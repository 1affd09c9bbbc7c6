package people_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestParticipantsHaveAllTheirRoles: everyone with a role is found once, with the
// roles in the order of the settings and the sessions in that of their creation.
func TestParticipantsHaveAllTheirRoles(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0", "participant_roles")
	c.AddPeople("Ann", "Bob", "Cid", "Eve")
	panelist := c.NewRole("Panelist", "speaker").ID()
	main := c.AddSession("Main", nil, "Bob panelist", "Ann moderator", "Ann speaker")
	c.AddSession("Part", object{"parent_session_id": main}, "Ann speaker")
	c.AddSession("Abstract", object{"is_abstract": true}, "Ann speaker", "Bob chairperson")
	c.AddSession("Source", nil, "Ann moderator")
	c.Command("session-link", it.Link(main, c.Held["Source"].ID(), "merged_session"))
	c.AddSession("Gone", nil, "Cid speaker", "Ann chairperson")
	c.Delete(200, c.Held["Gone"].ID())

	require.Equal(t, "Ann Bob", c.FindNames("participants", nil))
	ids := c.RoleIDs()
	require.Equal(t, ids["panelist"], panelist)
	role := func(name, core string, custom bool, titles ...string) any {
		slug := strings.ToLower(name)
		return object{"roleId": ids[slug], "roleName": name, "slug": slug, "coreRole": core, "isCustom": custom, "sessionIds": c.SessionIDs(titles...)}
	}
	wanted := map[string][]any{
		"Ann": {role("Speaker", "speaker", false, "Main", "Part", "Abstract"), role("Moderator", "moderator", false, "Main", "Source")},
		"Bob": {role("Chairperson", "chairperson", false, "Abstract"), role("Panelist", "speaker", true, "Main")},
	}
	for _, shown := range c.Find("participants", object{}).Results {
		name := shown.Text("full_name")
		require.Equal(t, wanted[name], shown["roles"])
		require.Equal(t, it.Merged(object(c.Contacts[name]), object{"roles": wanted[name]}), object(shown), "the contact with the roles")
		require.Equal(t, shown, c.GetParticipant(200, name))
		for slug := range it.RolesOf(shown) {
			filtered := c.Find("participants", object{"filters": object{"roleSlugs": []string{slug}, "search": name}})
			require.Equal(t, []entity{shown}, filtered.Results, "all roles, whatever is filtered by")
		}
	}
}

func TestRolesStandLast(t *testing.T) {
	c := it.NewProgramme(t, "translated_fields")
	c.AddPeople("Ann")
	id := c.AddSession("A", nil, "Ann speaker")
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
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann", "Bob")
	host := c.NewRole("Host", "moderator").ID()
	c.AddSession("A", nil, "Ann host", "Bob speaker")
	shown := c.GetParticipant(200, "Ann").List("roles")
	require.Equal(t, []any{nil}, it.Column(shown, "roleId"))
	require.Equal(t, "Ann", c.FindNames("participants", object{"roleIds": []string{host}}))
	require.Equal(t, "Ann", c.FindNames("participants", object{"roleSlugs": []string{"host"}}))
	require.Len(t, c.RoleIDs(), 4, "the list of roles keeps its ids")

	c.Command("event-update", object{"features": object{"participant_roles": true}})
	require.Equal(t, []any{host}, it.Column(c.GetParticipant(200, "Ann").List("roles"), "roleId"))
	require.Equal(t, "Ann", c.FindNames("participants", object{"roleIds": []string{host}}))
}

func TestParticipantsByRole(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann", "Bob", "Cid")
	panelist := c.NewRole("Panelist", "speaker").ID()
	c.AddSession("A", nil, "Ann speaker", "Bob moderator")
	c.AddSession("B", nil, "Ann moderator", "Cid panelist")
	ids := c.RoleIDs()
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
		require.Equal(t, f.want, c.FindNames("participants", filters), "%v", filters)
	}
	require.Empty(t, c.InNewProgramme().FindNames("participants", object{"roleIds": list(ids["speaker"])}))
}

// TestRolesByIDAndBySlugAreTwoFilters: a person may pass them by two roles, on two
// sessions, each of which passes the filters by metadata.
func TestRolesByIDAndBySlugAreTwoFilters(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	c.AddPeople("Ann", "Bob", "Cid", "Dan")
	track := c.NewEntry("tracks", "Main").ID()
	on := object{"track_id": track}
	top := c.AddSession("A", on, "Ann speaker", "Bob speaker", "Bob moderator", "Cid speaker", "Dan moderator")
	c.AddSession("B", on, "Ann moderator")
	c.AddSession("Off", nil, "Cid moderator")
	c.AddSession("Part", it.Merged(on, object{"parent_session_id": top}), "Dan speaker")
	both := object{"roleIds": []string{c.RoleIDs()["speaker"]}, "roleSlugs": []string{"moderator"}}
	onTrack := it.Merged(both, object{"trackIds": []string{track}})

	require.Equal(t, "Ann Bob Cid Dan", c.FindNames("participants", both))
	require.Equal(t, "Ann Bob", c.FindNames("participants", onTrack))
	for name, is := range map[string]bool{"Ann": true, "Cid": false, "Dan": false} {
		require.Equal(t, is, c.FindNames("participants", it.Merged(onTrack, object{"email": it.EmailOf(name)})) == name, name)
		require.Equal(t, name, c.FindNames("participants", it.Merged(both, object{"email": it.EmailOf(name)})))
	}
	c.Delete(200, c.Held["B"].ID())
	require.Equal(t, "Bob", c.FindNames("participants", onTrack))
	require.Equal(t, "Bob Cid Dan", c.FindNames("participants", both))
}

func TestRolesAreTornWhereSessionsAre(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann speaker", "Ann moderator")
	c.AddSession("B", nil, "Ann speaker")
	speaks := func(titles ...string) map[string]any { return map[string]any{"speaker": c.SessionIDs(titles...)} }
	require.Equal(t, map[string]any{"speaker": c.SessionIDs("A", "B"), "moderator": c.SessionIDs("A")}, it.RolesOf(c.GetParticipant(200, "Ann")))
	c.SetPeople("A", "Ann speaker")
	require.Equal(t, speaks("A", "B"), it.RolesOf(c.GetParticipant(200, "Ann")))
	c.Delete(200, c.Held["B"].ID())
	require.Equal(t, speaks("A"), it.RolesOf(c.GetParticipant(200, "Ann")))
	c.SetPeople("A")
	require.Equal(t, "Participant not found on this event", c.GetParticipant(404, "Ann")["message"])
	require.Empty(t, c.FindNames("participants", nil))
	c.Restore(200, c.Held["B"].ID())
	require.Equal(t, speaks("B"), it.RolesOf(c.GetParticipant(200, "Ann")))
}

func TestParticipantsByAddress(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann", "Bob", "Eve")
	c.AddSession("A", nil, "Ann speaker", "Bob moderator")
	there := c.InNewProgramme()
	there.AddPeople("Dan", "Ann")
	there.AddSession("B", nil, "Dan speaker")
	for address, want := range map[string]string{
		"ann@example.org": "Ann", "ann@example": "", "nobody@example.org": "", "Ann": "", "%": "",
		"eve@example.org": "", "dan@example.org": "",
	} {
		require.Equal(t, want, c.FindNames("participants", object{"email": address}), address)
	}
	require.Equal(t, "Ann", c.FindNames("participants", object{"email": " ANN@Example.org\t"}))
	require.Empty(t, c.FindNames("participants", object{"email": it.EmailOf("Ann"), "roleSlugs": []string{"moderator"}}))
	require.Empty(t, there.FindNames("participants", object{"email": it.EmailOf("Ann")}))

	for address, name := range map[string]string{"ann@example.org": "Ann", "%20ANN%40EXAMPLE.ORG%20": "Ann", "bob@example.org": "Bob"} {
		require.Equal(t, name, c.Do(200, http.MethodGet, "/participants?email="+address, nil)["full_name"])
	}
	for _, address := range []string{"eve@example.org", "dan@example.org", "nobody@example.org", "x"} {
		answer := c.Do(404, http.MethodGet, "/participants?email="+address, nil)
		it.RequireError(t, answer, "NOT_FOUND", "")
		require.Equal(t, "NotFoundError", answer["name"])
		require.Equal(t, "Participant not found on this event", answer["message"])
	}
	for _, parts := range []string{"", "?email=", "?email=%20", "?email=a%00", "?email=a&email=b", "?email=" + strings.Repeat("a", 256)} {
		it.RequireInvalid(t, c.Do(400, http.MethodGet, "/participants"+parts, nil), "email")
	}
	it.RequireInvalid(t, c.Do(400, http.MethodGet, "/participants?email=a&expand=roles", nil), "expand")

	c.Do(200, http.MethodPut, "/contacts/"+c.ContactID("Ann"), object{"email": "anna@example.org"})
	c.GetParticipant(404, "Ann")
	c.GetParticipant(200, "Anna")
	require.Equal(t, "Ann", c.FindNames("participants", object{"email": "anna@example.org"}))
}

// TestDeletedPeopleAreHidden: sessions keep their place, and they are back with it.
func TestDeletedPeopleAreHidden(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann", "Bob")
	c.AddSession("A", nil, "Ann speaker", "Bob speaker")
	one := "/contacts/" + c.ContactID("Ann")
	before := c.GetParticipant(200, "Ann")
	require.Equal(t, []any{"A"}, it.Column(c.Do(200, http.MethodGet, one+"/sessions", nil).List("sessions"), "title"))
	c.DeletePerson("contacts", "Ann")
	require.Equal(t, "Bob", c.FindNames("speakers", nil))
	require.Equal(t, "Bob", c.FindNames("participants", nil))
	require.Empty(t, c.FindNames("participants", object{"email": it.EmailOf("Ann")}))
	speaker(c, 404, c.ContactID("Ann"))
	c.GetParticipant(404, "Ann")
	require.Equal(t, "Contact not found", c.Do(404, http.MethodGet, one+"/sessions", nil)["message"])

	c.RestorePerson("contacts", "Ann")
	require.Equal(t, "Ann Bob", c.FindNames("speakers", nil))
	speaker(c, 200, c.ContactID("Ann"))
	require.Equal(t, before["roles"], c.GetParticipant(200, "Ann")["roles"])
}

func TestParticipantRolesAreListedInOrder(t *testing.T) {
	c := it.NewProgramme(t, "sessions_2_0")
	require.Equal(t, []string{"Speaker", "Chairperson", "Moderator"}, it.Texts(c.ListSettings("/participant-roles"), "name"))
	host := c.NewRole("Host", "moderator").ID()
	c.Command("participant-role-update", object{"role_id": host, "order": 0})
	roles := c.ListSettings("/participant-roles")
	require.Equal(t, []string{"Host", "Speaker", "Chairperson", "Moderator"}, it.Texts(roles, "name"))
	require.Equal(t, entity{"id": host, "name": "Host", "core_role": "moderator", "is_custom": true}, roles[0])
	require.Equal(t, entity{"id": roles[1].ID(), "name": "Speaker", "core_role": "speaker", "is_custom": false}, roles[1])

	c.AddPeople("Ann")
	c.AddSession("A", nil, "Ann moderator", "Ann speaker", "Ann host")
	require.Equal(t, []string{"host", "speaker", "moderator"}, it.Texts(c.GetParticipant(200, "Ann").List("roles"), "slug"))
	c.Command("participant-role-delete", object{"role_id": host})
	require.Equal(t, []string{"Speaker", "Chairperson", "Moderator"}, it.Texts(c.ListSettings("/participant-roles"), "name"))
	require.Equal(t, []string{"speaker", "moderator"}, it.Texts(c.GetParticipant(200, "Ann").List("roles"), "slug"))
}

// TestPeopleAreFoundAsContactsAre: by text and times, sorted, in pages, with what
// is expanded.
func TestPeopleAreFoundAsContactsAre(t *testing.T) {
	c := it.NewProgramme(t, "translated_fields")
	names := []string{"Ann", "Bob", "Cid", "Dan", "Eve"}
	c.AddPeople(names...)
	c.AddPeople("Zoe")
	c.AddSession("A", nil, "Ann speaker", "Bob speaker", "Cid speaker", "Dan speaker", "Eve speaker")
	for _, name := range []string{"Dan", "Ann"} {
		c.Contacts[name] = c.Do(200, http.MethodPut, "/contacts/"+c.ContactID(name), object{"company_name": name + " Inc"})
	}
	var all []entity
	for _, name := range names {
		all = append(all, c.Contacts[name])
	}
	for _, what := range []string{"speakers", "participants"} {
		t.Run(what, func(t *testing.T) {
			c := c.SeenBy(c.ForTest(t))
			require.Equal(t, "Ann Dan", c.FindNames(what, object{"search": "INC"}))
			require.Equal(t, "Cid", c.FindNames(what, object{"search": "cid@EX"}))
			require.Empty(t, c.FindNames(what, object{"search": "Zoe"}))
			require.Equal(t, "Ann Dan", c.FindNames(what, object{"updatedAt": object{"after": c.Contacts["Eve"]["updated_at"]}}))
			second := it.SortedIDs(all, it.ByTime("created_at", false))[1]
			moment := it.ByID(t, all, second).Text("created_at")
			var after []string
			for _, r := range all {
				if r.Text("created_at") > moment {
					after = append(after, r.Text("full_name"))
				}
			}
			slices.Sort(after)
			require.Equal(t, strings.Join(after, " "), c.FindNames(what, object{"createdAt": object{"after": moment}}))

			require.Equal(t, it.SortedIDs(all, it.ByTime("created_at", false)), it.Texts(c.Find(what, nil).Results, "id"))
			for key, name := range map[string]string{"createdAt": "created_at", "updatedAt": "updated_at"} {
				for direction, desc := range map[string]bool{"asc": false, "desc": true} {
					wanted := it.SortedIDs(all, it.ByTime(name, desc))
					sort := object{"sort": object{key: object{"sort": direction}}}
					require.Equal(t, wanted, it.Texts(c.Find(what, sort).Results, "id"))
					require.Equal(t, wanted[2:4], it.Texts(c.Find(what, sort, "page=2", "pageSize=2").Results, "id"))
				}
			}
			page := c.Find(what, nil, "page=3", "pageSize=2")
			require.Len(t, page.Results, 1)
			require.Equal(t, it.Page{Results: page.Results, Pagination: struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{3, 2, 3, 5}}, page)
			beyond := c.Find(what, nil, "page=4", "pageSize=2")
			require.Empty(t, beyond.Results)
			require.Equal(t, 5, beyond.Pagination.TotalResults)

			for _, r := range c.Find(what, object{"expand": []string{"translated_fields"}}).Results {
				require.Equal(t, []any{}, r["translated_fields"])
			}
			require.NotContains(t, c.Find(what, nil).Results[0], "translated_fields")
		})
	}
	require.Contains(t, c.Do(200, http.MethodGet, "/speakers/"+c.ContactID("Ann")+"?expand=translated_fields", nil), "translated_fields")
}

func TestNobodyIsFoundWithoutSessions(t *testing.T) {
	c := it.NewProgramme(t)
	c.AddPeople("Ann")
	for _, path := range []string{"/speakers", "/participants"} {
		require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`,
			string(c.Call(t, 200, http.MethodPost, c.EventPath(path), nil).Body))
	}
}
