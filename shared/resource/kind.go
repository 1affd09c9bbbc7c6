package resource

import (
	"context"
	"fmt"
	"strings"
	"time"

	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/write"
)

// Codes of the conflicts of this package.
const (
	CodeConfirm       = "CONFIRMATION_REQUIRED"
	CodeParentDeleted = "PARENT_DELETED"
	CodeBuiltIn       = "BUILT_IN"
)

// Kind describes a kind of record: R is the record as stored and shown, D the draft that a
// client sends.
type Kind[R any, P Record[R], D Draft[P]] struct {
	// Name is the kind in keys and changes, for example rule. Title and Many name a record and
	// all records in messages, for example Rule and rules.
	Name, Title, Many string
	// Max is how many records of the kind an owner may have. A list without pages answers all
	// of them, each up to maxBytes, so Max is about 200 there, and more for records that are always small.
	Max int
	// Advice says what a client can do at Max; empty for apierr.DeleteSome.
	Advice string
	// Bytes bounds the JSON of a record as Admit has completed it, below maxBytes; 0 for no further bound. An owner may
	// have many records with Bytes, so a page of them keeps only headers in memory, and the kind has no Order.
	Bytes int
	// Parent names the kind of the record that records of this kind belong to; empty for records
	// of an event or organization.
	Parent ParentNames
	// Children are the kinds of records that belong to records of this kind. MayDelete gets
	// the numbers.
	Children []string
	// Sums are the kinds of records beside that add numbers to records of this kind. Adds returns the numbers
	// that a record of this kind adds to others; it names the same records before and after Admit. Counts sets
	// the numbers that an answer shows, by kind of Children and by name of the sums.
	Sums   []string
	Adds   func(P) []Sum
	Counts func(P, map[string]int)
	// Order points to the place of a record in a list; records of the same place go by their creation. A new record
	// without a place gets the place after the last one. Nil for a kind without.
	Order func(P) *int
	// Above returns the id of the record of the kind directly above a record, empty at the top, and Nest sets the
	// records directly below a record, for a kind whose records form a tree. The records of a tree have one owner.
	Above func(P) string
	Nest  func(P, []P)
	// Serial names the counter that gives a new record its running number, and sets the number unless it is 0.
	Serial func(P, int) string
	// Also returns an operation of the transaction that creates a record, for example the creation of a record
	// that a new parent has from the start.
	Also func(Store, Owner, P) (write.Op, error)
	// MayDelete returns the 409 of a record that must not be deleted unless the client
	// forces the deletion, see Confirm. For the record of a tree it is called also when the client forces. Nil for a kind without a condition.
	MayDelete func(Deletion[P]) error
	// Unique returns the value of the property UniqueField that no two records of an owner
	// share; empty for a record without a value. Nil for a kind without unique values.
	Unique      func(P) string
	UniqueField string
	// Named returns the keys of the items that a record names. Admit gets the items, and refuses the next
	// version of a record by them and by the parent. Nil for a kind without.
	Named func(P, Owner) []table.Key
	Admit func(Admission[P]) error
	// ReadsParent reports whether Admit reads the parent: then a change of the parent before the write makes
	// Admit run again. Nil for a kind whose Admit never does.
	ReadsParent func(P) bool
	// Watched has also each update raise the version of the item that counts the records.
	Watched bool
	// Show completes a record for an answer with what is not stored. Nil for a kind without.
	Show func(P, Store, Owner)
	// Finish ends what an earlier request has begun with a stored record and not ended, and returns the record
	// as it is then; the same pointer if nothing was to do. Every read of a record finishes the record first, and so
	// does every write that the rules allow. Nil for a kind without.
	Finish func(context.Context, Collection[R, P, D], P) (P, error)
	// BuiltIn returns the records that each owner has before the stored ones. Nobody can change them. Nil for a
	// kind without.
	BuiltIn func(Owner) []P
	// Publishes names the published change of a verb, for example "note.updated". Every write
	// goes into the audit trail; a verb without a name is not published.
	Publishes map[record.Verb]string
	// Security returns the actions of the security events of a change; before is nil for a new
	// record. Nil for a kind without security events.
	Security func(before, after P) []string
	// Redact takes secret parts out of the values of a change record. Nil keeps all values.
	Redact func([]change.Value)
}

