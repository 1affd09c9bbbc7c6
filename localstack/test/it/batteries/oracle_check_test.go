package batteries_test

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// result is a session as a search shows it.
type result struct {
	state
	// names are those of the metadata shown, by id.
	names map[string]string
	// subsAt are the subsessions shown with their updated_at.
	subsAt map[string]int64
	// participantsAt and accountsAt are the people and the accounts shown, the latter by
	// role.
	participantsAt []presence
	accountsAt     map[string][]presence
}

// presence is a person or an account as a session shows it.
type presence struct {
	ID      string
	Updated time.Time `json:"updated_at"`
	Role    struct {
		Slug string
	} `json:"participant_role"`
}

// shownEntry is nested metadata, null or {} when there is none.
type shownEntry struct{ ID, Name string }

// rowOf reads an answer's object.
func rowOf(object map[string]any) *result {
	text, _ := json.Marshal(object)
	var o struct {
		ID          string
		Friendly    string `json:"friendly_id"`
		Title       string
		Status      *string
		Custom      *shownEntry           `json:"custom_status"`
		Abstract    bool                  `json:"is_abstract"`
		Composition struct{ Role string } `json:"composition_status"`
		Parent      string                `json:"parent_session_id"`
		Created     time.Time             `json:"created_at"`
		Updated     time.Time             `json:"updated_at"`
		Starts      *time.Time            `json:"starts_at"`
		Deleted     *time.Time            `json:"deleted_at"`
		Track       *shownEntry
		Level       *shownEntry
		Format      *shownEntry
		Language    *shownEntry
		Tags        []shownEntry
		Subsessions []struct {
			ID      string
			Updated time.Time `json:"updated_at"`
		}
		Participants, Sponsors, Exhibitors []presence
	}
	if err := json.Unmarshal(text, &o); err != nil {
		return &result{state: state{title: err.Error()}}
	}
	r := &result{names: map[string]string{}, subsAt: map[string]int64{}, participantsAt: o.Participants}
	r.accountsAt = map[string][]presence{"sponsor": o.Sponsors, "exhibitor": o.Exhibitors}
	r.state = state{id: o.ID, friendly: o.Friendly, title: o.Title, abstract: o.Abstract, source: o.Composition.Role == "source", parent: o.Parent,
		created: o.Created.UnixMilli(), updated: o.Updated.UnixMilli(), ids: map[string][]string{}}
	if o.Status != nil {
		r.status = *o.Status
	}
	if o.Starts != nil {
		r.starts = o.Starts.UnixMilli()
	}
	if o.Deleted != nil {
		r.deleted = o.Deleted.UnixMilli()
	}
	note := func(kind string, e shownEntry) {
		if e.ID != "" {
			r.ids[kind], r.names[e.ID] = append(r.ids[kind], e.ID), e.Name
		}
	}
	for kind, e := range map[string]*shownEntry{"track": o.Track, "level": o.Level, "format": o.Format, "language": o.Language} {
		if e != nil {
			note(kind, *e)
		}
	}
	for _, tag := range o.Tags {
		note("tag", tag)
	}
	if o.Custom != nil {
		r.custom, r.names[o.Custom.ID] = o.Custom.ID, o.Custom.Name
	}
	for _, sub := range o.Subsessions {
		r.subs, r.subsAt[sub.ID] = append(r.subs, sub.ID), sub.Updated.UnixMilli()
	}
	return r
}

func readPage(body []byte) pageOf[*result] { return pageRead(body, rowOf) }

// verdict is what is wrong with an answer to a search of sessions.
type verdict struct {
	judge
	q inquiry
}

// check lists what is wrong with an answer to a search that began at before.
// Where nothing was written meanwhile only one answer is right; a session that
// was may be found as it was or as it is.
func (m *model) check(q inquiry, p pageOf[*result], before watermark) (problems []string, exact bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := &verdict{judge: m.judging(q.ask, before), q: q}
	as := make([]dated, len(p.results))
	for i, r := range p.results {
		v.result(r)
		as[i] = v.shown(r)
	}
	var all []candidate
	for _, k := range v.sessions.known {
		c := candidate{dated: k.state, sure: k.still(before.clock) && !v.loose && v.parentStill(k.state)}
		c.kept = c.sure && q.keeps(k.state, v.source(k.state), v.live)
		all = append(all, c)
	}
	open := v.whole(q.ask, p.paging, shownIDs(p.results, func(r *result) string { return r.id }), as, v.sessions.creating, all)
	return v.problems, open == 0
}

