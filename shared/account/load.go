package account

import (
	"context"
	"strings"

	"lectern/shared/party"
	"lectern/shared/size"
)

const about = "about"

// ofRelated are the fields that an account shows of its contacts, the longest first.
var ofRelated = strings.Fields(about + " email first_name last_name photo_url company_name title")

// contacts returns an empty loader of the contacts that accounts show: without about once
// their texts take more bytes of an answer than the budget.
func (st *Store) contacts(v *party.Viewer, read party.Reader, budget int, c size.Client) *party.Loader {
	return party.NewLoader(v.Caller, &st.Contacts.Store, read, party.Portion{
		Fields: ofRelated, Brief: ofRelated[1:], Budget: budget, Weigh: texts{c}.bytes,
	})
}

// texts weighs the texts about contacts in the answer to a client.
type texts struct{ size.Client }

func (t texts) bytes(p party.Party) int { return t.Text(p.Value(about)) }

// overhead is about the bytes of a contact of an account beside the text.
const overhead = 1 << 10

// load reads the contacts that a page of accounts shows. It returns a 400 that names a
// smaller page when their texts are too long for any answer. A single account is shown without
// the texts then.
func (v *viewer) load(ctx context.Context, accounts ...party.Party) error {
	if !v.readsContacts {
		return nil
	}
	if err := v.contacts.Load(ctx, related(accounts...)); err != nil || len(accounts) == 1 || !v.contacts.Exceeded() {
		return err
	}
	weights := make([]int, len(accounts))
	for i, p := range accounts {
		weights[i] = p.Size()
		for _, r := range p.Association.Relations {
			weights[i] += overhead + v.contacts.Bytes(r.ContactID)
		}
	}
	return size.TooLong(ctx, weights)
}

// written shows an account as the answer to a write, with its contacts among people.
func (r rules) written(v *viewer, p party.Party, people map[string]party.Party) *Account {
	view := *v
	view.contacts = r.store.contacts(v.Viewer, nil, r.biographies, size.Client{Gzip: true})
	view.contacts.Keep(related(p), people)
	return view.show(p)
}
