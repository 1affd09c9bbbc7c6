package view

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// maxChunk is the number of sessions that are read between two checks of their size.
const maxChunk = 500

// Load reads everything that the sessions of bodies show: the sessions and parties that they
// name. It refuses a page that would be too long.
func Load(ctx context.Context, r Request, bodies ...*session.Body) (*Loaded, error) {
	l := &Loaded{Request: r, bodies: bodies, profiles: map[profile]wire.Object{}, summaries: map[summary]account.Summary{}}
	l.address = api.Address(ctx)
	if l.People == nil {
		l.People = r.Parties.People(r.Caller, r.Expand.TranslatedFields)
	}
	if err := l.loadOthers(ctx, bodies); err != nil {
		return nil, err
	}
	if err := l.loadPeople(ctx); err != nil {
		return nil, err
	}
	return l, l.checkSize(ctx)
}

// loadOthers reads the sessions that bodies refer to: subsessions and linked sessions, and
// for a subsession the parent and the sessions linked with the parent.
func (r *Request) loadOthers(ctx context.Context, bodies []*session.Body) error {
	if r.Others == nil {
		r.Others = map[string]*session.Body{}
	}
	var ids []string
	for _, b := range bodies {
		r.Others[b.ID] = b
		ids = append(ids, b.Related()...)
	}
	if err := r.fetch(ctx, ids, bodies); err != nil {
		return err
	}
	ids = nil
	for _, b := range bodies {
		if parent, ok := r.Others[b.Parent]; ok {
			ids = append(ids, parent.Linked()...)
		}
	}
	return r.fetch(ctx, ids, bodies)
}

// fetch reads the sessions of ids that are not among Others. For a page of bodies it refuses
// more than size.Loaded.
func (r *Request) fetch(ctx context.Context, ids []string, page []*session.Body) error {
	ids = slices.DeleteFunc(ids, func(id string) bool { return r.Others[id] != nil })
	for chunk := range slices.Chunk(ids, maxChunk) {
		got, err := r.Fetch(ctx, chunk)
		if err != nil {
			return err
		}
		for _, b := range got {
			if r.Others[b.ID] == nil {
				r.bytes += b.Bytes()
			}
			r.Others[b.ID] = b
		}
		if paged(ctx, page) && r.bytes > size.Loaded {
			return size.TooMuch(ctx, "refer to other sessions of more than 64 MB", r.referred(page), size.Loaded)
		}
	}
	return nil
}

// referred returns how many bytes of other sessions each session refers to. An other session that
// was not read yet counts as much as the mean of the read ones.
func (r *Request) referred(bodies []*session.Body) []int {
	sum := 0
	for _, b := range r.Others {
		sum += b.Bytes()
	}
	mean, weights := sum/max(len(r.Others), 1), make([]int, len(bodies))
	for i, b := range bodies {
		ids := b.Related()
		if parent, ok := r.Others[b.Parent]; ok {
			ids = append(ids, parent.Linked()...)
		}
		for _, id := range ids {
			if other, ok := r.Others[id]; ok {
				weights[i] += other.Bytes()
			} else {
				weights[i] += mean
			}
		}
	}
	return weights
}

// loadPeople reads the parties that the sessions and their subsessions show.
func (l *Loaded) loadPeople(ctx context.Context) error {
	contacts, accounts := map[string]bool{}, map[string]bool{}
	entries := make([]int, len(l.bodies))
	for i, b := range l.bodies {
		entries[i] = addParties(b, true, contacts, accounts)
		for _, sub := range l.subsessions(b) {
			entries[i] += addParties(sub, l.Expand.SubsessionDetails, contacts, accounts)
		}
	}
	if paged(ctx, l.bodies) && len(contacts)+len(accounts) > size.Parties {
		return size.TooMuch(ctx, "show more than 15,000 people and companies", entries, size.Parties)
	}
	return l.People.Load(ctx, slices.Sorted(maps.Keys(contacts)), slices.Sorted(maps.Keys(accounts)))
}

// addParties adds the parties that b shows, with or without details, and returns the number
// of their entries.
func addParties(b *session.Body, details bool, contacts, accounts map[string]bool) (entries int) {
	people, companies := b.Parties()
	if !details {
		companies = nil
	}
	for _, id := range people {
		contacts[id] = true
	}
	for _, id := range companies {
		accounts[id] = true
	}
	return len(people) + len(companies)
}

const (
	// arrays is the number of arrays that show a participant: participants and a legacy array.
	arrays = 2
	// overhead is the bytes of an entry or file beside the stored record: names of properties, nulls
	// and the role.
	overhead = 1 << 10
)

// checkSize estimates the answer before it is rendered, and refuses a page over the limit.
func (l *Loaded) checkSize(ctx context.Context) error {
	for _, b := range l.bodies {
		l.sizes = append(l.sizes, l.size(b))
	}
	if long := l.begin(); long && paged(ctx, l.bodies) {
		return size.TooLong(ctx, l.sizes)
	}
	return nil
}

// begin sets the Detail to begin with: size.Brief for a long answer, and less where the people
// were loaded without translations. It reports whether the answer is long.
func (l *Loaded) begin() (long bool) {
	length := 0
	for _, bytes := range l.sizes {
		length += bytes
	}
	l.detail = size.Full
	if long = length > size.Uncompressed || l.People.Brief(); long {
		l.detail = size.Brief
	}
	if l.People.Brief() && l.Expand.TranslatedFields {
		l.detail = size.Unexpanded
	}
	return long
}

// size estimates the bytes of a session with everything it shows.
func (l *Loaded) size(b *session.Body) (sum int) {
	for _, shown := range append(l.subsessions(b), b) {
		sum += shown.Bytes() + overhead*len(shown.Content)
		contacts, accounts := shown.Parties()
		for _, id := range contacts {
			sum += arrays * partySize(l.People.Contacts, id)
		}
		for _, id := range accounts {
			sum += partySize(l.People.Accounts, id)
		}
	}
	return sum
}

// partySize estimates the bytes of a party in an answer.
func partySize(loaded *party.Loader, id string) int {
	if bytes := loaded.Bytes(id); bytes > 0 {
		return overhead + bytes
	}
	return 0
}

// subsessions returns the subsessions of b by number, without subsessions that were deleted
// after b was read.
func (r *Request) subsessions(b *session.Body) (subs []*session.Body) {
	for _, id := range b.Subsessions {
		if sub, ok := r.Others[id]; ok && sub.DeletedAt == nil {
			subs = append(subs, sub)
		}
	}
	slices.SortFunc(subs, func(a, b *session.Body) int { return cmp.Compare(a.Number, b.Number) })
	return subs
}
