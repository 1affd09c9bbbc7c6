package demo

import (
	"fmt"
	"html"
	"time"
)

// draft is a session to create, with the name of its format and the key of its parent.
// Abstracts have no format.
type draft struct {
	body   map[string]any
	format string
	parent string
}

// key returns the client_session_id, which identifies the session in later runs.
func (d draft) key() string {
	key, _ := d.body["client_session_id"].(string)
	return key
}

// plan has the content, the starts of the days, and the ids of the event's settings.
type plan struct {
	programme
	days []time.Time
	ids  ids
}

// slot is a part of every day with a format.
type slot struct {
	from, to time.Duration
	format   string
}

const (
	talkFormat = "Talk"           // The format of most sessions, and of lightning talks by themselves.
	hall       = 0                // The room of the plenaries; no track has it.
	partLength = 10 * time.Minute // How long one lightning talk is.
	prefix     = "demo-"          // What every client_session_id begins with.
)

// clock returns a time of day.
func clock(hour, minute int) time.Duration {
	return time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute
}

// slots lists the times of the tracks' talks, five a day.
var slots = []slot{
	{clock(10, 15), clock(11, 0), talkFormat},
	{clock(11, 20), clock(12, 5), talkFormat},
	{clock(13, 30), clock(14, 15), "Panel"},
	{clock(14, 35), clock(15, 20), talkFormat},
	{clock(15, 45), clock(17, 15), "Workshop"},
}

// Keynotes open and close each day; lightning talks fill the lunch break.
var (
	plenaries = []slot{{clock(9, 0), clock(9, 45), "Keynote"}, {clock(17, 30), clock(18, 0), "Keynote"}}
	lunch     = slot{clock(12, 15), clock(12, 55), "Lightning talks"}
)

// sessions returns the sessions without a parent: 120 talks of the tracks, 6 keynotes, 6
// blocks of lightning talks and 18 abstracts.
func (p plan) sessions() []draft {
	var all []draft
	for day, midnight := range p.days {
		for i, s := range plenaries {
			n := day*len(plenaries) + i
			d := p.scheduled(fmt.Sprintf("plenary-%d", n+1), p.Plenaries[n], s, midnight)
			p.place(d, hall)
			all = append(all, d)
		}
		all = append(all, p.talks(day, midnight)...)
		all = append(all, p.lightnings(day, midnight)...)
	}
	return append(all, p.abstracts()...)
}

// talks returns the talks of the tracks on a day. A track keeps its room for a day.
func (p plan) talks(day int, midnight time.Time) (all []draft) {
	for t, track := range p.Tracks {
		room := 1 + (t+day)%len(p.Tracks)
		for i, s := range slots {
			n := day*len(slots) + i
			d := p.scheduled(fmt.Sprintf("talk-%d-%d", t+1, n+1), track.Talks[n], s, midnight)
			p.place(d, room)
			d.body["track_id"] = p.ids["tracks"][track.Name]
			p.details(d, t*len(track.Talks)+n, midnight)
			all = append(all, d)
		}
	}
	return all
}

// lightnings returns the two blocks of a day's lunch break; the talks are subsessions.
func (p plan) lightnings(day int, midnight time.Time) (all []draft) {
	for i, room := range []int{hall, len(p.Rooms) - 1} {
		n := day*2 + i
		title := p.Lightning[n].Title
		d := p.scheduled(lightningKey(n), talk{title, "Four short talks in forty minutes."}, lunch, midnight)
		p.place(d, room)
		all = append(all, d)
	}
	return all
}

// lightningKey returns the key of the n-th block of lightning talks.
func lightningKey(n int) string { return fmt.Sprintf("lightning-%d", n+1) }

// subsessions returns the parts of the lightning talks.
func (p plan) subsessions() (all []draft) {
	for n, block := range p.Lightning {
		from := lunch.from
		for i, title := range block.Parts {
			part := slot{from, from + partLength, talkFormat}
			d := p.scheduled(fmt.Sprintf("%s-%d", lightningKey(n), i+1), talk{title, "A lightning talk."}, part, p.days[n/2])
			d.parent = prefix + lightningKey(n)
			all = append(all, d)
			from = part.to
		}
	}
	return all
}

