package item_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/tabletest"
	"lectern/shared/apierr"
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

func (n *note) Head() item.Head {
	return item.Head{ID: &n.ID, Version: &n.Version, CreatedAt: &n.CreatedAt, UpdatedAt: &n.UpdatedAt, DeletedAt: &n.DeletedAt}
}

func (n *note) Remains() any { return n }

var (
	place = item.Place{Org: 1, Event: 2}
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
)

func same(n *note) *note { return n }

// newStore is a store whose clock stands still.
func newStore(t *testing.T) item.Store {
	t.Helper()
	return item.Store{Table: tabletest.Start(t), Now: func() time.Time { return noon }, Kind: "note", Title: "Note", Limit: item.Limit{Name: "notes", Most: 10}}
}

func status(t *testing.T, err error) int {
	t.Helper()
	var e *apierr.Error
	require.ErrorAs(t, err, &e)
	return e.Status
}

func TestASettingAndItsOwnerCountTogether(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	_, err := item.Create(ctx, s, place, &note{ID: "a"}, same)
	require.Equal(t, 404, status(t, err), "there is no such event")
	require.NoError(t, s.Table.Transact(ctx, table.Insert(table.Item{Key: place.Owner(), Version: 7, Data: []byte("{}")})))

	made, err := item.Create(ctx, s, place, &note{ID: "a", Text: "one"}, same)
	require.NoError(t, err)
	require.Equal(t, wire.At(noon), made.CreatedAt)
	edit := func(text string) func(*note) error {
		return func(n *note) error { n.Text = text; return nil }
	}
	for i, c := range []item.Change[*note]{
		{Verb: item.Updated, Edit: edit("two")},
		{Verb: item.Updated, Edit: edit("three"), Guard: write.Guard{IfMatch: `"2"`}},
		{Verb: item.Deleted},
		{Verb: item.Restored},
	} {
		n, err := item.Do(ctx, s, place, "a", c, same)
		require.NoError(t, err)
		require.Equal(t, int64(i+2), n.Version)
		require.Equal(t, wire.At(noon.Add(time.Duration(i+1)*time.Millisecond)), n.UpdatedAt, "later, though the clock stands still")
		require.Equal(t, c.Verb == item.Deleted, n.DeletedAt != nil)
	}
	owner, err := s.Table.Get(ctx, place.Owner())
	require.NoError(t, err)
	require.Equal(t, 5*table.Weight("a"), owner.Settings)
	require.Equal(t, int64(7), owner.Version)
}

func TestChangesAreRefused(t *testing.T) {
	s := newStore(t)
	ctx := t.Context()
	require.NoError(t, s.Table.Transact(ctx, table.Insert(table.Item{Key: place.Owner(), Version: 1, Data: []byte("{}")})))
	_, err := item.Create(ctx, s, place, &note{ID: "a"}, same)
	require.NoError(t, err)
	wrong := func(*note) error { return apierr.Invalid("text", "wrong") }
	stale := write.Guard{IfMatch: `"9"`}
	for _, c := range []struct {
		id     string
		change item.Change[*note]
		status int
	}{
		{"b", item.Change[*note]{Verb: item.Updated}, 404},
		{"a", item.Change[*note]{Verb: item.Restored}, 404},
		{"a", item.Change[*note]{Verb: item.Updated, Guard: stale}, 409},
		{"a", item.Change[*note]{Verb: item.Updated, Guard: stale, Edit: wrong}, 400},
	} {
		_, err := item.Do(ctx, s, place, c.id, c.change, same)
		require.Equal(t, c.status, status(t, err))
	}
	_, err = item.Do(ctx, s, place, "a", item.Change[*note]{Verb: item.Deleted}, same)
	require.NoError(t, err)
	for _, verb := range []item.Verb{item.Updated, item.Deleted} {
		_, err = item.Do(ctx, s, place, "a", item.Change[*note]{Verb: verb}, same)
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
