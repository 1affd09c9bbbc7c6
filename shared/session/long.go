package session

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// The steps in which a session leaves something out of a long answer.
const (
	showAll = iota
	// showBrief is without about and custom fields of people.
	showBrief
	// showPlain is without expansions, too.
	showPlain
	// showAlone is without subsessions and accounts, too: it always fits.
	showAlone
)

// Shrink shows the session with less and reports whether there was a step left
// (size.Shrinker).
func (s *Session) Shrink() bool { return s.shrink != nil && s.shrink(s) }

// shrinks returns the function that shows session b with less than step.
func (f *formatter) shrinks(b *Body, step int) func(*Session) bool {
	return func(s *Session) bool {
		for step < showAlone {
			step++
			if less := f.reduced(b, step); len(less.Omitted) > len(s.Omitted) {
				less.shrink = s.shrink
				*s = *less
				return true
			}
		}
		return false
	}
}

// reduced shows the session of b without the steps up to step, and lists their paths.
func (f *formatter) reduced(b *Body, step int) *Session {
	brief := *f
	brief.portraits, brief.summaries, brief.step = map[string]wire.Object{}, map[string]account.Summary{}, step
	if step >= showPlain {
		brief.expand = Expand{}
	}
	shown := brief.session(b)
	if step >= showAlone {
		shown.Subsessions, shown.Sponsors, shown.Exhibitors = []Subsession{}, []account.Summary{}, []account.Summary{}
	}
	shown.Omitted = f.omitted(b, step)
	return shown
}

// omitted lists the paths that the steps up to step leave out of the session of b.
func (f *formatter) omitted(b *Body, step int) (paths []string) {
	subs, people := f.subsessions(b), f.peopleLists(b)
	if step >= showBrief {
		paths = append(paths, below(people, contact.Longest...)...)
	}
	if step >= showPlain {
		paths = append(paths, f.expanded(people, len(subs) > 0)...)
	}
	for name, entries := range map[string]int{"subsessions": len(subs), "sponsors": len(b.SponsorIDs), "exhibitors": len(b.ExhibitorIDs)} {
		if step >= showAlone && entries > 0 {
			paths = append(paths, name)
		}
	}
	slices.Sort(paths)
	return paths
}

// peopleLists are the properties of a session that show people.
func (f *formatter) peopleLists(b *Body) (lists []string) {
	if len(b.Participants) > 0 {
		lists = append(lists, "participants.", "speakers.", "chairpersons.", "moderators.")
	}
	if slices.ContainsFunc(f.subsessions(b), func(sub *Body) bool { return len(sub.Participants) > 0 }) {
		lists = append(lists, "subsessions.participants.", "subsessions.speakers.")
	}
	return lists
}

// expanded lists the paths that the request's expansions add.
func (f *formatter) expanded(people []string, subsessions bool) (paths []string) {
	if f.expand.TranslatedFields {
		paths = append(below(append(people, "sponsors.", "exhibitors."), "translated_fields"), "translated_fields")
	}
	if f.expand.Composition {
		paths = append(paths, "composition")
	}
	if f.expand.SubsessionDetails && subsessions {
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

// paged reports whether a smaller page can be asked for.
func (f *formatter) paged(bodies []*Body) bool { return f.page != "" && len(bodies) > 1 }

// weigh estimates the answer before it is written. It refuses a page that is too long
// however it travels, and shows a single session in brief from the start.
func (f *formatter) weigh(ctx context.Context, bodies []*Body) error {
	weights, total := make([]int, len(bodies)), 0
	for i, b := range bodies {
		weights[i] = f.weight(b)
		total += weights[i]
	}
	f.weighs = total
	long := total > size.Unpacked || f.roster.brief()
	if long && f.paged(bodies) {
		return page.TooLong(f.page, page.Fit(weights, size.Limit(ctx)), size.Limit(ctx))
	}
	if long {
		f.step = showBrief
	}
	return nil
}

// arrays is in how many arrays a session shows a participant: that one and a legacy one.
const arrays = 2

// weight estimates the bytes of a session with everything it shows.
func (f *formatter) weight(b *Body) int {
	sum := 0
	for _, one := range append(f.subsessions(b), b) {
		sum += one.bytes
		for _, p := range one.Participants {
			sum += arrays * f.roster.contacts.size(p.ContactID)
		}
		for _, id := range slices.Concat(one.SponsorIDs, one.ExhibitorIDs) {
			sum += f.roster.accounts.size(id)
		}
	}
	return sum
}

// overhead is how many bytes an entry has beside the stored record: names of properties,
// nulls and the role.
const overhead = 1 << 10

// size estimates the bytes of a party in an answer.
func (r *register) size(id string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p := r.met[id]; p.Body != nil && p.Here != nil {
		return overhead + p.Size()
	}
	return 0
}