// source is whether a session, or the one it is a part of, is linked into
// another one.
func (v *verdict) source(s *state) bool {
	if s.parent == "" {
		return s.source
	}
	return v.sessions.known[s.parent].state.source
}

// parentStill is whether nothing was written to the session's parent, if it has
// one.
func (v *verdict) parentStill(s *state) bool {
	return s.parent == "" || v.sessions.known[s.parent].still(v.before.clock)
}

// result checks one session that is shown.
func (v *verdict) result(r *result) {
	if was := v.before.sessions[r.id]; was != nil && r.updated < was.updated {
		v.wrong("%s is shown as of %d, acknowledged was %d", r.id, r.updated, was.updated)
	}
	k := v.sessions.known[r.id]
	if k == nil {
		if v.sessions.creating == 0 {
			v.wrong("%s is shown and was never made", r.id)
		}
		return
	}
	if version := v.sessions.past[moment(r.id, r.updated)]; version != nil {
		v.same(r, version)
		if v.q.way != byStatus && v.q.way != byQuery { // Which show no people.
			v.people(r, version)
		}
		if !v.loose && v.parentStill(version) && !v.q.keeps(version, v.source(version), v.live) {
			v.wrong("%s does not match: %+v", r.id, *version)
		}
	} else if k.still(v.before.clock) {
		v.wrong("%s is shown as of %d, which it never was", r.id, r.updated)
	}
	if k.still(v.before.clock) && v.q.way != byQuery {
		v.children(r, k.state)
	}
}

// same compares what is shown with the version that it is.
func (v *verdict) same(r *result, version *state) {
	want := *version
	if v.q.way == byStatus { // Which shows no more than this.
		want.title, want.starts = "", 0
		want.ids = nil
	}
	if v.q.way == byQuery { // Which shows no tags.
		want.ids = maps.Clone(want.ids)
		delete(want.ids, "tag")
	}
	if r.friendly != want.friendly || r.title != want.title || r.status != want.status || r.abstract != want.abstract ||
		r.created != want.created || r.starts != want.starts || r.deleted != want.deleted || version.parent == "" && want.source != r.source {
		v.wrong("%s is shown as %+v, it is %+v", r.id, r.state, want)
	}
	for kind, ids := range want.ids {
		v.labels(r, kind, r.ids[kind], ids)
	}
	if want.custom != "" {
		v.labels(r, "custom status", []string{r.custom}, []string{want.custom})
	}
}

// labels: metadata is shown with its name while it is there, and not otherwise.
func (v *verdict) labels(r *result, kind string, shown, stored []string) {
	for _, id := range stored {
		l := v.entries[id]
		if !l.still(v.before.clock) {
			continue
		}
		if slices.Contains(shown, id) != l.live {
			v.wrong("%s: the %s %s is shown: %v, is there: %v", r.id, kind, id, !l.live, l.live)
		}
		if name, ok := r.names[id]; ok && name != l.name {
			v.wrong("%s: the %s %s is shown as %q, it is %q", r.id, kind, id, name, l.name)
		}
	}
}

// children: a session is shown with all subsessions it has, as they are.
func (v *verdict) children(r *result, parent *state) {
	if !sameSet(r.subs, parent.subs) {
		v.wrong("%s is shown with the subsessions %v, it has %v", r.id, r.subs, parent.subs)
	}
	for id, updated := range r.subsAt {
		if was := v.before.sessions[id]; was != nil && updated < was.updated {
			v.wrong("%s is shown with its subsession %s as of %d, acknowledged was %d", r.id, id, updated, was.updated)
		}
	}
}

// shown is the version that a result shows. A status search does not show all
// of it.
func (v *verdict) shown(r *result) dated {
	if version := v.sessions.past[moment(r.id, r.updated)]; version != nil {
		return version
	}
	if v.q.way == byStatus {
		return nil
	}
	return &r.state
}
