package account

import (
	"context"
	"maps"
	"slices"

	"lectern/shared/page"
	"lectern/shared/party"
)

const (
	// maxPeople is how many contacts a page of accounts may show: more than an answer
	// can hold.
	maxPeople = 6_000
	// atOnce is how many of them are read at a time, and maxHeld how many bytes of them
	// are kept with what they say about themselves: again more than an answer can hold.
	atOnce, maxHeld = 250, 16 << 20
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
	held := 0
	for chunk := range slices.Chunk(related(accounts...), atOnce) {
		found, err := contacts(ctx, v.Caller, chunk)
		if err != nil {
			return err
		}
		for id, p := range found {
			if held += p.Size(false); held > maxHeld {
				found[id] = p.Trim(briefly)
			}
		}
		maps.Copy(v.people, found)
	}
	return nil
}

// briefly are the fields of a contact that are kept where there is no room for more:
// all that an account shows but about.
var briefly = []string{"first_name", "last_name", "email", "photo_url", "company_name", "title"}
