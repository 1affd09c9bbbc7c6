package dataworker

import (
	"cmp"
	"context"
	"errors"

	"lectern/shared/auth"
	"lectern/shared/award"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/datarequest"
	"lectern/shared/feed"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// erase erases the person of a request everywhere: in awards, the contacts, the values of their changes, the files that
// are assigned to them, the bodies of webhooks with the answers to them, and other data requests. It may be done again. If
// the time of the invocation ends before, erase returns the task of the next message. Damaged records of awards stop
// nothing: the second round ends with messages of their own.
func (w *Worker) erase(ctx context.Context, r *datarequest.Request, t task) (next *task, err error) {
	if t.Awards != lastAward {
		next, damaged, err := w.eraseAwards(ctx, r, t.Awards)
		if err != nil {
			return nil, err
		}
		if t.Awards = cmp.Or(next, lastAward); len(damaged) > 0 {
			t.Damaged = cmp.Or(t.Damaged, damaged[0])
		}
		if t.Awards != lastAward || ends(ctx) {
			return &t, nil
		}
	}
	if t.After != everyChange {
		if t.After, err = w.eraseContacts(ctx, r, t); err != nil || t.After != "" {
			return &t, err
		}
		if t.After = everyChange; t.Settled && t.Damaged != (table.Key{}) {
			return &t, nil // The next message may fail, and its repetitions must not erase the contacts again.
		}
	}
	return w.afterDamage(ctx, r, t)
}

// afterDamage returns the task that does the second round again, once the first damaged record is restored: nil for another
// round, or without damage. It returns an error while the record is damaged.
func (w *Worker) afterDamage(ctx context.Context, r *datarequest.Request, t task) (again *task, err error) {
	if !t.Settled || t.Damaged == (table.Key{}) {
		return nil, nil
	}
	if err := w.awardsOf(r).RequireReadable(ctx, t.Damaged); err != nil {
		return nil, err
	}
	return &task{Detail: t.Detail, Settled: true}, nil
}

// lastAward comes after the keys of all records of awards.
var lastAward = table.Key{PK: everyChange}

// eraseContacts erases the contacts of a request, and the other requests. The bodies of sessions that the person has left
// come last, since the search for these sessions may take longer than an invocation: then eraseContacts returns the key
// after which the next message goes on with the search.
func (w *Worker) eraseContacts(ctx context.Context, r *datarequest.Request, t task) (next string, err error) {
	if len(r.Response.ContactRecord) == 0 {
		return "", w.erasePerson(ctx, r, erasing{})
	}
	endpoints, err := w.Receivers.AllIDs(ctx, r.OrgID)
	if err != nil {
		return "", err
	}
	of, sessions := audience{r.OrgID, endpoints}, map[place]bool{}
	if t.After == "" {
		if err := w.erasePerson(ctx, r, erasing{of, !t.Settled, sessions}); err != nil {
			return "", err
		}
	}
	if next, err = w.addFormer(ctx, r, t.After, sessions); err != nil {
		return "", err
	}
	if err := w.addParents(ctx, r.OrgID, sessions); err != nil {
		return "", err
	}
	if err := w.eraseSlides(ctx, r.OrgID, sessions); err != nil {
		return "", err
	}
	for at := range sessions {
		if err := w.eraseBodies(ctx, of, record{"session", at.id, everyChange}); err != nil {
			return "", err
		}
	}
	return next, nil
}

// erasing is the work on the contacts of an erasure.
type erasing struct {
	audience
	// tell reports whether each event is told of the erasure: in the first round.
	tell bool
	// sessions gets the sessions that have the contacts.
	sessions map[place]bool
}

// erasePerson erases all contacts of a request, and the other requests.
func (w *Worker) erasePerson(ctx context.Context, r *datarequest.Request, e erasing) error {
	for _, id := range r.Response.ContactRecord {
		if err := w.eraseEverything(ctx, r, id, e); err != nil {
			return err
		}
	}
	return w.Requests.Forget(ctx, r)
}

// eraseAwards erases the person of a request from submissions and reviews of awards, from a key on. Of a contact that
// belongs to another person by now, it takes the records from before. The results are those of award.Search.Erase.
func (w *Worker) eraseAwards(ctx context.Context, r *datarequest.Request, from table.Key) (
	next table.Key, damaged []table.Key, err error,
) {
	all := w.awardsOf(r)
	for id := range all.Contacts {
		b, last, err := w.spared(ctx, r, id)
		if err != nil {
			return next, nil, err
		}
		if since, spared := feed.Time(last); spared {
			all.Contacts[id] = award.Next{Since: since, Address: b.Value(contact.Address)}
		}
	}
	next, damaged, err = all.Erase(ctx, from, ends)
	for _, key := range damaged {
		w.logDamage(ctx, r, key)
	}
	return next, damaged, err
}

// logDamage logs the key of a record of awards that cannot be read.
func (w *Worker) logDamage(ctx context.Context, r *datarequest.Request, key table.Key) {
	w.Log.ErrorContext(ctx, "a record of awards cannot be read", "request", r.ID, "pk", key.PK, "sk", key.SK)
}

// awardsOf returns the search in awards for the address and the contacts of a request.
func (w *Worker) awardsOf(r *datarequest.Request) award.Search {
	person := award.Person{Address: r.IdentityValue, Contacts: map[string]award.Next{}}
	for _, id := range r.Response.ContactRecord {
		person.Contacts[id] = award.Next{}
	}
	return award.Search{Store: resource.Store{Table: w.Table, Now: w.Now}, Org: r.OrgID, Person: person}
}

// everyChange follows the id of each change, and each key.
const everyChange = "~"

// eraseEverything erases a contact, the values of its changes, its files and the bodies of its webhooks, and
// notes its sessions. The changes, files and bodies of the next person of the contact stay.
func (w *Worker) eraseEverything(ctx context.Context, r *datarequest.Request, id string, e erasing) error {
	last, err := w.eraseContact(ctx, r, id, e.tell)
	if err != nil {
		return err
	}
	if err := change.Forget(ctx, w.Table, change.Until{Org: r.OrgID, PK: contact.Kind.PK(r.OrgID, id), Last: last}); err != nil {
		return err
	}
	if err := w.eraseFiles(ctx, r.OrgID, id, last, e.sessions); err != nil {
		return err
	}
	if err := w.eraseBodies(ctx, e.audience, record{contact.Kind.Name, id, last}); err != nil {
		return err
	}
	items, err := person.Anywhere(ctx, w.Table, r.OrgID, id)
	for _, item := range items {
		e.sessions[place{item.Event, item.Session}] = true
	}
	return err
}

// errLeft is the error of an erasure that has left values.
var errLeft = errors.New("dataworker: the contact still has values")

// eraseContact removes the values of a contact, unless another person has the contact now. It returns the id
// of the last change with values of the erased person.
func (w *Worker) eraseContact(ctx context.Context, r *datarequest.Request, id string, tell bool) (last string, err error) {
	b, last, err := w.spared(ctx, r, id)
	if last != "" || err != nil {
		return last, err
	}
	if b == nil {
		return everyChange, nil
	}
	return everyChange, w.empty(ctx, r, id, tell)
}

// spared returns the record of a contact, nil for a contact that is purged, and the id of the last change with values of
// the erased person if another person has the contact now.
func (w *Worker) spared(ctx context.Context, r *datarequest.Request, id string) (b *party.Body, last string, err error) {
	b, err = w.body(ctx, r.OrgID, id)
	if b == nil || err != nil {
		return nil, "", err
	}
	last, err = w.Requests.Spares(ctx, r, b)
	return b, last, err
}

// empty removes the values of a contact, event by event, and makes sure that none is left.
func (w *Worker) empty(ctx context.Context, r *datarequest.Request, id string, tell bool) error {
	callers, err := w.callers(ctx, r.OrgID, id)
	if err != nil {
		return err
	}
	for _, caller := range callers {
		if err := w.Contacts.Erase(ctx, caller, id, tell); err != nil {
			return err
		}
	}
	return w.requireEmpty(ctx, r.OrgID, id)
}

// callers returns the service as a caller on each event of a contact, without events that are gone.
func (w *Worker) callers(ctx context.Context, org int64, id string) (all []*auth.Caller, err error) {
	events, err := w.Requests.Events(ctx, org, id)
	if err != nil {
		return nil, err
	}
	for _, event := range events {
		caller, err := auth.Service(ctx, w.Table, org, event, nil)
		if err != nil {
			return nil, err
		}
		if caller != nil {
			all = append(all, caller)
		}
	}
	return all, nil
}

// body returns the record of a contact; nil for a contact that is purged.
func (w *Worker) body(ctx context.Context, org int64, id string) (*party.Body, error) {
	item, err := w.Table.Get(ctx, contact.Kind.Body(org, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return party.Decode(item)
}

// requireEmpty returns errLeft if a contact has values, also on an event that is gone.
func (w *Worker) requireEmpty(ctx context.Context, org int64, id string) error {
	b, err := w.body(ctx, org, id)
	if b == nil || err != nil {
		return err
	}
	left := len(b.Values) + len(b.CustomFields) + len(b.Translations)
	for a, err := range party.Associations(ctx, w.Table, contact.Kind.PK(org, id)) {
		if err != nil {
			return err
		}
		left += len(a.CustomFields) + len(a.Translations)
	}
	if left > 0 {
		return errLeft
	}
	return nil
}
