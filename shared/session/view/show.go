package view

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/participant"
	"lectern/shared/session"
	"lectern/shared/size"
)

// Sessions renders the sessions. A session that is too long leaves out properties.
func (l *Loaded) Sessions() []*Session {
	all := make([]*Session, len(l.bodies))
	for i, b := range l.bodies {
		all[i] = l.render(b, l.detail)
	}
	return all
}

// render renders a session at a Detail, and lists the paths that it leaves out.
func (l *Loaded) render(b *session.Body, detail size.Detail) *Session {
	at := *l
	if at.detail = detail; detail >= size.Unexpanded {
		at.Expand = Expand{}
	}
	shown := at.session(b)
	shown.Omitted = l.omitted(b, detail)
	shown.from, shown.body, shown.detail = l, b, detail
	return shown
}

// session renders a session at the Detail of l.
func (l *Loaded) session(b *session.Body) *Session {
	shown := &Session{Core: l.core(b), Details: l.details(b), Subsessions: []Subsession{}}
	l.showPeople(b, &shown.Core, &shown.Details)
	if l.detail >= size.Alone {
		return shown
	}
	for _, sub := range l.subsessions(b) {
		entry := Subsession{Core: l.core(sub)}
		if l.Expand.SubsessionDetails {
			details := l.details(sub)
			entry.Details = &details
		}
		l.showPeople(sub, &entry.Core, entry.Details)
		shown.Subsessions = append(shown.Subsessions, entry)
	}
	return shown
}

// family returns the session whose composition b shows: the parent of a subsession, else b.
func (r *Request) family(b *session.Body) *session.Body {
	if parent, ok := r.Others[b.Parent]; ok {
		return parent
	}
	return b
}

// core renders the core of b without people.
func (r *Request) core(b *session.Body) Core {
	shown := Core{
		ID: b.ID, FriendlyID: b.FriendlyID(), FriendlyIDRaw: b.Number, Title: b.Title, Description: b.Description,
		StartsAt: b.StartsAt, EndsAt: b.EndsAt, IsAbstract: b.IsAbstract, CompositionStatus: r.compositionStatus(r.family(b)),
		Format:    nest(r, metadata.Formats, b.FormatID, (*metadata.Entry).Format),
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, DeletedAt: b.DeletedAt, version: b.Version,
	}
	if b.Parent != "" {
		shown.ParentSessionID, shown.ParentFriendlyID, shown.ParentFriendlyIDRaw = b.Parent, b.ParentFriendlyID(), b.ParentNumber
	}
	if r.Expand.Composition {
		shown.Composition = r.composition(r.family(b))
	}
	return shown
}

// details renders the details of b without people and accounts.
func (r *Request) details(b *session.Body) Details {
	loc := r.Caller.Event.Location()
	shown := Details{
		Status: b.Status, CustomFields: r.Settings.Fields.Show(field.Session, b.CustomFields, loc),
		Tags:     r.tags(b.TagIDs),
		Room:     nest(r, metadata.Rooms, b.Room(), (*metadata.Entry).Room),
		Language: nest(r, metadata.Languages, b.LanguageID, (*metadata.Entry).Language),
		Track:    nest(r, metadata.Tracks, b.TrackID, (*metadata.Entry).Track),
		Level:    nest(r, metadata.Levels, b.LevelID, (*metadata.Entry).Level),
		Location: b.Location, IsPublic: b.IsPublic, ExternalURL: b.ExternalURL, ClientSessionID: b.ClientID,
		CEUCredits: b.CEUCredits, Capacity: b.Capacity, Source: b.Source, AdminURL: r.admin(b),
	}
	if shown.CustomStatus = r.customStatus(b); shown.CustomStatus != nil {
		shown.CustomStatusID = b.CustomStatusID
	}
	if r.Expand.TranslatedFields {
		shown.TranslatedFields = r.Settings.Fields.Translated(b.ID, b.Translations)
	}
	return shown
}

// nest renders an entry of metadata; a deleted entry as unassigned.
func nest[T any](r *Request, kind metadata.Kind, id *string, shape func(*metadata.Entry) *T) Nested[T] {
	entry, ok := r.Settings.Metadata[kind].Get(session.Value(id))
	if !ok {
		return Nested[T]{Bare: r.Bare}
	}
	return Nested[T]{Value: shape(entry)}
}

func (r *Request) tags(ids []string) []metadata.NestedTag {
	shown := []metadata.NestedTag{}
	for _, id := range ids {
		if entry, ok := r.Settings.Metadata[metadata.Tags].Get(id); ok {
			shown = append(shown, *entry.Tag())
		}
	}
	return shown
}

// customStatus returns the custom status of b; nil for none or a deleted custom status.
func (r *Request) customStatus(b *session.Body) *CustomStatus {
	status, ok := r.Settings.Statuses.Get(session.Value(b.CustomStatusID))
	if !ok {
		return nil
	}
	return &CustomStatus{ID: status.ID, Name: status.Name}
}

func (r *Request) compositionStatus(b *session.Body) CompositionStatus {
	status := CompositionStatus{Role: b.CompositionRole(), SourceCount: len(b.Sources)}
	if b.Target != nil {
		status.Target = r.partner(b.Target.SessionID)
	}
	status.IsLinked = status.Role != session.Standalone
	return status
}

