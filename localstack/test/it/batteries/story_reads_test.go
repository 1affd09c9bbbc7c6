package batteries_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// is holds an answer of the story against what it should be.
func (v *venue) is(want, got any, read string) {
	v.T.Helper()
	require.Equal(v.T, want, got, "%s: %s at %s", v.organizer.sentence, read, v.name)
}

// readEverything compares all reads of the event with what the organizer knows.
func (v *venue) readEverything() {
	v.T.Helper()
	v.readSessions()
	for name, known := range v.organizer.people {
		v.readPerson(name, known)
	}
	v.readSearches()
	v.readPartners()
}

// here are a session's people who are on the event, in role order then their own.
func (v *venue) here(b *billing) (all []participation) {
	for _, role := range storyRoles {
		for _, c := range b.participants {
			if c.role == role && v.guests[c.name] {
				all = append(all, c)
			}
		}
	}
	return all
}

// readSessions reads each session by GET, in the search and in the list.
func (v *venue) readSessions() {
	v.T.Helper()
	for _, b := range v.agenda {
		v.is(v.bill(b), v.billOf(v.Get(200, b.id)), "GET of "+b.title)
	}
	expanded := object{"expand": []string{"subsession_details"}}
	for read, answer := range map[string]it.Page{
		"search": v.Search(expanded, "pageSize=100"), "list": v.List("page_size=100", "expand=subsession_details"),
	} {
		sessions := answer.Results
		for _, s := range answer.Results {
			sessions = append(sessions, s.List("subsessions")...)
		}
		v.is(len(v.agenda), len(sessions), "number of sessions in "+read)
		for _, b := range v.agenda {
			v.is(v.bill(b), v.billOf(it.ByID(v.T, sessions, b.id)), read+" of "+b.title)
		}
	}
}

// bill is what a session should show: who takes part and who supports it.
func (v *venue) bill(b *billing) object {
	bill := object{"title": b.title, "participants": []string{}, "speakers": []string{}, "chairpersons": []string{}, "moderators": []string{}, "sponsors": []string{}}
	for _, c := range v.here(b) {
		person := c.name + " " + v.organizer.people[c.name].email
		legacy := storyCore[c.role] + "s"
		bill["participants"] = append(bill["participants"].([]string), person+" "+c.role)
		bill[legacy] = append(bill[legacy].([]string), person+" "+c.role)
	}
	if v.partners["sponsors"][b.sponsor] {
		bill["sponsors"] = []string{b.sponsor}
	}
	return bill
}

func (v *venue) billOf(session entity) object {
	bill := object{"title": session["title"]}
	for _, name := range []string{"participants", "speakers", "chairpersons", "moderators"} {
		people := []string{}
		for _, p := range session.List(name) {
			people = append(people, fmt.Sprint(p["full_name"], " ", p["email"], " ", p.At("participant_role.slug")))
		}
		bill[name] = people
	}
	bill["sponsors"] = it.Texts(session.List("sponsors"), "name")
	return bill
}

// parts are the titles of the sessions on which a person has a role, by role; none of
// one who is not on the event.
func (v *venue) parts(name string) map[string][]string {
	parts := map[string][]string{}
	for _, b := range v.agenda {
		for _, c := range v.here(b) {
			if c.name == name {
				parts[c.role] = append(parts[c.role], b.title)
			}
		}
	}
	return parts
}

// sessionsOf are the titles of a person's sessions, in the order they were made.
func (v *venue) sessionsOf(name string) []string {
	titles := []string{}
	for _, b := range v.agenda {
		if slices.ContainsFunc(v.here(b), func(c participation) bool { return c.name == name }) {
			titles = append(titles, b.title)
		}
	}
	return titles
}

// read is a GET of something that should be there or not, which a 404 says so.
func (v *venue) read(there bool, path, notFound string) entity {
	v.T.Helper()
	if there {
		return v.Do(http.StatusOK, http.MethodGet, path, nil)
	}
	got := v.Do(http.StatusNotFound, http.MethodGet, path, nil)
	v.is(notFound, got["message"], path)
	return entity{}
}

