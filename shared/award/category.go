package award

import (
	"lectern/shared/apierr"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Category is a category of a program, or a category below another.
type Category struct {
	resource.Header
	ProgramID       string      `json:"program_id" format:"uuid" doc:"The program's id."`
	ParentID        *string     `json:"parent_category_id" format:"uuid" doc:"The category above; null at the top. It cannot change."`
	Name            string      `json:"name" doc:"The category's name."`
	Description     *string     `json:"description" doc:"What belongs into the category."`
	Order           int         `json:"order" doc:"The place among the categories below the same one."`
	Level           int         `json:"level" doc:"1 at the top, at most 3."`
	SubmissionCount int         `json:"submission_count" doc:"How many submissions are in this category itself."`
	Subcategories   []*Category `json:"subcategories,omitzero" doc:"The categories below, in their order."`
}

// CategoryDraft has the properties of a category that a client may write.
type CategoryDraft struct {
	Name        wire.Opt[string] `json:"name,omitzero" create:"required" maxLength:"255" pattern:"\\S" nullable:"false" doc:"The category's name."`
	ParentID    wire.Opt[string] `json:"parent_category_id,omitzero" format:"uuid" doc:"The category above, of the first or second level."`
	Description wire.Opt[string] `json:"description,omitzero" maxLength:"5000" doc:"What belongs into the category."`
	Order       wire.Opt[int]    `json:"order,omitzero" minimum:"1" maximum:"100000" nullable:"false" doc:"The place in lists; the last by default."`
}

// maxLevel is how many levels a tree of categories has.
const maxLevel = 3

// submissions is the name of the number that submissions add to a category and to a round.
const submissions = "submissions"

// Categories is the kind of the categories.
var Categories = &resource.Kind[Category, *Category, CategoryDraft]{
	Name: categoryKind, Title: "Award category", Many: "award categories", Max: 200, Parent: inProgram,
	Sums: []string{submissionKind}, Admit: admitCategory, MayDelete: keepCategory,
	Counts: func(c *Category, n map[string]int) { c.SubmissionCount = n[submissions] },
	Order:  func(c *Category) *int { return &c.Order },
	Above:  (*Category).above,
	Nest:   func(c *Category, below []*Category) { c.Subcategories = append([]*Category{}, below...) },
}

// Apply writes the draft into the category.
func (d CategoryDraft) Apply(e resource.Edit[*Category]) error {
	c := e.Record
	switch above := d.ParentID.Value; {
	case e.Within != "" && d.ParentID.Sent && above != e.Within:
		return apierr.Invalid("parent_category_id", "parent_category_id must be the category of the path.")
	case e.New && e.Within != "":
		c.ParentID = &e.Within
	case e.New:
		d.ParentID.IntoPointer(&c.ParentID)
	case d.ParentID.Sent && above != c.above():
		return apierr.Invalid("parent_category_id", "parent_category_id of a category cannot change.")
	}
	if e.New {
		c.ProgramID, c.Level = e.Parent, 1
	}
	d.Name.Into(&c.Name)
	d.Description.IntoPointer(&c.Description)
	d.Order.Into(&c.Order)
	return nil
}

func (c *Category) above() string { return refer(c.ParentID) }

// refer returns the id of a reference; empty without one.
func refer(id *string) string {
	if id == nil {
		return ""
	}
	return *id
}

// admitCategory refuses a new category below a missing category, or below the lowest level.
func admitCategory(a resource.Admission[*Category]) error {
	c := a.Record
	if a.Verb != record.Created || c.ParentID == nil {
		return nil
	}
	stored, found := a.Found[a.Key(categoryKind, *c.ParentID)]
	switch {
	case !found && a.Within != "":
		return apierr.NotFound("Award category")
	case !found:
		return apierr.Invalid("parent_category_id", "There is no such category in this program.")
	}
	above, err := record.Decode[Category](stored)
	if err != nil {
		return err
	}
	if c.Level = above.Level + 1; c.Level > maxLevel {
		return apierr.Invalid("parent_category_id", "A category of level %d has no subcategories.", maxLevel)
	}
	return nil
}

// keepCategory refuses to delete a category with subcategories, and a category with submissions without force. A
// deletion with cascade=true deletes the subcategories first.
func keepCategory(d resource.Deletion[*Category]) error {
	const message = "The category has subcategories. Send force=true and cascade=true to delete them too."
	switch {
	case d.Below > 0:
		return resource.Confirm("has_subcategories", d.Below, message)
	case d.Force:
		return nil
	}
	return confirm("has_submissions", d.Children[submissions], "The category has %d submissions.")
}
