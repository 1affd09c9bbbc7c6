package award

import (
	"context"
	"slices"
	"strings"

	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Person is a person to erase: the address and the ids of the contacts.
type Person struct {
	Address  string
	Contacts []string
}

// erased is the act of an erasure.
const erased record.Verb = "erased"

// Erase erases a person from the submissions and reviews of an organization, also from deleted ones. A submission loses
// the submitter and all values of its answers, a review the name, the address, the comment and all texts. Numbers,
// points and outcomes stay. Erase may be done again.
func Erase(ctx context.Context, s resource.Store, org int64, p Person) error {
	top := resource.Owner{Org: org}
	programs := map[string]bool{}
	for _, key := range []table.Key{top.Key(programKind, ""), top.DeletedKey(programKind, "")} {
		for stored, err := range s.Table.Between(ctx, key.PK, key.SK, key.SK+"~") {
			if err != nil {
				return err
			}
			_, id, _ := resource.KindOf(stored.Key)
			programs[id] = true
		}
	}
	var places []table.Key
	for id := range programs {
		in := resource.Owner{Org: org, Parent: id}
		places = append(places, in.Key(submissionKind, ""), in.Key(reviewKind, ""))
	}
	for _, place := range append(places, top.DeletedKey(submissionKind, ""), top.DeletedKey(reviewKind, "")) {
		for stored, err := range s.Table.Between(ctx, place.PK, place.SK, place.SK+"~") {
			if err == nil {
				err = p.eraseFrom(ctx, s, org, stored.Key)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// eraseFrom erases the person from the record of a key.
func (p Person) eraseFrom(ctx context.Context, s resource.Store, org int64, key table.Key) error {
	var op write.Op = erasure[Submission, *Submission, SubmissionEdit]{Submissions, s, org, key, p.eraseSubmission}
	if kind, _, _ := resource.KindOf(key); kind == reviewKind {
		op = erasure[Review, *Review, ReviewEdit]{Reviews, s, org, key, p.eraseReview}
	}
	_, err := write.Run[bool](ctx, s.Table, op)
	return err
}

// eraseSubmission erases the person from a submission, and returns the program; empty for a submission of another person.
func (p Person) eraseSubmission(s *Submission) string {
	if s.Submitter == nil || !strings.EqualFold(s.Submitter.Email, p.Address) &&
		(s.Submitter.ContactID == nil || !slices.Contains(p.Contacts, *s.Submitter.ContactID)) {
		return ""
	}
	s.Submitter = nil
	for i := range s.Answers {
		s.Answers[i].Value = nil
	}
	return s.ProgramID
}

// eraseReview erases the person from a review, and returns the program; empty for a review of another person.
func (p Person) eraseReview(r *Review) string {
	if !strings.EqualFold(r.Reviewer.Email, p.Address) {
		return ""
	}
	r.Reviewer.Name, r.Reviewer.Email, r.Comment = "", "", nil
	for i := range r.Scores {
		if r.Scores[i].Points == nil {
			r.Scores[i].Value = nil
		}
	}
	return r.ProgramID
}

// erasure erases a person from the record of a key.
type erasure[R any, P resource.Record[R], D resource.Draft[P]] struct {
	kind *resource.Kind[R, P, D]
	in   resource.Store
	org  int64
	key  table.Key
	edit func(P) string
}

func (e erasure[R, P, D]) Reads() []table.Key { return []table.Key{e.key} }

func (e erasure[R, P, D]) More(write.Items) []table.Key { return nil }

func (e erasure[R, P, D]) Touches(write.Items) []string { return nil }

// Plan writes the record without the person; nothing for a record of another person.
func (e erasure[R, P, D]) Plan(ctx context.Context, got write.Items) (*write.Plan, error) {
	plan := &write.Plan{Answer: true}
	stored, found := got[e.key]
	if !found {
		return plan, nil
	}
	before, err := e.kind.Decode(stored)
	if err != nil {
		return nil, err
	}
	after, err := e.kind.Decode(stored)
	if err != nil {
		return nil, err
	}
	if program := e.edit(after); program != "" {
		all := e.kind.Of(e.in, resource.Owner{Org: e.org, Parent: program})
		plan.Writes, err = all.Again(ctx, erased, before, after)
	}
	return plan, err
}
