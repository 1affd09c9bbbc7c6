package session

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"lectern/shared/account"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/settings"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Expand is what a read adds on request (spec.md section 4).
type Expand struct {
	TranslatedFields  bool
	SubsessionDetails bool
	LinkedSources     bool
	Composition       bool
}

// Expansion reads the names a client sent; the schema has refused unknown ones.
func Expansion(names []string) (e Expand) {
	for _, name := range names {
		switch name {
		case "translated_fields":
			e.TranslatedFields = true
		case "subsession_details":
			e.SubsessionDetails = true
		case "linked_sources":
			e.LinkedSources = true
		case "composition":
			e.Composition = true
		}
	}
	return e
}

// fetcher finds bodies by id; ids that are not there are left out.
type fetcher func(ctx context.Context, ids []string) (map[string]*Body, error)

// formatter is the one way from stored bodies to what a client reads.
type formatter struct {
	caller   *auth.Caller
	set      *settings.Snapshot
	expand   Expand
	adminURL string
	// bare writes unassigned metadata as {}.
	bare bool
	// others are the bodies that those shown refer to, gathered their bytes, which
	// are limited for a page.
	others   map[string]*Body
	gathered int
	limited  bool
	// page is the parameter that makes a page smaller; empty for one session.
	page string

	contacts  *contact.Store
	companies *account.Store
	// roster has the people and accounts that the bodies name; portraits are the contacts
	// that are shown already, by id, summaries the accounts, by role and id.
	roster    *roster
	portraits map[string]wire.Object
	summaries map[string]account.Summary
	// step is what is left out from the start, weighs the estimated bytes of the answer.
	step, weighs int
	// reserved is the memory that the answer to an operation of a bulk takes; nil for other
	// requests.
	reserved *reservation
}

// gather reads what the bodies refer to, beside what is in others already:
// their subsessions and partners, and of a subsession its parent and the
// parent's partners.
func (f *formatter) gather(ctx context.Context, fetch fetcher, bodies ...*Body) error {
	f.limited = f.paged(bodies)
	var refs []string
	for _, b := range bodies {
		f.others[b.ID] = b
		refs = append(append(refs, b.partners()...), b.Subsessions...)
		if b.Parent != "" {
			refs = append(refs, b.Parent)
		}
	}
	if err := f.read(ctx, fetch, refs); err != nil {
		return err
	}
	refs = nil
	for _, b := range bodies {
		if parent, ok := f.others[b.Parent]; ok {
			refs = append(refs, parent.partners()...)
		}
	}
	return f.read(ctx, fetch, refs)
}

func (f *formatter) read(ctx context.Context, fetch fetcher, ids []string) error {
	ids = slices.DeleteFunc(ids, func(id string) bool { _, known := f.others[id]; return known })
	if len(ids) == 0 {
		return nil
	}
	for chunk := range slices.Chunk(ids, maxChunk) {
		got, err := fetch(ctx, chunk)
		if err != nil {
			return err
		}
		maps.Copy(f.others, got)
		for _, b := range got {
			f.gathered += b.bytes
		}
		if f.limited && f.gathered > maxGathered {
			return apierr.Invalid(f.page, "The sessions of this page refer to too many others. Ask for a smaller page.")
		}
	}
	return nil
}

const (
	// maxChunk is how many bodies are read before their size is looked at.
	maxChunk = 500
	// maxGathered is how many bytes the bodies a page refers to may have as
	// stored: as much as a Lambda of 512 MB can hold decoded beside the rest.
	maxGathered = 64 << 20
)

// session shows one session in full, its subsessions in the order they were
// numbered. What it refers to must have been gathered, and its people met.
func (f *formatter) session(b *Body) *Session {
	shown := &Session{Core: f.core(b), Details: f.details(b), Subsessions: []Subsession{}}
	f.people(b, &shown.Core, &shown.Details)
	for _, sub := range f.subsessions(b) {
		entry := Subsession{Core: f.core(sub)}
		if f.expand.SubsessionDetails {
			details := f.details(sub)
			entry.Details = &details
		}
		f.people(sub, &entry.Core, entry.Details)
		shown.Subsessions = append(shown.Subsessions, entry)
	}
	return shown
}

// single shows one session, which can be shown with less.
func (f *formatter) single(b *Body) *Session {
	shown := f.session(b)
	if f.step > showAll {
		shown = f.reduced(b, f.step)
	}
	shown.shrink = f.shrinks(b, f.step)
	return shown
}

// answer returns the session as the answer to a write; that of an operation of a bulk is
// shown when the bulk's answer has room for it.
func (f *formatter) answer(b *Body) any {
	if f.reserved == nil {
		return f.single(b)
	}
	return &outcome{f, b}
}

// reservation is the part of a bulk's memory that the answer to one operation takes.
// Reserving again replaces the former part.
type reservation struct {
	together *atomic.Int64
	taken    int64
}

func (r *reservation) take(bytes int64) (fits bool) {
	total := r.together.Add(bytes - r.taken)
	r.taken = bytes
	return total <= size.Held
}

// outcome is the answer of one operation of a bulk. It is without a formatter where the
// request has no memory for what the session shows.
type outcome struct {
	*formatter
	body *Body
}

// Reserve takes memory for what the session shows (write.Reserver).
func (o *outcome) Reserve() {
	if o.formatter != nil && !o.reserved.take(int64(o.weighs)) {
		o.reserved.take(0)
		o.formatter = nil
	}
}

// RecordID returns the id of the session.
func (o *outcome) RecordID() string { return o.body.ID }

