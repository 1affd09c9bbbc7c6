package account

import (
	"context"
	"slices"

	"lectern/shared/contact"
	"lectern/shared/page"
	"lectern/shared/party"
)

const (
	// maxPeople is how many contacts a page of accounts may show: more than an answer
	// can hold.
	maxPeople = 6_000
	// atOnce is how many of them are read at a time, and maxTexts how many bytes of what
	// they say about themselves are kept: again more than an answer can hold.
	atOnce, maxTexts = 250, 16 << 20
)

// meet reads the contacts that a page of accounts shows. It is a 400 that names a
// smaller page where there are too many.
func (v *viewer) meet(ctx context.Context, contacts party.Reader, accounts []party.Party) error {
	v.people = map[string]party.Party{}
	if !v.readsContacts {
		return nil
	}
	counts, total := make([]int, len(accounts)), 0
	for i, p := range accounts {
		counts[i] = len(p.Here.Relations)
		total += counts[i]
	}
	if total > maxPeople {
		return page.TooLong("pageSize", page.Fit(counts, maxPeople))
	}
	texts := 0
	for chunk := range slices.Chunk(related(accounts...), atOnce) {
		found, err := contacts(ctx, v.Caller, chunk)
		if err != nil {
			return err
		}
		for _, id := range chunk {
			p, fields := found[id], ofRelated
			if p.Body == nil {
				continue
			}
			if texts += len(p.Value(about)); texts > maxTexts {
				fields = fields[1:]
			}
			v.people[id] = p.Trim(fields)
		}
	}
	return nil
}

const about = "about"

// ofRelated are the fields that an account shows of its contacts, the longest first.
var ofRelated = append([]string{about, "email"}, contact.Short...)