// readPerson reads one person in every way that names one.
func (v *venue) readPerson(name string, known *acquaintance) {
	v.T.Helper()
	const noParticipant = "Participant not found on this event"
	parts, present := v.parts(name), v.guests[name]
	for _, shown := range []entity{
		v.read(present, "/contacts/"+known.id, "Contact not found"),
		v.read(parts["speaker"] != nil, "/speakers/"+known.id, "Speaker not found"),
		v.read(len(parts) > 0, "/participants?email="+known.email, noParticipant),
	} {
		if len(shown) > 0 {
			v.is([]any{known.id, name, known.email}, []any{shown["id"], shown["full_name"], shown["email"]}, "GET of "+name)
		}
	}
	if len(parts) > 0 {
		v.is(parts, v.rolesOf(v.read(true, "/participants?email="+strings.ToUpper(known.email), "")), "roles of "+name)
	}
	for _, former := range known.former {
		v.read(false, "/participants?email="+former, noParticipant)
	}
	sessions := v.read(present, "/contacts/"+known.id+"/sessions", "Contact not found").List("sessions")
	v.is(v.sessionsOf(name), it.Texts(sessions, "title"), "sessions of "+name)
}

// rolesOf are the titles of a participant's sessions by role.
func (v *venue) rolesOf(participant entity) map[string][]string {
	v.T.Helper()
	parts := map[string][]string{}
	for _, role := range participant.List("roles") {
		for _, id := range role["sessionIds"].([]any) {
			i := slices.IndexFunc(v.agenda, func(b *billing) bool { return b.id == id })
			require.GreaterOrEqual(v.T, i, 0, id)
			parts[role.Text("slug")] = append(parts[role.Text("slug")], v.agenda[i].title)
		}
	}
	return parts
}

// who are the names, in order, of those who have a role that is wanted on a session
// that is.
func (v *venue) who(wanted func(*billing, participation) bool) []string {
	names := map[string]bool{}
	for _, b := range v.agenda {
		for _, c := range v.here(b) {
			if wanted(b, c) {
				names[c.name] = true
			}
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(names))...)
}

// namesBy are the names, in order, that a search by filters finds.
func (v *venue) namesBy(search string, filters object) []string {
	v.T.Helper()
	names := it.Texts(v.SearchAllPages("/"+search, filters), "full_name")
	slices.Sort(names)
	return names
}

// readSearches searches contacts, speakers and participants: all of them, by role,
// by track, and by both.
func (v *venue) readSearches() {
	v.T.Helper()
	guests := slices.Sorted(maps.Keys(v.guests))
	guests = slices.DeleteFunc(guests, func(name string) bool { return !v.guests[name] })
	v.is(guests, v.namesBy("contacts", object{}), "contacts")
	anyone := func(*billing, participation) bool { return true }
	speaks := func(_ *billing, c participation) bool { return c.role == "speaker" }
	v.is(v.who(anyone), v.namesBy("participants", object{}), "participants")
	v.is(v.who(speaks), v.namesBy("speakers", object{}), "speakers")
	for _, p := range v.SearchAllPages("/participants", object{}) {
		v.is(v.parts(p.Text("full_name")), v.rolesOf(p), "roles found of "+p.Text("full_name"))
	}
	for _, role := range storyRoles {
		held := func(_ *billing, c participation) bool { return c.role == role }
		v.is(v.who(held), v.namesBy("participants", object{"roleSlugs": []string{role}}), "participants who are "+role)
	}
	for track, id := range v.tracks {
		filters := object{"trackIds": []string{id}}
		on := func(b *billing, _ participation) bool { return b.track == track }
		v.is(v.who(on), v.namesBy("participants", filters), "participants of "+track)
		both := func(b *billing, c participation) bool { return on(b, c) && speaks(b, c) }
		v.is(v.who(both), v.namesBy("speakers", filters), "speakers of "+track)
		for _, role := range v.ListSettings("/participant-roles") {
			name := strings.ToLower(role.Text("name"))
			both := func(b *billing, c participation) bool { return on(b, c) && c.role == name }
			v.is(v.who(both), v.namesBy("participants", it.Merged(filters, object{"roleIds": []string{role.ID()}})), name+" of "+track)
		}
	}
	for name, known := range v.organizer.people {
		want := []string{}
		if len(v.parts(name)) > 0 {
			want = []string{name}
		}
		v.is(want, v.namesBy("participants", object{"email": strings.ToUpper(known.email)}), "participant by address of "+name)
		for _, former := range known.former {
			v.is([]string{}, v.namesBy("participants", object{"email": former}), "former address of "+name)
		}
	}
}