// Revision returns the version of the session.
func (o *outcome) Revision() int64 { return o.body.Version }

// Show returns the session as the single operation shows it, nil where there is no memory
// for it.
func (o *outcome) Show() any {
	if o.formatter == nil {
		return nil
	}
	return o.single(o.body)
}

func (f *formatter) subsessions(b *Body) (subs []*Body) {
	for _, id := range b.Subsessions {
		// One that was deleted after its parent was read is not shown.
		if sub, ok := f.others[id]; ok && sub.DeletedAt == nil {
			subs = append(subs, sub)
		}
	}
	slices.SortFunc(subs, func(a, b *Body) int { return cmp.Compare(a.Number, b.Number) })
	return subs
}

// core shows what even a minimal subsession has, but for its people.
func (f *formatter) core(b *Body) Core {
	// A subsession has its parent's place in a composition.
	family := b
	if parent, ok := f.others[b.Parent]; ok {
		family = parent
	}
	shown := Core{
		ID: b.ID, FriendlyID: b.FriendlyID(), FriendlyIDRaw: b.Number, Title: b.Title, Description: b.Description,
		StartsAt: b.StartsAt, EndsAt: b.EndsAt, IsAbstract: b.IsAbstract, CompositionStatus: f.compositionStatus(family),
		Content: []Content{}, Format: nest(f, metadata.Formats, b.FormatID, (*metadata.Entry).Format),
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt, DeletedAt: b.DeletedAt, version: b.Version,
	}
	if b.Parent != "" {
		shown.ParentSessionID = b.Parent
		shown.ParentFriendlyID, shown.ParentFriendlyIDRaw = fmt.Sprint(friendlyPrefix, b.ParentNumber), b.ParentNumber
	}
	if f.expand.Composition {
		shown.Composition = f.composition(family)
	}
	return shown
}

// details shows what a full session adds, but for its people and accounts.
func (f *formatter) details(b *Body) Details {
	loc := f.caller.Event.Location()
	shown := Details{
		Status: b.Status, CustomFields: f.set.Fields.Show(field.Session, b.CustomFields, loc),
		Tags:     f.tags(b.TagIDs),
		Language: nest(f, metadata.Languages, b.LanguageID, (*metadata.Entry).Language),
		Track:    nest(f, metadata.Tracks, b.TrackID, (*metadata.Entry).Track),
		Level:    nest(f, metadata.Levels, b.LevelID, (*metadata.Entry).Level),
		Location: b.Location, IsPublic: b.IsPublic, ExternalURL: b.ExternalURL, ClientSessionID: b.ClientID,
		CEUCredits: b.CEUCredits, Capacity: b.Capacity, Source: b.Source, AdminURL: f.admin(b),
	}
	shown.Room.Bare = f.bare
	if value(b.Location) == locationRoom {
		shown.Room = nest(f, metadata.Rooms, b.RoomID, (*metadata.Entry).Room)
	}
	if shown.CustomStatus = f.customStatus(b); shown.CustomStatus != nil {
		shown.CustomStatusID = b.CustomStatusID
	}
	if f.expand.TranslatedFields {
		shown.TranslatedFields = f.set.Fields.Translated(b.ID, b.Translations)
	}
	return shown
}

// nest shows one piece of metadata; a deleted entry reads as unassigned.
func nest[T any](f *formatter, kind metadata.Kind, id *string, shape func(*metadata.Entry) *T) Nested[T] {
	entry, ok := f.set.Metadata[kind].Get(value(id))
	if !ok {
		return Nested[T]{Bare: f.bare}
	}
	return Nested[T]{Value: shape(entry)}
}

func (f *formatter) tags(ids []string) []metadata.NestedTag {
	shown := []metadata.NestedTag{}
	for _, id := range ids {
		if entry, ok := f.set.Metadata[metadata.Tags].Get(id); ok {
			shown = append(shown, *entry.Tag())
		}
	}
	return shown
}

func (f *formatter) compositionStatus(b *Body) CompositionStatus {
	status := CompositionStatus{Role: Standalone, SourceCount: len(b.Sources)}
	switch {
	case b.Target != nil:
		status.Role = Source
		if target := f.partner(b.Target.SessionID); target != nil {
			status.Target = target
		}
	case len(b.Sources) > 0:
		status.Role = Target
	}
	status.IsLinked = status.Role != Standalone
	return status
}

func (f *formatter) composition(b *Body) *Composition {
	shown := &Composition{Sources: []Linked{}}
	if b.Target != nil {
		shown.Target = f.linked(*b.Target)
	}
	for _, link := range b.Sources {
		if linked := f.linked(link); linked != nil {
			shown.Sources = append(shown.Sources, *linked)
		}
	}
	return shown
}

func (f *formatter) linked(link Link) *Linked {
	partner := f.partner(link.SessionID)
	if partner == nil {
		return nil
	}
	return &Linked{
		CompositionID: link.CompositionID, RelationshipType: link.Relationship, CreatedAt: link.CreatedAt, Partner: *partner,
	}
}

func (f *formatter) partner(id string) *Partner {
	b, ok := f.others[id]
	if !ok {
		return nil
	}
	return &Partner{ID: b.ID, FriendlyID: b.FriendlyID(), Title: b.Title, IsAbstract: b.IsAbstract}
}

// admin is the deep link to the session, null where no admin application is
// configured.
func (f *formatter) admin(b *Body) *string {
	if f.adminURL == "" {
		return nil
	}
	link := fmt.Sprintf("%s/event/%d/sessions/%s", f.adminURL, f.caller.Event.ID, b.ID)
	return &link
}
