package item

import (
	"context"
	"fmt"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Kind declares a kind of setting of type R.
type Kind[R any, P Record[R]] struct {
	// Name begins the sort keys and names the record in changes, for example tracks. Title
	// names a record in messages, for example Track.
	Name, Title string
	// Most is how many settings of the kind a place may have. Many names the kind in the
	// refusal of one more, for example fields.
	Most int
	Many string
	// Unique returns the value that no two settings of a place share, which never changes;
	// Taken returns the 409 of another setting with the value. Nil for a kind without.
	Unique func(P) string
	Taken  func(P) error
}

// Store writes settings. Used says how many settings there are, by the caller's snapshot.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	NewID func() string
	Used  Used
}

// In returns the settings of the kind in a place.
func (k *Kind[R, P]) In(s Store, at Place) record.Records[R] {
	return record.Records[R]{Table: s.Table, Now: s.Now, Storage: storage[R, P]{k, at, s.Used.At(at)}}
}

// storage is the record.Storage of the settings of a kind in a place.
type storage[R any, P Record[R]] struct {
	kind *Kind[R, P]
	at   Place
	used *Usage
}

func (s storage[R, P]) Head(r *R) record.Head { return P(r).Head() }

func (s storage[R, P]) Key(id string, _ bool) table.Key { return s.at.Key(s.kind.Name, id) }

func (s storage[R, P]) Decode(from table.Item) (*R, error) { return Decode[R, P](from) }

func (s storage[R, P]) NotFound() error { return apierr.NotFound(s.kind.Title) }

func (s storage[R, P]) Beside(record.Verb, string) []table.Key { return nil }

func (s storage[R, P]) Named(*R) []table.Key { return nil }

func (s storage[R, P]) Check(record.Step[R], write.Items) error { return nil }

func (s storage[R, P]) Admit(record.Step[R], write.Items) error { return nil }

// Writes returns the writes of a step. The settings version of the owner goes up by the
// weight of the setting, as Counted says.
func (s storage[R, P]) Writes(ctx context.Context, step record.Step[R], _ write.Items) ([]table.Write, error) {
	r := P(step.After)
	head := r.Head()
	var content any = r
	if head.Deleted() {
		content = r.Remains()
	}
	stored, err := record.Encode(s.at.Key(s.kind.Name, *head.ID), *head.Version, content)
	if err == nil {
		err = s.admit(step.Verb, size(stored)-size(step.Was))
	}
	if err != nil {
		return nil, err
	}
	store := table.Replace(stored, step.Was.Version)
	if step.Verb == record.Created {
		store = table.Insert(stored)
	}
	noted := change.New(ctx, change.Record{
		At: *head.UpdatedAt, Org: s.at.Org, Event: s.at.Event, Action: s.kind.Name + "." + string(step.Verb),
		Type: s.kind.Name, RecordID: *head.ID, Version: *head.Version, Values: change.Diff(step.Before, step.After),
	})
	owner := "Event"
	if s.at.Event == 0 {
		owner = "Organization"
	}
	return append(s.hold(step.Verb, r), store, noted.Write(),
		table.BumpSettings(s.at.Owner(), table.Weight(*head.ID)).Or(apierr.NotFound(owner))), nil
}

// hold returns the write that holds a new setting's unique value, or frees that of a deleted
// setting.
func (s storage[R, P]) hold(verb record.Verb, r P) []table.Write {
	if s.kind.Unique == nil {
		return nil
	}
	key := s.at.Unique(s.kind.Name, s.kind.Unique(r))
	switch verb {
	case record.Created:
		hold := table.Item{Key: key, Version: 1, Data: fmt.Appendf(nil, `{"id":%q}`, *r.Head().ID)}
		return []table.Write{table.Insert(hold).Or(s.kind.Taken(r))}
	case record.Deleted:
		return []table.Write{table.Remove(key, 1)}
	}
	return nil
}
