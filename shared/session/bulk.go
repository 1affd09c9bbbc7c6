package session

import (
	"context"
	"slices"

	"lectern/shared/api/check"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/contact"
	"lectern/shared/write"
)

// Bulk does up to 100 operations (gaps.md section 3).
func (st *Store) Bulk(ctx context.Context, c *auth.Caller, req bulk.Request, x Expand) (*bulk.Response[Session, bulk.Failure], error) {
	b := &batch{request: st.request(c, x)}
	if err := b.assemble(ctx, req); err != nil {
		return nil, err
	}
	return bulk.Run[Session](ctx, st.Table, req, bulk.Maker{
		NewID: st.NewID, Create: b.create, Update: b.update, Delete: b.delete, Ready: b.ready, Again: st.again(c, x),
	}, bulk.Fail)
}

// batch makes the operations of one bulk request.
type batch struct {
	*request
	// unnumbered are the sessions to be created that still need a number.
	unnumbered []*int64
}

func (b *batch) create(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[Create](data)
	if err != nil {
		return write.Op{}, err
	}
	e, err := b.begin(ctx, d)
	if err != nil {
		return write.Op{}, err
	}
	number := new(int64)
	if !d.ParentSessionID.Has() {
		b.unnumbered = append(b.unnumbered, number)
	}
	return b.request.create(e, id, number), nil
}

// ready claims the numbers of all sessions to be created at once.
func (b *batch) ready(ctx context.Context) error {
	if len(b.unnumbered) == 0 {
		return nil
	}
	first, err := b.numbers(ctx, at(b.caller), int64(len(b.unnumbered)))
	for i, number := range b.unnumbered {
		*number = first + int64(i)
	}
	return err
}

func (b *batch) update(ctx context.Context, id string, data bulk.Data) (write.Op, error) {
	d, err := check.Decode[Update](data)
	if err != nil {
		return write.Op{}, err
	}
	return b.request.update(ctx, id, &d.Draft, write.Guard{UpdatedAt: d.UpdatedAt})
}

func (b *batch) delete(ctx context.Context, id string) (write.Op, error) {
	return b.remove(ctx, id, write.Guard{})
}

// assemble reads the people and accounts that the operations name, all at once. What
// is wrong with an operation is not looked at here: whom it does not find, the
// operation looks for again.
func (b *batch) assemble(ctx context.Context, req bulk.Request) error {
	var contacts, accounts []string
	var refs []contact.Ref
	for _, op := range req.Operations {
		d, err := check.Decode[Draft](op.Data.Value)
		if err != nil {
			continue
		}
		for i, p := range d.Participants.Value {
			if p.Email.Sent {
				refs = append(refs, p.ref(i))
			} else {
				contacts = append(contacts, p.ContactID.Value)
			}
		}
		accounts = slices.Concat(accounts, d.SponsorIDs.Value, d.ExhibitorIDs.Value)
	}
	addressed, err := b.Contacts.Addressed(ctx, b.caller, refs)
	if err != nil {
		return err
	}
	for i, ref := range refs {
		b.roster.addresses[contact.ByEmail(b.caller.Org.ID, ref.Email.Value)] = addressed[i]
	}
	return b.roster.meet(ctx, append(contacts, addressed...), accounts)
}
