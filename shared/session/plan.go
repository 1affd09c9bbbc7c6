package session

import (
	"context"
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/catalogue"
	"lectern/shared/change"
	"lectern/shared/field"
	"lectern/shared/person"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// Published kinds of change of a session (gaps.md section 10).
const (
	kindCreated = "session.created"
	kindUpdated = "session.updated"
	kindDeleted = "session.deleted"
	// A role was given to somebody, or taken from somebody.
	kindAttached = "session.speaker.attached"
	kindDetached = "session.speaker.detached"
)

// step is one session's part in a write: what it was, nil when it is new, and
// what it becomes.
type step struct {
	before, after *Body
	// action is what the audit trail says was done, kind what is published.
	action, kind string
	// fields are the custom fields that changed, by internal name.
	fields []string
}

// plan turns the steps of one write, done at now, into its transaction and the
// answer, which shows the session of the first step.
func (st *Store) plan(ctx context.Context, f *formatter, now wire.Time, steps ...step) (*write.Plan, error) {
	made := &write.Plan{}
	for _, s := range steps {
		writes, err := st.writes(ctx, f, now, s)
		if err != nil {
			return nil, err
		}
		made.Writes = append(made.Writes, writes...)
		f.others[s.after.ID] = s.after
	}
	if err := f.gather(ctx, st.fetch(at(f.caller)), steps[0].after); err != nil {
		return nil, err
	}
	if err := f.meet(ctx, steps[0].after); err != nil {
		return nil, err
	}
	made.Answer = f.answer(steps[0].after)
	return made, nil
}

// writes completes a step's body and gives its items: body, row, the version of
// the row's shard, the items of the people whose roles change, and the change record.
func (st *Store) writes(ctx context.Context, f *formatter, now wire.Time, s step) ([]table.Write, error) {
	p, b, was := at(f.caller), s.after, int64(0)
	b.UpdatedAt = later(now, s.before)
	if s.before == nil {
		b.CreatedAt = b.UpdatedAt
	} else {
		was = s.before.Version
	}
	b.Version = was + 1
	b.Sequence += int64(len(s.published()))
	body, err := encode(b)
	if err != nil {
		return nil, err
	}
	row, err := encodeRow(b)
	if err != nil {
		return nil, err
	}
	people, err := st.people(ctx, p, s)
	if err != nil {
		return nil, err
	}
	whole := table.Item{Key: p.body(b.ID), Version: b.Version, Data: body}
	return append(append(catalogue.Write(p.source(), b.ID, whole, was, row), people...), st.change(ctx, f, s).Write()), nil
}

// people returns the writes of the items of the people whose roles a step changes. Where
// more change than fit into its transaction, the others are announced at once.
func (st *Store) people(ctx context.Context, p place, s step) ([]table.Write, error) {
	before := person.Roles{}
	if s.before != nil {
		before = s.before.Roles()
	}
	ahead, together, err := p.itemsOf(s.after).Changes(before, s.after.Roles())
	for chunk := range slices.Chunk(ahead, table.MaxWrites) {
		if err == nil {
			err = st.Table.Transact(ctx, chunk...)
		}
	}
	return together, err
}

// Roles returns the roles that people have on a session.
func (b *Body) Roles() person.Roles {
	roles := person.Roles{}
	for _, p := range b.Participants {
		roles.Add(p.ContactID, p.RoleID)
	}
	return roles
}

// encode writes a body as it is stored and measured, 400 when that is too large.
func encode(b *Body) ([]byte, error) {
	text, err := wire.Encode(b)
	if err != nil {
		return nil, fmt.Errorf("session: encode %s: %w", b.ID, err)
	}
	if len(text) > maxRecordBytes {
		return nil, apierr.Invalid("", "The session as a whole must not be larger than %d bytes.", maxRecordBytes)
	}
	return text, nil
}

// unpublished are parts of a body that a change record does not list: what
// changes with every write, custom fields, which are listed one by one, and a
// withdrawal, which names a person: the action tells it.
var unpublished = []string{"updated_at", "created_at", "sequence", "last_number", "custom_fields", "withdrawn"}

// change is the step's change record. It names people by id, as the body does.
func (st *Store) change(ctx context.Context, f *formatter, s step) change.Record {
	var before any
	if s.before != nil {
		before = s.before
	}
	values := change.Diff(before, s.after, unpublished...)
	for _, name := range s.fields {
		values = append(values, f.fieldChange(s, name))
	}
	fields := make([]string, len(values))
	for i, v := range values {
		fields[i] = v.Field
	}
	p, published := at(f.caller), s.published()
	kinds := make([]change.Kind, len(published))
	for i, name := range published {
		kinds[i] = change.Kind{Name: name, Sequence: s.after.Sequence - int64(len(published)-1-i), Fields: fields}
		if i > 0 {
			kinds[i].Fields = []string{"participants"}
		}
	}
	return change.New(ctx, change.Record{
		At: s.after.UpdatedAt, Org: p.org, Event: p.event, Action: s.action, Type: "session",
		RecordID: s.after.ID, Version: s.after.Version, Values: values, Kinds: kinds,
	})
}

// published are the kinds of a step: its own, and whether roles were given or taken.
func (s step) published() []string {
	var before []Participant
	if s.before != nil {
		before = s.before.Participants
	}
	kinds := []string{s.kind}
	if hasOthers(s.after.Participants, before) {
		kinds = append(kinds, kindAttached)
	}
	if hasOthers(before, s.after.Participants) {
		kinds = append(kinds, kindDetached)
	}
	return kinds
}

// hasOthers is whether people has somebody in a role that they do not have among
// others.
func hasOthers(people, others []Participant) bool {
	return slices.ContainsFunc(people, func(p Participant) bool {
		return !slices.ContainsFunc(others, func(o Participant) bool { return o.ContactID == p.ContactID && o.RoleID == p.RoleID })
	})
}

// fieldChange is the change of one custom field, which a body keeps by id.
func (f *formatter) fieldChange(s step, name string) change.Value {
	v := change.Value{Field: "custom_fields." + name}
	def, ok := f.set.Fields.Named(field.Session, name)
	if !ok {
		return v
	}
	if s.before != nil {
		v.Old = s.before.CustomFields[def.ID].V
	}
	v.New = s.after.CustomFields[def.ID].V
	return v
}

// guarded reads a live session and checks the version the client has seen.
func guarded(got write.Items, key table.Key, guard write.Guard) (*Body, error) {
	b, err := live(got, key)
	if err != nil {
		return nil, err
	}
	return b, guard.Check(b.Version, b.UpdatedAt)
}

// start makes the edit of a draft, or the error that needs nothing read but the
// settings.
func (r *request) start(ctx context.Context, d *Draft) (*edit, error) {
	set, err := r.Settings.Load(ctx, r.caller)
	if err != nil {
		return nil, err
	}
	e := &edit{
		caller: r.caller, set: set, draft: d, newID: r.NewID,
		members: set.Fields.Members(r.caller.Org.ID, field.Session, d.CustomFields.Value),
	}
	if err := e.check(); err != nil {
		return nil, err
	}
	if err := e.cast(); err != nil {
		return nil, err
	}
	return e, e.checkAccounts()
}
