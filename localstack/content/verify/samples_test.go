package verify

import (
	"context"
	"slices"
	"strings"
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
	// Beside is the sample that the record adds to.
	Beside string `json:"beside,omitempty"`
	Number int    `json:"number"`
}

// sampleDraft is the draft of a sample.
type sampleDraft struct{ name, beside string }

func (d sampleDraft) Apply(e resource.Edit[*sample]) error {
	e.Record.Name, e.Record.Beside = d.name, d.beside
	return nil
}

func (s *sample) unique() string { return s.Name }

// number sets the running number, and returns the counter.
func (s *sample) number(n int) string {
	s.Number = n
	return "box#2026"
}

// addsTo returns what a sample of a kind adds to the one beside it.
func addsTo(kind string) func(*sample) []resource.Sum {
	return func(s *sample) []resource.Sum {
		if s.Beside == "" {
			return nil
		}
		return []resource.Sum{{Kind: kind, Of: s.Beside, Name: "samples", By: 2}}
	}
}

var (
	boxes = &resource.Kind[sample, *sample, sampleDraft]{
		Name: "box", Title: "Box", Many: "boxes", Max: 9, Unique: (*sample).unique, UniqueField: "name", Adds: addsTo("box"),
		Serial: (*sample).number,
	}
	// personal are kinds with patterns of their own.
	personal = []*resource.Kind[sample, *sample, sampleDraft]{
		{Name: "award_submission", Title: "Submission", Many: "submissions", Max: 9, Parent: inBox},
		{Name: "award_review", Title: "Review", Many: "reviews", Max: 9, Parent: inBox},
	}
	inBox  = resource.ParentNames{Name: "box", Title: "Box"}
	things = &resource.Kind[sample, *sample, sampleDraft]{
		Name: "thing", Title: "Thing", Many: "things", Max: 9, Parent: inBox, Unique: (*sample).unique, UniqueField: "name", Adds: addsTo("thing"),
	}
)

// addSmallRecords adds small records of the organization and of the event: a record, a deleted
// record, and a record with a parent, each with a unique value and a record that adds to it.
func addSmallRecords(t *testing.T, s *stacktest.Stack, tbl *table.Table) {
	t.Helper()
	ctx := change.WithActor(context.Background(), change.Actor{Type: change.ActorToken, ID: s.Member}, change.SourceAPI)
	store := resource.Store{Table: tbl, Now: time.Now, NewID: uuid.NewString}
	for _, owner := range []resource.Owner{{Org: s.Org}, {Org: s.Org, Event: s.Event}} {
		box, err := boxes.Of(store, owner).Create(ctx, sampleDraft{"One", ""})
		require.NoError(t, err)
		gone, err := boxes.Of(store, owner).Create(ctx, sampleDraft{"Two", box.ID})
		require.NoError(t, err)
		_, err = boxes.Of(store, owner).Create(ctx, sampleDraft{"Three", box.ID})
		require.NoError(t, err)
		_, err = boxes.Of(store, owner).Change(ctx, gone.ID, resource.Change[sampleDraft]{Verb: record.Deleted, Guard: write.Guard{}})
		require.NoError(t, err)
		owner.Parent = box.ID
		thing, err := things.Of(store, owner).Create(ctx, sampleDraft{"One", ""})
		require.NoError(t, err)
		_, err = things.Of(store, owner).Create(ctx, sampleDraft{"Two", thing.ID})
		require.NoError(t, err)
		if owner.Event != 0 {
			continue
		}
		for _, kind := range personal {
			for _, verb := range []record.Verb{record.Updated, record.Deleted} {
				r, err := kind.Of(store, owner).Create(ctx, sampleDraft{string(verb), ""})
				require.NoError(t, err)
				_, err = kind.Of(store, owner).Change(ctx, r.ID, resource.Change[sampleDraft]{Verb: verb})
				require.NoError(t, err)
			}
		}
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

// TestTheNumbersOfARecordAreChecked against what the records add.
func TestTheNumbersOfARecordAreChecked(t *testing.T) {
	client, name := oneOfEach(t)
	whole := read(t, client, name)
	at := slices.Index(whole, whole.named(t, "numbers of a record"))
	for data, problem := range map[string]string{
		"{}": `"samples" of the record`, `{"samples":4}`: "is off by +2", `{"samples":2,"others":1}`: `"others" of the record`, "[": "cannot be read",
	} {
		damaged := slices.Clone(whole)
		damaged[at].Data = data
		require.Contains(t, strings.Join(damaged.problems(), "\n"), problem)
	}
	require.NotEmpty(t, slices.Delete(slices.Clone(whole), at, at+1).problems())
}
