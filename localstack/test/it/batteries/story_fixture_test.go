package batteries_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// organizer is who tells a story: an organization's events, people and companies,
// as they should be known to all after each sentence of it.
type organizer struct {
	t         *testing.T
	venues    []*venue
	people    map[string]*acquaintance
	companies map[string]string
	// sentence is what was told last.
	sentence string
}

// acquaintance is a person the organizer knows, with the addresses they had before.
type acquaintance struct {
	id, email string
	former    []string
}

// venue is one event of the organizer.
type venue struct {
	*it.Client
	organizer *organizer
	name      string
	tracks    map[string]string
	agenda    []*billing
	// guests are the people who were invited: false for one who is deleted.
	guests map[string]bool
	// partners are the companies by role, and false for one whose role is deleted;
	// staff are their contacts by company.
	partners map[string]map[string]bool
	staff    map[string][]string
}

// billing is a session with its people, each as "Ann speaker", in their order.
type billing struct {
	id, title, track, parent string
	participants             []participation
	sponsor                  string
}

type participation struct{ name, role string }

// storyRoles are the roles in the events' order, and storyCore what each stands for.
var (
	storyRoles = []string{"speaker", "chairperson", "moderator", "panelist"}
	storyCore  = map[string]string{"speaker": "speaker", "chairperson": "chairperson", "moderator": "moderator", "panelist": "speaker"}
)

// newOrganizer has events of these names, each with the tracks Web and Data and the
// custom role of panelists.
func newOrganizer(t *testing.T, names ...string) *organizer {
	t.Helper()
	o := &organizer{t: t, people: map[string]*acquaintance{}, companies: map[string]string{}}
	features := []string{"sessions_2_0", "participant_roles"}
	first := it.NewClient(t, features...)
	for i, name := range names {
		d := first
		if i > 0 {
			d = first.InNewEvent(features...)
		}
		d.Command("participant-role-create", object{"name": "Panelist", "core_role": "speaker"})
		o.venues = append(o.venues, &venue{
			Client: d, organizer: o, name: name, guests: map[string]bool{}, staff: map[string][]string{},
			tracks:   map[string]string{"Web": d.NewEntry("tracks", "Web").ID(), "Data": d.NewEntry("tracks", "Data").ID()},
			partners: map[string]map[string]bool{"sponsors": {}, "exhibitors": {}},
		})
	}
	return o
}

// tells does what a sentence says, and then everything must read as it should.
func (o *organizer) tells(sentence string, do func()) {
	o.t.Helper()
	o.sentence = sentence
	do()
	for _, v := range o.venues {
		v.readEverything()
	}
	o.readOrganization()
}

// invite puts people on the event; one who is known is the same contact.
func (v *venue) invite(names ...string) {
	v.T.Helper()
	for _, name := range names {
		known := v.organizer.people[name]
		if known == nil {
			known = &acquaintance{email: strings.ToLower(name) + "@story.example"}
			v.organizer.people[name] = known
		}
		got := v.NewContact(known.email, object{"first_name": name})
		if known.id == "" {
			known.id = got.ID()
		}
		require.Equal(v.T, known.id, got.ID(), name)
		v.guests[name] = true
	}
}

// programme adds a session; people are those of it.
func (v *venue) programme(title, track string, people ...string) {
	v.T.Helper()
	v.schedule(&billing{title: title, track: track, participants: participations(people)}, object{})
}

// part adds a subsession.
func (v *venue) part(parent, title string, people ...string) {
	v.T.Helper()
	v.schedule(&billing{title: title, parent: parent, participants: participations(people)}, object{"parent_session_id": v.billed(parent).id})
}

func (v *venue) schedule(b *billing, body object) {
	v.T.Helper()
	body = it.Merged(body, object{"title": b.title, "participants": v.participants(b)})
	if b.track != "" {
		body["track_id"] = v.tracks[b.track]
	}
	b.id = v.Create(200, body).ID()
	v.agenda = append(v.agenda, b)
}

// recastTo gives a session other people.
func (v *venue) recastTo(title string, people ...string) {
	v.T.Helper()
	b := v.billed(title)
	b.participants = participations(people)
	v.Put(200, b.id, object{"participants": v.participants(b)})
}

// leaves deletes a person from the event, and returns brings them back.
func (v *venue) leaves(name string) {
	v.T.Helper()
	v.DeleteRecord("contacts", v.organizer.people[name].id)
	v.guests[name] = false
}

func (v *venue) returns(name string) {
	v.T.Helper()
	v.RestoreRecord("contacts", v.organizer.people[name].id)
	v.guests[name] = true
}

// moves gives a person another address.
func (v *venue) moves(name, email string) {
	v.T.Helper()
	known := v.organizer.people[name]
	v.Do(200, http.MethodPut, "/contacts/"+known.id, object{"email": email})
	known.former, known.email = append(known.former, known.email), email
}

// signs gives a company a role, sponsors or exhibitors: as a new account, or as its
// second role. The first of its staff is its primary contact.
func (v *venue) signs(role, company string, staff ...string) {
	v.T.Helper()
	body := object{"name": company}
	if id := v.organizer.companies[company]; id != "" {
		body = object{"account_id": id}
	} else {
		v.staff[company] = staff
		contacts := []object{}
		for i, name := range staff {
			contacts = append(contacts, object{"contact_id": v.organizer.people[name].id, "is_primary": i == 0})
		}
		body["contacts"] = contacts
	}
	got := v.Do(200, http.MethodPost, "/"+role+"/create", body)
	if known := v.organizer.companies[company]; known != "" {
		require.Equal(v.T, known, got.ID(), "the second role is the same account's")
	}
	v.organizer.companies[company] = got.ID()
	v.partners[role][company] = true
}

// resigns deletes a role of a company, and renews restores it.
func (v *venue) resigns(role, company string) {
	v.T.Helper()
	v.DeleteRecord(role, v.organizer.companies[company])
	v.partners[role][company] = false
}

func (v *venue) renews(role, company string) {
	v.T.Helper()
	v.RestoreRecord(role, v.organizer.companies[company])
	v.partners[role][company] = true
}

// thanks names the sponsor of a session.
func (v *venue) thanks(title, company string) {
	v.T.Helper()
	b := v.billed(title)
	b.sponsor = company
	v.Put(200, b.id, object{"sponsor_ids": []string{v.organizer.companies[company]}})
}

func (v *venue) billed(title string) *billing {
	v.T.Helper()
	i := slices.IndexFunc(v.agenda, func(b *billing) bool { return b.title == title })
	require.GreaterOrEqual(v.T, i, 0, title)
	return v.agenda[i]
}

// participations reads people as they are told: "Ann speaker".
func participations(people []string) []participation {
	all := make([]participation, len(people))
	for i, person := range people {
		name, role, _ := strings.Cut(person, " ")
		all[i] = participation{name, role}
	}
	return all
}

// participants are a session's people as they are written: by id and by address in
// turn.
func (v *venue) participants(b *billing) []object {
	entries := make([]object, len(b.participants))
	for i, c := range b.participants {
		entries[i] = object{"contact_id": v.organizer.people[c.name].id, "role_slug": c.role, "order": i}
		if i%2 == 1 {
			delete(entries[i], "contact_id")
			entries[i]["email"] = strings.ToUpper(v.organizer.people[c.name].email)
		}
	}
	return entries
}