// readPartners reads every company in both roles, with its contacts.
func (v *venue) readPartners() {
	v.T.Helper()
	for role, partners := range v.partners {
		want := object{}
		for company, id := range v.organizer.companies {
			notFound := map[string]string{"sponsors": "Sponsor not found", "exhibitors": "Exhibitor not found"}[role]
			if got := v.read(partners[company], "/"+role+"/"+id, notFound); partners[company] {
				want[company] = v.staffOf(company)
				v.is(want[company], staffShown(got), "contacts of "+company)
			}
		}
		got := object{}
		for _, account := range v.SearchAllPages("/"+role, object{}) {
			v.is(v.organizer.companies[account.Text("name")], account.ID(), "account of "+account.Text("name"))
			got[account.Text("name")] = staffShown(account)
		}
		v.is(want, got, role)
	}
}

// staffOf are a company's contacts who are on the event, the primary one first.
func (v *venue) staffOf(company string) []string {
	staff := []string{}
	for i, name := range v.staff[company] {
		if v.guests[name] {
			staff = append(staff, fmt.Sprint(name, " ", v.organizer.people[name].email, " ", i == 0))
		}
	}
	return staff
}

func staffShown(account entity) []string {
	staff := []string{}
	for _, c := range account.List("contacts") {
		staff = append(staff, fmt.Sprint(c["full_name"], " ", c["email"], " ", c["is_primary"]))
	}
	return staff
}

// readOrganization reads people where events do not matter: whoever was invited
// anywhere is there, with the sessions of the events that they are on.
func (o *organizer) readOrganization() {
	o.t.Helper()
	first := o.venues[0]
	path := fmt.Sprintf("/v1/organization/%d/contacts", first.Org)
	want := map[string]string{}
	for name, known := range o.people {
		want[name] = known.email
		got := entity(first.Call(o.t, 200, http.MethodGet, path+"/"+known.id, nil).JSON(o.t))
		first.is([]any{name, known.email}, []any{got["full_name"], got["email"]}, "contact of the organization")
		o.readOrganizationSessions(path+"/"+known.id+"/sessions", name)
	}
	all := stacktest.Call[it.Page](first.Stack, 200, http.MethodPost, path+"?pageSize=100", object{})
	got := map[string]string{}
	for _, c := range all.Results {
		got[c.Text("full_name")] = c.Text("email")
	}
	first.is(want, got, "contacts of the organization")
	first.is(len(want), all.Pagination.TotalResults, "number of the organization's contacts")
}

func (o *organizer) readOrganizationSessions(path, name string) {
	o.t.Helper()
	first := o.venues[0]
	sessions := entity(first.Call(o.t, 200, http.MethodGet, path, nil).JSON(o.t)).List("sessions")
	shown := map[float64][]string{}
	for _, s := range sessions {
		event, _ := s["event_id"].(float64)
		shown[event] = append(shown[event], s.Text("title"))
	}
	want := map[float64][]string{}
	for _, v := range o.venues {
		if titles := v.sessionsOf(name); len(titles) > 0 {
			want[float64(v.Event)] = titles
		}
	}
	first.is(want, shown, "sessions in the organization of "+name)
}
