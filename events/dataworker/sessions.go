package dataworker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"lectern/shared/change"
	"lectern/shared/datarequest"
	"lectern/shared/delivery"
	"lectern/shared/feed"
	"lectern/shared/session"
	"lectern/shared/table"
)

// place names a session.
type place struct {
	event int64
	id    string
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

const (
	// recordsAtOnce is the number of change records that are read at once.
	recordsAtOnce = 500
	// margin is added to the time for which a body is kept: clocks differ, and earlier releases kept the
	// bodies of late deliveries for longer.
	margin = 48 * time.Hour
	// reserve is the time of an invocation for the bodies of the sessions that it has found, and
	// sessionsAtOnce about the number of sessions for which the time is enough.
	reserve        = 60 * time.Second
	sessionsAtOnce = 1000
)

// addFormer adds the sessions that may have had a contact of the request since bodies are kept: each of
// their changes names the people before and after. It begins after a key of the feed, and returns the key
// of the last change if the time of the invocation ends before.
func (w *Worker) addFormer(ctx context.Context, r *datarequest.Request, after string, found map[place]bool) (last string, err error) {
	now := w.Now()
	log := feed.Log{Table: w.Table, Root: change.Root(r.OrgID), Hourly: true, First: recordsAtOnce}
	from, to := max(after, feed.Bound(now.Add(-delivery.Keep-margin))), feed.Bound(now.Add(time.Hour))
	for items, err := range log.Chunks(ctx, from, to, recordsAtOnce) {
		if err != nil {
			return "", err
		}
		for _, item := range items {
			if err := noteSession(found, item, r.Response.ContactRecord); err != nil {
				return "", err
			}
		}
		if len(items) == recordsAtOnce && (len(found) >= sessionsAtOnce || ends(ctx)) {
			return feed.After(items[len(items)-1].SK), nil
		}
	}
	return "", nil
}

// ends reports whether little time of the invocation is left.
func ends(ctx context.Context) bool {
	deadline, limited := ctx.Deadline()
	return limited && time.Until(deadline) < reserve
}

// noteSession adds the session of a change whose people have one of the contacts. A damaged change is an error: nobody
// knows whether it is about the contacts.
func noteSession(found map[place]bool, item table.Item, contacts []string) error {
	if !json.Valid(item.Data) {
		return fmt.Errorf("dataworker: the change %s is damaged", item.SK)
	}
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