func (r *Request) composition(b *session.Body) *Composition {
	shown := &Composition{Sources: []Linked{}}
	if b.Target != nil {
		shown.Target = r.linked(*b.Target)
	}
	for _, link := range b.Sources {
		if linked := r.linked(link); linked != nil {
			shown.Sources = append(shown.Sources, *linked)
		}
	}
	return shown
}

func (r *Request) linked(link session.Link) *Linked {
	partner := r.partner(link.SessionID)
	if partner == nil {
		return nil
	}
	return &Linked{
		CompositionID: link.CompositionID, RelationshipType: link.Relationship, CreatedAt: link.CreatedAt, Partner: *partner,
	}
}

func (r *Request) partner(id string) *Partner {
	b, ok := r.Others[id]
	if !ok {
		return nil
	}
	return &Partner{ID: b.ID, FriendlyID: b.FriendlyID(), Title: b.Title, IsAbstract: b.IsAbstract}
}

// admin returns the deep link to the session; nil without an admin application.
func (r *Request) admin(b *session.Body) *string {
	if r.AdminURL == "" {
		return nil
	}
	link := fmt.Sprintf("%s/event/%d/sessions/%s", r.AdminURL, r.Caller.Event.ID, b.ID)
	return &link
}

// Reduce renders the session at a Detail (size.Reducer).
func (s *Session) Reduce(to size.Detail) (less bool) {
	if to <= s.detail {
		return false
	}
	before := len(s.Omitted)
	*s = *s.from.render(s.body, to)
	return len(s.Omitted) > before
}

// omitted lists the paths that the session of b leaves out at a Detail.
func (l *Loaded) omitted(b *session.Body, detail size.Detail) (paths []string) {
	if detail == size.Full {
		return nil
	}
	subs, people := l.subsessions(b), l.peopleLists(b, detail)
	if detail >= size.Brief {
		paths = append(paths, below(people, contact.Longest...)...)
		paths = append(paths, l.accountFields(b, detail)...)
	}
	if detail >= size.Unexpanded {
		paths = append(paths, l.expanded(b, people, len(subs) > 0)...)
	}
	for name, entries := range map[string]int{"subsessions": len(subs), "sponsors": len(b.SponsorIDs), "exhibitors": len(b.ExhibitorIDs)} {
		if detail >= size.Alone && entries > 0 {
			paths = append(paths, name)
		}
	}
	if detail >= size.Bare {
		for _, list := range listsOf(l.participants(b), true) {
			paths = append(paths, strings.TrimSuffix(list, "."))
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// accountFields lists the custom fields of accounts, if accounts were loaded without custom
// fields for lack of memory.
func (l *Loaded) accountFields(b *session.Body, detail size.Detail) (paths []string) {
	if !l.People.Accounts.Exceeded() {
		return nil
	}
	shows := func(prefix string, b *session.Body) {
		for name, ids := range map[string][]string{"sponsors": b.SponsorIDs, "exhibitors": b.ExhibitorIDs} {
			if len(ids) > 0 {
				paths = append(paths, prefix+name+".custom_fields")
			}
		}
	}
	shows("", b)
	if l.Expand.SubsessionDetails && detail < size.Unexpanded {
		for _, sub := range l.subsessions(b) {
			shows("subsessions.", sub)
		}
	}
	return paths
}

// peopleLists are the properties of a session that show people at a Detail.
func (l *Loaded) peopleLists(b *session.Body, detail size.Detail) (lists []string) {
	lists = listsOf(l.participants(b), true)
	for _, sub := range l.subsessions(b) {
		details := l.Expand.SubsessionDetails && detail < size.Unexpanded
		lists = append(lists, below([]string{"subsessions."}, listsOf(l.participants(sub), details)...)...)
	}
	return lists
}

// listsOf are the properties of a session that show these participants, with or without those of
// its details.
func listsOf(all []session.Standing, details bool) (lists []string) {
	if len(all) > 0 {
		lists = []string{"participants."}
	}
	for _, list := range []struct {
		core, name string
		details    bool
	}{
		{participant.Speaker, "speakers.", false}, {participant.Chairperson, "chairpersons.", true}, {participant.Moderator, "moderators.", true},
	} {
		holds := func(p session.Standing) bool { return p.Role.CoreRole == list.core }
		if slices.ContainsFunc(all, holds) && (details || !list.details) {
			lists = append(lists, list.name)
		}
	}
	return lists
}

// expanded lists the paths that the request's expansions add to the session of b.
func (l *Loaded) expanded(b *session.Body, people []string, subsessions bool) (paths []string) {
	if l.Expand.TranslatedFields {
		for name, ids := range map[string][]string{"sponsors.": b.SponsorIDs, "exhibitors.": b.ExhibitorIDs} {
			if len(ids) > 0 {
				people = append(people, name)
			}
		}
		paths = append(below(people, "translated_fields"), "translated_fields")
	}
	if l.Expand.Composition {
		paths = append(paths, "composition")
		if subsessions {
			paths = append(paths, "subsessions.composition")
		}
	}
	if l.Expand.SubsessionDetails && subsessions {
		paths = append(paths, below([]string{"subsessions."}, names(reflect.TypeFor[Details]())...)...)
	}
	return paths
}

// below joins each of the prefixes with each of the names.
func below(prefixes []string, names ...string) (paths []string) {
	for _, prefix := range prefixes {
		for _, name := range names {
			paths = append(paths, prefix+name)
		}
	}
	return paths
}

// names lists the properties of a struct.
func names(of reflect.Type) (all []string) {
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		all = append(all, name)
	}
	return all
}
