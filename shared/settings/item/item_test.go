package item_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// note is a setting of this test.
type note struct {
	ID        string     `json:"id"`
	Text      string     `json:"text"`
	CreatedAt wire.Time  `json:"created_at"`
	UpdatedAt wire.Time  `json:"updated_at"`
	DeletedAt *wire.Time `json:"deleted_at,omitempty"`
	Version   int64      `json:"-"`
}

func (n *note) Head() record.Head {
	return record.Head{ID: &n.ID, Version: &n.Version, CreatedAt: &n.CreatedAt, UpdatedAt: &n.UpdatedAt, DeletedAt: &n.DeletedAt}
}

func (n *note) Remains() any { return n }

var (
	place = item.Place{Org: 1, Event: 2}
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

// newNotes returns notes whose clock stands still.
func newNotes(t *testing.T) record.Records[note] {
	t.Helper()
	kind := &item.Kind[note, *note]{Name: "note", Title: "Note", Many: "notes", Most: 10}
	return kind.In(item.Store{Table: tabletest.Start(t), Now: func() time.Time { return noon }}, place)
}

func status(t *testing.T, err error) int {
	t.Helper()
	var e *apierr.Error
	require.ErrorAs(t, err, &e)
	return e.Status
}

func TestASettingAndItsOwnerCountTogether(t *testing.T) {
	s := newNotes(t)
	ctx := t.Context()
	_, err := s.Create(ctx, &note{ID: "a"})
	require.Equal(t, 404, status(t, err), "there is no such event")
	require.NoError(t, s.Table.Transact(ctx, table.Insert(table.Item{Key: place.Owner(), Version: 7, Data: []byte("{}")})))

	made, err := s.Create(ctx, &note{ID: "a", Text: "one"})
	require.NoError(t, err)
	require.Equal(t, wire.At(noon), made.CreatedAt)
	edit := func(text string) func(*note) error {
		return func(n *note) error { n.Text = text; return nil }
	}
	for i, c := range []record.Change[note]{
		{Verb: record.Updated, Edit: edit("two")},
		{Verb: record.Updated, Edit: edit("three"), Guard: write.Guard{IfMatch: `"2"`}},
		{Verb: record.Deleted},
		{Verb: record.Restored},
	} {
		n, err := s.Change(ctx, "a", c)
		require.NoError(t, err)
		require.Equal(t, int64(i+2), n.Version)
		require.Equal(t, wire.At(noon.Add(time.Duration(i+1)*time.Millisecond)), n.UpdatedAt, "later, though the clock stands still")
		require.Equal(t, c.Verb == record.Deleted, n.DeletedAt != nil)
	}
	owner, err := s.Table.Get(ctx, place.Owner())
	require.NoError(t, err)
	require.Equal(t, 5*table.Weight("a"), owner.Settings)
	require.Equal(t, int64(7), owner.Version)
}

func TestChangesAreRefused(t *testing.T) {
	s := newNotes(t)
	ctx := t.Context()
	require.NoError(t, s.Table.Transact(ctx, table.Insert(table.Item{Key: place.Owner(), Version: 1, Data: []byte("{}")})))
	_, err := s.Create(ctx, &note{ID: "a"})
	require.NoError(t, err)
	wrong := func(*note) error { return apierr.Invalid("text", "wrong") }
	stale := write.Guard{IfMatch: `"9"`}
	for _, c := range []struct {
		id     string
		change record.Change[note]
		status int
	}{
		{"b", record.Change[note]{Verb: record.Updated}, 404},
		{"a", record.Change[note]{Verb: record.Restored}, 404},
		{"a", record.Change[note]{Verb: record.Updated, Guard: stale}, 409},
		{"a", record.Change[note]{Verb: record.Updated, Guard: stale, Edit: wrong}, 400},
	} {
		_, err := s.Change(ctx, c.id, c.change)
		require.Equal(t, c.status, status(t, err))
	}
	_, err = s.Change(ctx, "a", record.Change[note]{Verb: record.Deleted})
	require.NoError(t, err)
	for _, verb := range []record.Verb{record.Updated, record.Deleted} {
		_, err = s.Change(ctx, "a", record.Change[note]{Verb: verb})
		require.Equal(t, 404, status(t, err))
	}
}

func TestSlug(t *testing.T) {
	for name, slug := range map[string]string{
		"Skill level (1-5)": "skill_level_1_5", " a  B ": "a_b", "E\u0301t": "e\u0301t", "?!": "", "日本": "日本",
	} {
		require.Equal(t, slug, item.Slug(name))
	}
}

func TestDerivedIDs(t *testing.T) {
	require.Equal(t, item.DerivedID("a", 1), item.DerivedID("a", 1))
	require.NotEqual(t, item.DerivedID("a", 1), item.DerivedID("a", 2))
	require.Regexp(t, "^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$", item.DerivedID("a"))
}
