package session

import (
	"sync"

	"lectern/shared/account"
	"lectern/shared/contact"
	"lectern/shared/page"
)

const (
	// maxShown is how many bytes of stored records a page, or one session, shows in
	// full: three times what an answer may have, since this is an estimate, and no more than a Lambda of 512 MB can write.
	maxShown = 16 << 20
	// maxAnswer is what an answer may have.
	maxAnswer = 5 << 20
	// maxTogether is maxShown for all operations of a bulk: their answers are kept
	// until the last is there.
	maxTogether = 32 << 20
	// overhead is what an entry has beside what is stored: names of properties, nulls
	// and the role; briefly is all of an entry in short.
	overhead, briefly = 1 << 10, 1 << 10
)

// allowance is how many bytes the answers of a bulk take together.
type allowance struct {
	mu    sync.Mutex
	taken int
}

// share is what the answer of one operation takes of an allowance. One that is made
// again takes it anew.
type share struct {
	of    *allowance
	taken int
}

// take is false when the others have not left as much.
func (s *share) take(bytes int) bool {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.taken -= s.taken
	if s.taken = bytes; s.of.taken+bytes > maxTogether {
		s.taken = 0
	}
	s.of.taken += s.taken
	return s.taken == bytes
}

// paged is whether a smaller page can be asked for.
func (f *formatter) paged(bodies []*Body) bool { return f.page != "" && len(bodies) > 1 }

// weigh decides, before anything is written, whether the bodies can be shown: pages
// that are far too long are refused, and one session is shown in short from the start,
// which of an operation of a bulk may be too much still.
func (f *formatter) weigh(bodies []*Body) error {
	weights, total := make([]int, len(bodies)), 0
	for i, b := range bodies {
		weights[i] = f.weight(b)
		total += weights[i]
	}
	if f.paged(bodies) {
		if total > maxShown {
			return page.TooLong(f.page, page.Fit(weights, maxAnswer))
		}
		return nil
	}
	if f.short = total > maxShown; f.short {
		total = 0
		for _, b := range bodies {
			total += f.weight(b)
		}
	}
	f.weighs = total
	return nil
}

// weight is about how many bytes a session is with all it shows, the people and
// accounts as often as they are shown.
func (f *formatter) weight(b *Body) int {
	sum := f.castWeight(b, true)
	for _, sub := range f.subsessions(b) {
		sum += f.castWeight(sub, f.expand.SubsessionDetails)
	}
	return sum
}

// castWeight is weight without subsessions; full is whether details are shown.
func (f *formatter) castWeight(b *Body, full bool) int {
	sum := b.bytes
	for _, p := range b.Participants {
		sum += arrays * f.partyWeight(f.roster.contacts, p.ContactID, contact.Role)
	}
	if full {
		for _, id := range b.SponsorIDs {
			sum += f.partyWeight(f.roster.accounts, id, account.Sponsor)
		}
		for _, id := range b.ExhibitorIDs {
			sum += f.partyWeight(f.roster.accounts, id, account.Exhibitor)
		}
	}
	return sum
}

// arrays is in how many arrays an entry of participants is shown: that and a legacy
// one.
const arrays = 2

func (f *formatter) partyWeight(met *register, id, role string) int {
	p, ok := met.holder(id, role)
	switch {
	case !ok:
		return 0
	case f.short:
		return briefly
	}
	return overhead + p.Size() - contact.Unshown(p)
}
