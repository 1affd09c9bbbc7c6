package award

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
)

// Person is a person by the address and the ids of the contacts.
type Person struct {
	Address  string
	Contacts []string
}

// is reports whether the address, in any case, or one of the contacts belongs to the person. The hidden part of a record
// has the contact in quotes.
func (p Person) is(address string, contacts ...string) bool {
	return strings.EqualFold(address, p.Address) || slices.ContainsFunc(contacts, func(id string) bool {
		return slices.Contains(p.Contacts, strings.Trim(id, `"`))
	})
}

// submits reports whether the person made a submission.
func (p Person) submits(s *Submission) bool {
	return s.Submitter != nil && p.is(s.Submitter.Email, refer(s.Submitter.ContactID), string(s.Hidden()))
}

// reviews reports whether the person is the reviewer of a review.
func (p Person) reviews(r *Review) bool { return p.is(r.Reviewer.Email, string(r.Hidden())) }

// Search finds a person in the submissions and reviews of an organization.
type Search struct {
	resource.Store
	Org int64
	Person
}

// items returns the submissions and reviews of the organization, deleted ones too, in the order of their keys. It begins
// with the key from, or with the next key. An item that cannot be decompressed has no data.
func (s Search) items(ctx context.Context, from table.Key) iter.Seq2[table.Item, error] {
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
			for stored, err := range s.Table.Lenient().Between(ctx, at.PK, first, last) {
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

// Found has the records of a person. Damaged are the keys of the records that cannot be read, of any person.
type Found struct {
	Submissions []*Submission
	Reviews     []*Review
	Damaged     []table.Key
}

// Records returns the submissions and reviews of the person, deleted ones too.
func (s Search) Records(ctx context.Context) (f Found, err error) {
	for stored, err := range s.items(ctx, table.Key{}) {
		if err != nil {
			return f, err
		}
		if isReview(stored.Key) {
			var r *Review
			if r, err = Reviews.Decode(stored); err == nil && s.reviews(r) {
				f.Reviews = append(f.Reviews, r)
			}
		} else {
			var of *Submission
			if of, err = Submissions.Decode(stored); err == nil && s.submits(of) {
				f.Submissions = append(f.Submissions, of)
			}
		}
		if err != nil {
			f.Damaged = append(f.Damaged, stored.Key)
		}
	}
	return f, nil
}

// isReview reports whether the key of a submission or review is that of a review.
func isReview(key table.Key) bool {
	kind, _, _ := resource.KindOf(key)
	return kind == reviewKind
}

// erased is the act of an erasure.
const erased record.Verb = "erased"

// errDamaged is the error of a record that cannot be read.
var errDamaged = errors.New("award: a record is damaged")

// Erase erases the person from submissions and reviews. A submission loses the submitter and all values of its answers, a
// review the name, the address, the comment and all texts. Numbers, points and outcomes stay. Erase may be done again. If
// little time of the context is left, which ends reports, Erase returns the key from which to go on. Erase passes over
// damaged records. Then it returns the key of the first, and reports it as damaged. An Erase from there returns the error.
func (s Search) Erase(ctx context.Context, from table.Key, ends func(context.Context) bool) (left table.Key, damaged bool, err error) {
	begun := false
	for stored, err := range s.items(ctx, from) {
		if err != nil {
			return left, false, err
		}
		if begun && ends(ctx) {
			return cmp.Or(left, stored.Key), damaged, nil
		}
		begun = true
		if isReview(stored.Key) {
			err = eraseFrom(ctx, s, Reviews, stored, s.eraseReview)
		} else {
			err = eraseFrom(ctx, s, Submissions, stored, s.eraseSubmission)
		}
		switch {
		case errors.Is(err, errDamaged) && stored.Key != from:
			left, damaged = cmp.Or(left, stored.Key), true
		case err != nil:
			return left, false, err
		}
	}
	return left, damaged, nil
}

// eraseSubmission erases the person from a submission, and returns the program; empty for a submission of another person.
func (p Person) eraseSubmission(s *Submission) string {
	if !p.submits(s) {
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
	if !p.reviews(r) {
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

// tries are the tries to erase the person from a record that others change.
var tries = table.Retry{Tries: 60, First: 5 * time.Millisecond, Max: 50 * time.Millisecond}

// eraseFrom writes the record of an item without the person; nothing for a record of another person. edit erases the person
// from a record and returns the program, empty for a record of another person.
func eraseFrom[R any, P resource.Record[R], D resource.Draft[P]](
	ctx context.Context, s Search, kind *resource.Kind[R, P, D], stored table.Item, edit func(P) string,
) error {
	for _, err := range tries.Each(ctx) {
		if err != nil {
			return err
		}
		after, err := kind.Decode(stored)
		if err != nil {
			return fmt.Errorf("%w: %s %s: %w", errDamaged, stored.PK, stored.SK, err)
		}
		program := edit(after)
		if program == "" {
			return nil
		}
		before, err := kind.Decode(stored)
		if err != nil {
			return err
		}
		writes, err := kind.Of(s.Store, resource.Owner{Org: s.Org, Parent: program}).Again(ctx, erased, before, after)
		if err == nil {
			err = change.Commit(ctx, s.Table, writes...)
		}
		if !errors.Is(err, table.ErrStale) {
			return err
		}
		stored, err = s.Table.Lenient().Get(ctx, stored.Key)
		if errors.Is(err, table.ErrNotFound) {
			return nil // The next round finds a record that was deleted or restored meanwhile.
		}
		if err != nil {
			return err
		}
	}
	return table.ErrBusy
}