// abstracts returns submissions without a place in the schedule, in every status of a review.
func (p plan) abstracts() (all []draft) {
	statuses := []string{"pending", "accept_queue", "pending", "decline_queue", "declined"}
	for n, a := range p.Abstracts {
		d := written(fmt.Sprintf("abstract-%d", n+1), a)
		d.body["is_abstract"] = true
		d.body["track_id"] = p.ids["tracks"][p.Tracks[n%len(p.Tracks)].Name]
		d.body["level_id"] = p.pick("levels", p.Levels, n)
		if n%6 == 0 {
			d.body["custom_status_id"] = p.ids["statuses"]["Second review"]
		} else {
			d.body["status"] = statuses[n%len(statuses)]
		}
		all = append(all, d)
	}
	return all
}

// written returns a draft with only texts.
func written(key string, t talk) draft {
	return draft{body: map[string]any{
		"client_session_id": prefix + key, "title": t[0],
		"description": "<p>" + html.EscapeString(t[1]) + "</p>",
	}}
}

// scheduled returns an accepted, public session in a slot of the day.
func (p plan) scheduled(key string, t talk, s slot, midnight time.Time) draft {
	d := written(key, t)
	d.format = s.format
	d.body["starts_at"] = midnight.Add(s.from).Format(time.RFC3339)
	d.body["ends_at"] = midnight.Add(s.to).Format(time.RFC3339)
	d.body["format_id"] = p.ids["formats"][s.format]
	d.body["language_id"] = p.ids["languages"]["English"]
	d.body["status"] = "accepted"
	d.body["is_public"] = true
	return d
}

// place sets the room.
func (p plan) place(d draft, room int) {
	name, _ := p.Rooms[room]["name"].(string)
	d.body["room_id"] = p.ids["rooms"][name]
	d.body["capacity"] = p.Rooms[room]["capacity"]
}

// details varies the other values of a talk by its number n.
func (p plan) details(d draft, n int, midnight time.Time) {
	d.body["level_id"] = p.pick("levels", p.Levels, n)
	d.body["tag_ids"] = []string{p.pick("tags", p.Tags, n), p.pick("tags", p.Tags, n*5+7)}
	switch n % 16 {
	case 5:
		delete(d.body, "status")
		d.body["custom_status_id"] = p.ids["statuses"]["Waiting for slides"]
	case 11:
		delete(d.body, "status")
		d.body["custom_status_id"], d.body["is_public"] = p.ids["statuses"]["Reserve list"], false
	}
	if n%9 == 4 {
		d.body["language_id"] = p.pick("languages", p.Languages, 1+n%2)
	}
	if n%10 == 0 {
		d.body["external_url"] = "https://demo.example/programme/" + d.key()
	}
	if d.format == "Workshop" {
		d.body["ceu_credits"] = 1.5
	}
	d.body["custom_fields"] = values(p.ids["fields"], n, midnight)
}

// values returns custom field values of every type that the conference has.
func values(names map[string]string, n int, midnight time.Time) map[string]any {
	setups := []string{"theater", "classroom", "round tables"}
	all := map[string]any{
		names["Takeaway"]:          "One thing to try in the first week back.",
		names["Recording consent"]: n%4 != 0,
		names["Seats reserved"]:    n % 12,
		names["Room set-up"]:       setups[n%len(setups)],
		names["Equipment"]:         []string{"second screen", "audience microphones"}[:1+n%2],
		names["Slides due"]:        midnight.AddDate(0, 0, -14).Format(time.DateOnly),
		names["Technical check"]:   midnight.Add(clock(8, 15)).Format(time.RFC3339),
		names["Organizer contact"]: "programme@demo.example",
	}
	if n%5 == 4 {
		all[names["Prerequisites"]] = "A laptop with a current browser.\nNo account is needed."
	}
	return all
}

// pick returns the id of a name, chosen by n.
func (p plan) pick(kind string, names []string, n int) string {
	return p.ids[kind][names[n%len(names)]]
}