// ParentNames are the Name and the Title of the kind of a parent.
type ParentNames struct{ Name, Title string }

// Draft has the properties that a client may write. Apply writes the properties that were sent
// into the record, and returns the 400 of a property that breaks a rule. Apply may run several
// times, each time on a fresh record.
type Draft[P any] interface{ Apply(Edit[P]) error }

// Checked is a Draft with a rule about the body alone. Check returns the 400 of a property that
// breaks the rule, before anything is read: such a 400 comes before the 404 of a missing record.
type Checked interface{ Check() error }

// checkBody returns the error of a draft that is Checked.
func checkBody(draft any) error {
	if d, ok := draft.(Checked); ok {
		return d.Check()
	}
	return nil
}

// Edit is a record that is being created or changed.
type Edit[P any] struct {
	Owner
	Record P
	// New reports whether the record is being created.
	New bool
}

// Admission is the next version of a record, before it is written. Admit may complete it. Admit runs again
// if the record has changed before the write.
type Admission[P any] struct {
	Owner
	Verb   record.Verb
	Record P
	// Now is the time of the write. Count is how many records of the kind the owner has, before a creation or
	// a restore.
	Now   time.Time
	Count int
	// Parent is the item of the parent record, Found are the items of Named that exist.
	Parent table.Item
	Found  write.Items
}

// Deletion is a record that is to be deleted.
type Deletion[P any] struct {
	Record P
	// Children are the numbers of the records of the record, by kind, and the sums by name.
	Children map[string]int
	// Below is how many records are directly below the record of a tree. Force reports whether the client forces.
	Below int
	Force bool
}

// Confirm returns the 409 of a deletion that needs ?force=true.
func Confirm(reason string, count int, message string) error {
	return apierr.Conflict(CodeConfirm, message).With("reason", reason).With("count", count)
}

// Decode reads a record from its item.
func (k *Kind[R, P, D]) Decode(from table.Item) (P, error) { return decode[R, P](from) }

// notFound returns the 404 of a record.
func (k *Kind[R, P, D]) notFound() error { return apierr.NotFound(k.Title) }

// builtIn returns the built-in record of an id; nil for a record that may be stored.
func (k *Kind[R, P, D]) builtIn(o Owner, id string) P {
	if k.BuiltIn == nil {
		return nil
	}
	for _, r := range k.BuiltIn(o) {
		if r.RecordID() == id {
			return r
		}
	}
	return nil
}

// taken returns the 409 of a unique value that another record has.
func (k *Kind[R, P, D]) taken() error {
	message := fmt.Sprintf("There is a %s with this %s already.", strings.ToLower(k.Title), k.UniqueField)
	return apierr.Conflict("DUPLICATE_"+strings.ToUpper(k.UniqueField), message).Field(k.UniqueField)
}

// parentKeys returns the keys of the owner's parent record; nil for an owner without a stored parent.
func (c Collection[R, P, D]) parentKeys() []table.Key {
	kind := c.kind.Parent.Name
	if kind == "" || c.starting {
		return nil
	}
	return []table.Key{c.owner.top().Key(kind, c.owner.Parent), c.owner.DeletedKey(kind, c.owner.Parent)}
}

// checkParent refuses an owner without the parent record: 404. For Created and Restored a
// deleted parent is a 409.
func (c Collection[R, P, D]) checkParent(verb record.Verb, got map[table.Key]table.Item) error {
	keys, title := c.parentKeys(), c.kind.Parent.Title
	if keys == nil {
		return nil
	}
	if _, ok := got[keys[0]]; ok {
		return nil
	}
	if _, ok := got[keys[1]]; ok && (verb == record.Created || verb == record.Restored) {
		return apierr.Conflict(CodeParentDeleted, fmt.Sprintf("The %s is deleted.", strings.ToLower(title)))
	}
	return apierr.NotFound(title)
}
