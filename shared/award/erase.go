package award

import (
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
	"lectern/shared/wire"
)

// Person is a person by the address and the contacts, by their ids.
type Person struct {
	Address  string
	Contacts map[string]Next
}

// Next is the next person of a contact: since when the contact has belonged to that person, and the address. The time is zero
// for a contact without a next person.
type Next struct {
	Since   time.Time
	Address string
}

// is reports whether a record is about the person. The record was made at some time, and names the address, in any case, or
// one of the contacts. The hidden part of a record has the contact in quotes. A record with the address of the next person of a
// contact belongs to that person: a draft may have got another submitter.
func (p Person) is(created wire.Time, address string, contacts ...string) bool {
	return strings.EqualFold(address, p.Address) || slices.ContainsFunc(contacts, func(id string) bool {
		next, found := p.Contacts[strings.Trim(id, `"`)]
		return found && (next.Since.IsZero() || !created.After(next.Since) && !strings.EqualFold(address, next.Address))
	})
}

// submits reports whether the person made a submission.
func (p Person) submits(s *Submission) bool {
	return s.Submitter != nil && p.is(s.CreatedAt, s.Submitter.Email, refer(s.Submitter.ContactID), string(s.Hidden()))
}

// reviews reports whether the person is the reviewer of a review.
func (p Person) reviews(r *Review) bool {
	return p.is(r.CreatedAt, r.Reviewer.Email, string(r.Hidden()))
}

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

// Found has the records of a person. Damaged are the keys of the records that cannot be read, of any person. Cut reports
// whether the person has more records than were asked for.
type Found struct {
	Submissions []*Submission
	Reviews     []*Review
	Damaged     []table.Key
	Cut         bool
	space       int
}

// fits reports whether there is space for the record of an item. After the first that does not fit, none does.
func (f *Found) fits(stored table.Item) bool {
	f.space -= len(stored.Data)
	f.Cut = f.Cut || f.space < 0
	return !f.Cut
}

// Records returns the submissions and reviews of the person, deleted ones too, up to a number of bytes of their JSON.
func (s Search) Records(ctx context.Context, most int) (f Found, err error) {
	f.space = most
	for stored, err := range s.items(ctx, table.Key{}) {
		if err != nil {
			return f, err
		}
		if isReview(stored.Key) {
			var r *Review
			if r, err = Reviews.Decode(stored); err == nil && s.reviews(r) && f.fits(stored) {
				f.Reviews = append(f.Reviews, r)
			}
		} else {
			var of *Submission
			if of, err = Submissions.Decode(stored); err == nil && s.submits(of) && f.fits(stored) {
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

// ErrDamaged is the error of a record that cannot be read.
var ErrDamaged = errors.New("award: a record is damaged")

// Erase erases the person from submissions and reviews, from a key on. A submission loses the submitter and all values of
// its answers, a review the name, the address, the comment and all texts. Numbers, points and outcomes stay. Erase may be
// done again. If little time of the context is left, which ends reports, Erase returns the key from which to go on as next.
// Erase passes over the records that are damaged, and returns their keys.
func (s Search) Erase(ctx context.Context, from table.Key, ends func(context.Context) bool) (
	next table.Key, damaged []table.Key, err error,
) {
	begun := false
	for stored, err := range s.items(ctx, from) {
		if err != nil {
			return next, damaged, err
		}
		if begun && ends(ctx) {
			return stored.Key, damaged, nil
		}
		begun = true
		if isReview(stored.Key) {
			err = eraseFrom(ctx, s, Reviews, stored, s.eraseReview)
		} else {
			err = eraseFrom(ctx, s, Submissions, stored, s.eraseSubmission)
		}
		switch {
		case errors.Is(err, ErrDamaged):
			damaged = append(damaged, stored.Key)
		case err != nil:
			return next, damaged, err
		}
	}
	return next, damaged, nil
}

// RequireReadable returns ErrDamaged if the record with a key is damaged, and nil if there is no such record.
func (s Search) RequireReadable(ctx context.Context, key table.Key) error {
	stored, err := s.Table.Lenient().Get(ctx, key)
	switch {
	case errors.Is(err, table.ErrNotFound):
		return nil
	case err != nil:
		return err
	case isReview(key):
		_, err = decode(Reviews, stored)
	default:
		_, err = decode(Submissions, stored)
	}
	return err
}

// decode returns the record of an item, or ErrDamaged.
func decode[R any, P resource.Record[R], D resource.Draft[P]](kind *resource.Kind[R, P, D], stored table.Item) (P, error) {
	r, err := kind.Decode(stored)
	if err != nil {
		return nil, fmt.Errorf("%w: %s %s: %w", ErrDamaged, stored.PK, stored.SK, err)
	}
	return r, nil
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
		after, err := decode(kind, stored)
		if err != nil {
			return err
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
