package dataworker

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"lectern/shared/auth"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/datarequest"
	"lectern/shared/delivery"
	"lectern/shared/feed"
	"lectern/shared/party"
	"lectern/shared/person"
	"lectern/shared/session"
	"lectern/shared/table"
)

// erase erases the person of a request everywhere: the contacts, the values of their changes, the
// bodies of webhooks with the answers to them, and earlier data requests. It may be done again.
func (w *Worker) erase(ctx context.Context, r *datarequest.Request) error {
	if len(r.Response.ContactRecord) > 0 {
		if err := w.eraseContacts(ctx, r); err != nil {
			return err
		}
	}
	return w.Requests.Forget(ctx, r)
}

// place names a session.
type place struct {
	event int64
	id    string
}

// eraseContacts erases the contacts of a request.
func (w *Worker) eraseContacts(ctx context.Context, r *datarequest.Request) error {
	sessions, err := w.formerSessions(ctx, r)
	if err != nil {
		return err
	}
	endpoints, err := w.Receivers.AllIDs(ctx, r.OrgID)
	if err != nil {
		return err
	}
	of := audience{r.OrgID, endpoints}
	for _, id := range r.Response.ContactRecord {
		if err := w.eraseContact(ctx, r.OrgID, id); err != nil {
			return err
		}
		if err := change.Forget(ctx, w.Table, contact.Kind.PK(r.OrgID, id)); err != nil {
			return err
		}
		if err := w.eraseBodies(ctx, of, contact.Kind.Name, id); err != nil {
			return err
		}
		items, err := person.Anywhere(ctx, w.Table, r.OrgID, id)
		if err != nil {
			return err
		}
		for _, item := range items {
			sessions[place{item.Event, item.Session}] = true
		}
	}
	if err := w.addParents(ctx, r.OrgID, sessions); err != nil {
		return err
	}
	for at := range sessions {
		if err := w.eraseBodies(ctx, of, "session", at.id); err != nil {
			return err
		}
	}
	return nil
}

// addParents adds the parents of sessions, which show the people of their subsessions.
func (w *Worker) addParents(ctx context.Context, org int64, sessions map[place]bool) error {
	var keys []table.Key
	events := map[table.Key]int64{}
	for at := range sessions {
		key := session.Of(org, at.event).Body(at.id)
		keys, events[key] = append(keys, key), at.event
	}
	got, err := w.Table.GetMany(ctx, keys)
	if err != nil {
		return err
	}
	for key, item := range got {
		b, err := session.Decode(item)
		if err != nil {
			return err
		}
		if b.Parent != "" {
			sessions[place{events[key], b.Parent}] = true
		}
	}
	return nil
}

// errLeft is the error of an erasure that has left values.
var errLeft = errors.New("dataworker: the contact still has values")

// eraseContact removes the values of a contact, event by event, and makes sure that none is left.
func (w *Worker) eraseContact(ctx context.Context, org int64, id string) error {
	events, err := w.Requests.Events(ctx, org, id)
	if err != nil {
		return err
	}
	for _, event := range events {
		caller, err := auth.Service(ctx, w.Table, org, event, nil)
		if err != nil {
			return err
		}
		if caller == nil {
			continue
		}
		if err := w.Contacts.Erase(ctx, caller, id); err != nil {
			return err
		}
	}
	item, err := w.Table.Get(ctx, contact.Kind.Body(org, id))
	if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	b, err := party.Decode(item)
	if err == nil && len(b.Values)+len(b.CustomFields)+len(b.Translations) > 0 {
		err = errLeft
	}
	return err
}

const (
	// recordsAtOnce is the number of change records that are read at once.
	recordsAtOnce = 500
	// margin is the time by which a body may be kept longer than delivery.Keep after the change.
	margin = 48 * time.Hour
)

// formerSessions returns the ids of the sessions that may have had a contact of the request since
// bodies are kept: each of their changes names the people before and after.
func (w *Worker) formerSessions(ctx context.Context, r *datarequest.Request) (map[place]bool, error) {
	found, now := map[place]bool{}, w.Now()
	log := feed.Log{Table: w.Table, Root: change.Root(r.OrgID), Hourly: true, First: recordsAtOnce}
	from, to := feed.Bound(now.Add(-delivery.Keep-margin)), feed.Bound(now.Add(time.Hour))
	for items, err := range log.Chunks(ctx, from, to, recordsAtOnce) {
		if err != nil {
			return nil, err
		}
		for _, item := range items {
			if err := noteSession(found, item, r.Response.ContactRecord); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// noteSession adds the session of a change whose people have one of the contacts.
func noteSession(found map[place]bool, item table.Item, contacts []string) error {
	if !strings.Contains(string(item.Data), `"type":"session"`) {
		return nil
	}
	c, err := change.Decode(item)
	if err != nil {
		return err
	}
	for _, v := range c.Values {
		people := v.Field == "participants" && (mentions(v.Old, contacts) || mentions(v.New, contacts))
		if c.Type == "session" && (people || v.Field == change.Others) {
			found[place{c.Event, c.RecordID}] = true
		}
	}
	return nil
}

// mentions reports whether a value of a change has one of the ids, or is cut and may have one.
func mentions(value any, ids []string) bool {
	if _, cut := value.(map[string]any); cut { // A list that is not cut is no object.
		return true
	}
	text, err := json.Marshal(value)
	if err != nil {
		return true
	}
	return slices.ContainsFunc(ids, func(id string) bool { return strings.Contains(string(text), id) })
}
