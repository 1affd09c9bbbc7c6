package account

import (
	"context"
	"slices"
	"strings"

	"lectern/shared/page"
	"lectern/shared/party"
	"lectern/shared/size"
)

const (
	// atOnce is how many of them are read at a time.
	atOnce = 250
	about  = "about"
)

// ofRelated are the fields that an account shows of its contacts, the longest first.
var ofRelated = strings.Fields(about + " email first_name last_name photo_url company_name title")

// meet reads the contacts that a page of acweights shows. It is a 400 that names a
// smaller page where they say too much about themselves.
func (v *viewer) meet(ctx context.Context, contacts party.Reader, acweights []party.Party) error {
	if !v.readsContacts {
		return nil
	}
	for chunk := range slices.Chunk(related(acweights...), atOnce) {
		found, err := contacts(ctx, v.Caller, chunk)
		if err != nil {
			return err
		}
		for id, p := range found {
			v.add(id, p, size.Unpacked)
		}
	}
	if v.texts <= size.Unpacked {
		return nil
	}
	weights := make([]int, len(acweights))
	for i, p := range acweights {
		for _, r := range p.Here.Relations {
			weights[i] += v.abouts[r.ContactID]
		}
	}
	return page.TooLong("pageSize", page.Fit(weights, size.Limit(ctx)), size.Limit(ctx))
}

// maxAbout is how many bytes the contacts of an account say about themselves in the answer
// to a write. A bulk keeps a hundred of these answers.
const maxAbout = 1 << 20

// written shows an account as the answer to a write, with its contacts among people.
func (v *viewer) written(p party.Party, people map[string]party.Party) *Account {
	view := *v
	view.people, view.abouts = map[string]party.Party{}, map[string]int{}
	for _, id := range related(p) {
		view.add(id, people[id], maxAbout)
	}
	shown := view.show(p)
	if view.texts > maxAbout {
		shown.Shrink()
	}
	return shown
}

// add keeps the fields of a contact that an account shows; about only while those of all
// contacts together have at most so many bytes.
func (v *viewer) add(id string, p party.Party, most int) {
	fields := ofRelated
	v.abouts[id] = len(p.Value(about))
	if v.texts += v.abouts[id]; v.texts > most {
		fields = fields[1:]
	}
	v.people[id] = p.Only(fields)
}
