package award

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"

	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// Person names a person: the address and the ids of the contacts.
type Person struct {
	Address  string
	Contacts []string
}

// is reports whether the address or one of the contacts is that of the person. A contact may be in quotes.
func (p Person) is(address string, contacts ...string) bool {
	return strings.EqualFold(address, p.Address) || slices.ContainsFunc(contacts, func(id string) bool {
		return slices.Contains(p.Contacts, strings.Trim(id, `"`))
	})
}

// Submits reports whether the person made a submission.
func (p Person) Submits(s *Submission) bool {
	return s.Submitter != nil && p.is(s.Submitter.Email, refer(s.Submitter.ContactID), string(s.Hidden()))
}

// Reviews reports whether a review is by the person.
func (p Person) Reviews(r *Review) bool { return p.is(r.Reviewer.Email, string(r.Hidden())) }

// Search finds a person in the submissions and reviews of an organization.
type Search struct {
	resource.Store
	Org int64
	Person
}

// Items returns the submissions and reviews of the organization, deleted ones too, in the order of their keys. The first
// is that of the key from, or the next.
func (s Search) Items(ctx context.Context, from table.Key) iter.Seq2[table.Item, error] {
	return func(yield func(table.Item, error) bool) {
		places, err := s.places(ctx)
		if err != nil {
			yield(table.Item{}, err)
			return
		}
		for _, at := range places {
			first, last := at.SK, at.SK+"~"
			if at.PK == from.PK {
				first = max(first, from.SK)
			}
			if at.PK < from.PK || first > last {
				continue
			}
			for stored, err := range s.Table.Between(ctx, at.PK, first, last) {
				if !yield(stored, err) || err != nil {
					return
				}
			}
		}
	}
}

// places returns the beginnings of the keys of all submissions and reviews, in their order.
func (s Search) places(ctx context.Context) ([]table.Key, error) {
	top := resource.Owner{Org: s.Org}
	places := []table.Key{top.DeletedKey(reviewKind, ""), top.DeletedKey(submissionKind, "")}
	programs := map[string]bool{}
	for _, key := range []table.Key{top.Key(programKind, ""), top.DeletedKey(programKind, "")} {
		found, err := s.Table.Versions(ctx, key.PK, key.SK, key.SK+"~")
		if err != nil {
			return nil, err
		}
		for sk := range found {
			programs[strings.TrimPrefix(sk, key.SK)] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(programs)) {
		in := resource.Owner{Org: s.Org, Parent: id}
		places = append(places, in.Key(reviewKind, ""), in.Key(submissionKind, ""))
	}
	return places, nil
}

// Decode returns the record of an item of Items if it is of the person: a submission or a review, otherwise nil.
func (s Search) Decode(stored table.Item) (*Submission, *Review, error) {
	if kind, _, _ := resource.KindOf(stored.Key); kind == reviewKind {
		r, err := Reviews.Decode(stored)
		if err != nil || !s.Reviews(r) {
			r = nil
		}
		return nil, r, err
	}
	of, err := Submissions.Decode(stored)
	if err != nil || !s.Submits(of) {
		of = nil
	}
	return of, nil, err
}

// erased is the act of an erasure.
const erased record.Verb = "erased"

// Erase erases the person from the records of Items. A submission loses the submitter and all values of its answers, a
// review the name, the address, the comment and all texts. Numbers, points and outcomes stay. Erase may be done again. If
// little time of the context is left, which ends reports, Erase returns the key from which to go on.
func (s Search) Erase(ctx context.Context, from table.Key, ends func(context.Context) bool) (next table.Key, err error) {
	begun := false
	for stored, err := range s.Items(ctx, from) {
		if err != nil {
			return next, err
		}
		if begun && ends(ctx) {
			return stored.Key, nil
		}
		begun = true
		if kind, _, _ := resource.KindOf(stored.Key); kind == reviewKind {
			err = eraseFrom(ctx, s, Reviews, stored, s.eraseReview)
		} else {
			err = eraseFrom(ctx, s, Submissions, stored, s.eraseSubmission)
		}
		if err != nil {
			return next, err
		}
	}
	return next, nil
}

// eraseSubmission erases the person from a submission, and returns the program; empty for a submission of another person.
func (p Person) eraseSubmission(s *Submission) string {
	if !p.Submits(s) {
		return ""
	}
	s.Submitter = nil
	s.Hide(nil)
	for i := range s.Answers {
		s.Answers[i].Value = nil
	}
	return s.ProgramID
}

// eraseReview erases the person from a review, and returns the program; empty for a review of another person.
func (p Person) eraseReview(r *Review) string {
	if !p.Reviews(r) {
		return ""
	}
	r.Reviewer.Name, r.Reviewer.Email, r.Comment = "", "", nil
	r.Hide(nil)
	for i := range r.Scores {
		if r.Scores[i].Points == nil {
			r.Scores[i].Value = nil
		}
	}
	return r.ProgramID
}

// eraseFrom writes the record of an item without the person; nothing for a record of another person.
func eraseFrom[R any, P resource.Record[R], D resource.Draft[P]](
	ctx context.Context, s Search, kind *resource.Kind[R, P, D], stored table.Item, edit func(P) string,
) error {
	before, err := kind.Decode(stored)
	if err != nil {
		return err
	}
	after, err := kind.Decode(stored)
	if err != nil {
		return err
	}
	program := edit(after)
	if program == "" {
		return nil
	}
	writes, err := kind.Of(s.Store, resource.Owner{Org: s.Org, Parent: program}).Again(ctx, erased, before, after)
	if err == nil {
		err = change.Commit(ctx, s.Table, writes...)
	}
	if !errors.Is(err, table.ErrStale) {
		return err
	}
	stored, err = s.Table.Get(ctx, stored.Key)
	if errors.Is(err, table.ErrNotFound) {
		return nil // The next round finds a record that was deleted or restored meanwhile.
	}
	if err == nil {
		err = eraseFrom(ctx, s, kind, stored, edit)
	}
	return err
}
