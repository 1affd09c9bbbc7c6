package verify

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/stacktest"
	"lectern/shared/change"
	"lectern/shared/keys"
	"lectern/shared/layout"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/write"
)

// sample is a small record with what no kind of the service has yet: a parent, a unique value, and
// an organization as owner.
type sample struct {
	resource.Header
	Name string `json:"name"`
}

// sampleDraft is the draft of a sample.
type sampleDraft struct{ name string }

func (d sampleDraft) Apply(e resource.Edit[*sample]) error {
	e.Record.Name = d.name
	return nil
}

func (s *sample) unique() string { return s.Name }

var (
	boxes  = &resource.Kind[sample, *sample, sampleDraft]{Name: "box", Title: "Box", Many: "boxes", Max: 9, Unique: (*sample).unique, UniqueField: "name"}
	things = &resource.Kind[sample, *sample, sampleDraft]{
		Name: "thing", Title: "Thing", Many: "things", Max: 9, Parent: boxes, Unique: (*sample).unique, UniqueField: "name",
	}
)

// addSmallRecords adds small records of the organization and of the event: a record, a deleted
// record, and a record with a parent, each with a unique value.
func addSmallRecords(t *testing.T, s *stacktest.Stack, tbl *table.Table) {
	t.Helper()
	ctx := change.WithActor(context.Background(), change.Actor{Type: change.ActorToken, ID: s.Member}, change.SourceAPI)
	store := resource.Store{Table: tbl, Now: time.Now, NewID: uuid.NewString}
	for _, owner := range []resource.Owner{{Org: s.Org}, {Org: s.Org, Event: s.Event}} {
		box, err := boxes.Of(store, owner).Create(ctx, sampleDraft{"One"})
		require.NoError(t, err)
		gone, err := boxes.Of(store, owner).Create(ctx, sampleDraft{"Two"})
		require.NoError(t, err)
		_, err = boxes.Of(store, owner).Change(ctx, gone.ID, resource.Change[sampleDraft]{Verb: record.Deleted, Guard: write.Guard{}})
		require.NoError(t, err)
		owner.Parent = box.ID
		_, err = things.Of(store, owner).Create(ctx, sampleDraft{"One"})
		require.NoError(t, err)
	}
}

// once is the first item of each pattern.
func (all items) once() map[keys.Pattern]raw.Item {
	found := map[keys.Pattern]raw.Item{}
	for _, item := range all {
		if p := item.Pattern(); raw.ParsePartition(item.PK).Org != 0 && found[p].PK == "" {
			found[p] = item
		}
	}
	return found
}

// named is the first item of a pattern with the name.
func (all items) named(t *testing.T, name string) raw.Item {
	t.Helper()
	for _, item := range all {
		if item.Pattern().Name == name {
			return item
		}
	}
	require.Fail(t, "no item "+name)
	return raw.Item{}
}

// TestEveryPatternIsChecked: the check knows the partition of each item of an organization, and
// an item in another partition is a problem that names the pattern.
func TestEveryPatternIsChecked(t *testing.T) {
	for _, p := range layout.Keys {
		if p.Leading() == "O#*" {
			letters := raw.ParsePartition("O#1" + p.PK[1:]).Letters
			require.Contains(t, adders, letters, "%s %s (%s)", p.PK, p.SK, p.Name)
		}
	}
	add := adders["T"]
	delete(adders, "T")
	defer func() { adders["T"] = add }()
	o := NewOrganization(1)
	o.Add(raw.Item{Key: table.Key{PK: "O#1#T#2", SK: "-"}, Version: 1, Data: "{}"})
	require.Equal(t, []string{"O#1: the check does not know the items o#T#<token> - (token)"}, o.Problems)
}
