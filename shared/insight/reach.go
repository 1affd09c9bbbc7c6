package insight

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/participant"
	"lectern/shared/programme"
	"lectern/shared/query"
	"lectern/shared/settings"
	"lectern/shared/table"
)

// Reach is what a caller may ask about: some events with their settings.
type Reach struct {
	store  *Store
	caller *auth.Caller
	// events are the events in the order of their ids.
	events   []*event
	families []*family
	schema   *query.Schema
}

// event is an event within a reach: a caller with the event, and the settings.
type event struct {
	caller *auth.Caller
	set    *settings.Snapshot
}

// Reach returns the reach of a caller: the event of the path, or else the named events of the organization, or all that the caller
// may see if events is empty. The error is a 404 for an event that the caller does not see, and a 400 for too many events.
func (st *Store) Reach(ctx context.Context, c *auth.Caller, events []int64) (*Reach, error) {
	ids, err := st.visible(ctx, c, events)
	if err == nil && len(ids) > mostEvents {
		err = apierr.Invalid("eventIds", "A query reads at most %d events; name some of the %d.", mostEvents, len(ids))
	}
	if err != nil {
		return nil, err
	}
	return st.within(ctx, c, ids)
}

// Newest returns the reach of a caller without the older of too many events, to check queries and to describe the entities.
func (st *Store) Newest(ctx context.Context, c *auth.Caller) (*Reach, error) {
	ids, err := st.visible(ctx, c, nil)
	if err != nil {
		return nil, err
	}
	return st.within(ctx, c, ids[max(0, len(ids)-mostEvents):])
}

// within returns the reach of a caller: the event of the path, or else the events of ids.
func (st *Store) within(ctx context.Context, c *auth.Caller, ids []int64) (_ *Reach, err error) {
	found := []*programme.Event{c.Event}
	if c.Event == nil {
		if found, err = programme.Many(ctx, st.Tenancy, c.Org.ID, ids); err != nil {
			return nil, err
		}
	}
	s := &Reach{store: st, caller: c, events: make([]*event, len(found))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(eventsAtOnce)
	for i, e := range found {
		within := *c
		within.Event = e
		o := &event{caller: &within}
		s.events[i] = o
		g.Go(table.Safely(func() (err error) {
			o.set, err = st.Sessions.Settings.Load(ctx, o.caller)
			return err
		}))
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	s.describe()
	return s, nil
}

// eventsAtOnce is how many events are read at a time.
const eventsAtOnce = 8

// visible returns the ids of the wanted events, or of all events that the caller sees, the newest last. With the event of a path it
// returns none.
func (st *Store) visible(ctx context.Context, c *auth.Caller, wanted []int64) (ids []int64, err error) {
	if c.Event != nil {
		return nil, nil
	}
	if ids, err = programme.Events.IDs(ctx, st.Tenancy, c.Org.ID); err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id int64) bool { return !c.SeesEvent(id) })
	if len(wanted) > 0 {
		for _, id := range wanted {
			if !slices.Contains(ids, id) {
				return nil, apierr.NotFound("Event")
			}
		}
		ids = slices.Clone(wanted)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Schema returns the entities of the reach, with the custom fields of the events. The caller must not change it.
func (s *Reach) Schema() *query.Schema { return s.schema }

// SeesPersonalData reports whether the caller may see personal data as it is: with the scope read:contacts, and with a token that does
// not mask such data.
func (s *Reach) SeesPersonalData() bool {
	return s.readsContacts() && !s.caller.Token.ObfuscatePII
}

// readsContacts reports whether the caller has the scope read:contacts.
func (s *Reach) readsContacts() bool { return s.caller.May(auth.Scopes{auth.ReadContacts}) == nil }

// Check returns the 400 of a query that is not valid for the caller, or else nil. field is the property of the request that has the
// query.
func (s *Reach) Check(field string, q Question) error {
	_, err := s.compile(q)
	return invalid(field, err)
}

// compile returns the statement of a question.
func (s *Reach) compile(q Question) (*query.Statement, error) {
	parsed, err := query.Parse(q.Query)
	if err != nil {
		return nil, err
	}
	return s.schema.Compile(parsed, s.Masks(q))
}

// Masks reports whether the caller sees personal data masked in the answer to a question.
func (s *Reach) Masks(q Question) bool { return !q.Unmasked || !s.SeesPersonalData() }

// Roles returns the roles of participants of a reach with one event.
func (s *Reach) Roles() []*participant.Role { return s.events[0].set.Roles.All() }

// Dropdowns returns the custom dropdowns of sessions that the events have and that are no personal data on any of the events: each
// name once.
func (s *Reach) Dropdowns() (all []*field.Definition) {
	of, known := s.families[0], map[string]bool{}
	for _, o := range s.events {
		for _, d := range o.customFields(of) {
			private := of.columns[query.CustomPrefix+d.InternalName].PII
			if d.Type == field.Dropdown && !d.Multiple && !private && !known[d.InternalName] {
				known[d.InternalName], all = true, append(all, d)
			}
		}
	}
	return all
}
