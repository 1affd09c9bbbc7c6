package table

import (
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write is one write, or one condition, of a transaction.
type Write struct {
	kind *kind
	item Item
	// n is the number that the condition compares, or that a bump adds.
	n int64
	// rows is the number that a bump adds to the rows of a shard, or that CorrectShard sets.
	rows int64
	err  error
	// auth makes a Replace raise the auth version of its item.
	auth bool
	// count is the number of a Recount; nil for another write.
	count *recount
}

// kind is a kind of writes: expressions as DynamoDB takes them, empty for none.
type kind struct{ update, condition string }

var (
	insert       = &kind{condition: ifAbsent}
	replace      = &kind{update: store, condition: ifVersion}
	put          = &kind{update: store}
	bump         = &kind{update: "REMOVE " + attrLast + " ADD " + attrVersion + " :number"}
	bumpFor      = &kind{update: "SET " + attrLast + " = :last ADD " + attrVersion + " :number"}
	bumpSettings = &kind{update: "ADD " + attrSettings + " :number", condition: ifThere}
	bumpAuth     = &kind{update: "ADD " + attrAuth + " :number", condition: ifThere}
	exists       = &kind{condition: ifThere}
	absent       = &kind{condition: ifAbsent}
	version      = &kind{condition: ifVersion}
	remove       = &kind{condition: ifVersion}
	drop         = &kind{}
)

// The expressions. An expired item counts as absent (Item.Expires).
const (
	store     = "SET " + attrVersion + " = :version, "
	live      = "(attribute_not_exists(#ttl) OR #ttl > :now)"
	ifAbsent  = "attribute_not_exists(" + attrPK + ") OR #ttl <= :now"
	ifThere   = "attribute_exists(" + attrPK + ") AND " + live
	ifVersion = attrVersion + " = :number AND " + live
	// addRows follows the update of a bump, whose last clause is ADD.
	addRows = ", " + attrCount + " :rows"
)

// Insert stores an item under a key without an item.
func Insert(item Item) Write { return Write{kind: insert, item: item} }

// Replace stores version, data and expiry of an item whose version still is was. It does not
// write the settings and auth versions, so that no concurrent BumpSettings or BumpAuth is
// lost.
func Replace(item Item, was int64) Write { return Write{kind: replace, item: item, n: was} }

// Recount stores the number from+by as text, and raises the version of an item that still is was. An item
// that was missing has version 0.
func Recount(was Item, from, by int) Write {
	next := Item{Key: was.Key, Version: was.Version + 1}
	if was.Version == 0 {
		return Insert(next).counting(recount{from, by})
	}
	return Replace(next, was.Version).counting(recount{from, by})
}

// recount is the number of an item that was read, and what a Recount adds to it.
type recount struct{ from, by int }

func (w Write) counting(c recount) Write {
	w.count, w.item.Data = &c, strconv.AppendInt(nil, int64(c.from+c.by), 10)
	return w
}

// Put stores version, data and expiry of an item without a condition.
func Put(item Item) Write { return Write{kind: put, item: item} }

// Bump adds by to the version of an item, which begins at 0.
func Bump(key Key, by int64) Write { return Write{kind: bump, item: Item{Key: key}, n: by} }

// BumpFor is Bump for one record, whose id the item keeps as its Last.
func BumpFor(key Key, by int64, id string) Write {
	if idBytes(id) == nil {
		return Bump(key, by)
	}
	return Write{kind: bumpFor, item: Item{Key: key, Last: id}, n: by}
}

// Adding makes a Bump or BumpFor add to the shard's Count too, for the same write units. rows
// is negative for removed rows.
func (w Write) Adding(rows int64) Write {
	w.rows = rows
	return w
}

// BumpSettings adds by to the settings version of an event or organization that exists.
func BumpSettings(key Key, by int64) Write {
	return Write{kind: bumpSettings, item: Item{Key: key}, n: by}
}

// BumpAuth adds 1 to the auth version of an organization that exists.
func BumpAuth(key Key) Write { return Write{kind: bumpAuth, item: Item{Key: key}, n: 1} }

// RaisingAuth makes a Replace of an organization add 1 to its auth version too, since a
// transaction cannot write an item twice.
func (w Write) RaisingAuth() Write {
	w.auth = true
	return w
}

// Exists writes nothing. Its condition is an item under the key.
func Exists(key Key) Write { return Write{kind: exists, item: Item{Key: key}} }

// Absent writes nothing. Its condition is no item under the key.
func Absent(key Key) Write { return Write{kind: absent, item: Item{Key: key}} }

// Version writes nothing. Its condition is an item with the version.
func Version(key Key, is int64) Write { return Write{kind: version, item: Item{Key: key}, n: is} }

// Remove deletes an item whose version still is was.
func Remove(key Key, was int64) Write { return Write{kind: remove, item: Item{Key: key}, n: was} }

// Delete deletes an item, if there is an item under the key.
func Delete(key Key) Write { return Write{kind: drop, item: Item{Key: key}} }

// Corrections set a number that still is was; a missing number is 0. The service only adds to
// these numbers; only package repair sets them.

// CorrectShard sets the version and the number of rows of a shard. Every write of the rows
// changes the version, so no write is lost.
func CorrectShard(key Key, was, is, rows int64) Write {
	w := correct(attrVersion, "", key, was, is)
	w.kind.update, w.rows = "SET "+attrVersion+" = :version, "+attrCount+" = :rows REMOVE "+attrLast, rows
	return w
}

// CorrectSettings sets the settings version of an event or organization that exists.
func CorrectSettings(key Key, was, is int64) Write {
	return correct(attrSettings, " AND attribute_exists("+attrPK+")", key, was, is)
}

// CorrectCount sets a counter.
func CorrectCount(key Key, was, is int64) Write { return correct(attrCount, "", key, was, is) }

// correct sets the number attr. It removes a shard's last id, which is of another write.
func correct(attr, condition string, key Key, was, is int64) Write {
	unchanged := attr + " = :number"
	if was == 0 {
		unchanged = "(attribute_not_exists(" + attr + ") OR " + unchanged + ")"
	}
	set := &kind{update: "SET " + attr + " = :version REMOVE " + attrLast, condition: unchanged + condition + " AND " + live}
	return Write{kind: set, item: Item{Key: key, Version: is}, n: was}
}

// Or sets the error that Transact returns when the condition of the write fails.
func (w Write) Or(err error) Write {
	w.err = err
	return w
}

// Key returns the key of the item. DynamoDB refuses two writes of one key in a transaction.
func (w Write) Key() Key { return w.item.Key }

// Kind returns the Kind of the item.
func (w Write) Kind() string { return w.item.Kind }

// Merge joins two bumps of a version, two Recounts of an item as it was, or two equal conditions, with the Or of
// the first. ok is false for any other two writes. A merged bump for two records keeps no Last.
func (w Write) Merge(other Write) (merged Write, ok bool) {
	switch {
	case w.item.Key != other.item.Key:
		return Write{}, false
	case w.Bumps() && other.Bumps():
		return w.mergeBump(other)
	case w.n != other.n || w.kind != other.kind:
		return Write{}, false
	case w.count != nil && other.count != nil:
		return w.counting(recount{w.count.from, w.count.by + other.count.by}), true
	}
	return w, w.checks()
}

func (w Write) mergeBump(other Write) (merged Write, ok bool) {
	if (w.kind == bumpSettings) != (other.kind == bumpSettings) {
		return Write{}, false
	}
	if w.item.Last != other.item.Last {
		w.kind, w.item.Last = bump, ""
	}
	w.n += other.n
	w.rows += other.rows
	return w, true
}

// Bumps reports whether the write adds to a version, without a condition on the version.
func (w Write) Bumps() bool { return w.kind == bump || w.kind == bumpFor || w.kind == bumpSettings }

// checks reports whether the write is a condition alone.
func (w Write) checks() bool { return w.kind == exists || w.kind == absent || w.kind == version }

// Recounts reports whether the write is a Recount.
func (w Write) Recounts() bool { return w.count != nil }

// After returns the write as it is after an earlier one: a Recount changes what an earlier Recount of the
// item stores. Any other write stays.
func (w Write) After(earlier Write) Write {
	if w.count == nil || earlier.count == nil || w.item.Key != earlier.item.Key {
		return w
	}
	was := Item{Key: w.item.Key, Version: earlier.item.Version}
	return Recount(was, earlier.count.from+earlier.count.by, w.count.by)
}

// overhead is about the size of a write without its key and data, in bytes.
const overhead = 64

// Size returns about the bytes that the write adds to MaxBytes.
func (w Write) Size() int { return len(w.item.PK) + len(w.item.SK) + len(w.item.Data) + overhead }

// action returns the write as DynamoDB takes it.
func (w Write) action(name string, now time.Time) types.TransactWriteItem {
	u := w.parts(name, now)
	switch w.kind {
	case insert:
		return types.TransactWriteItem{Put: &types.Put{
			TableName: u.TableName, Item: w.item.attributes(), ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
			ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
		}}
	case exists, version, absent:
		return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
			TableName: u.TableName, Key: u.Key, ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
		}}
	case remove, drop:
		return types.TransactWriteItem{Delete: &types.Delete{
			TableName: u.TableName, Key: u.Key, ConditionExpression: u.ConditionExpression,
			ExpressionAttributeNames: u.ExpressionAttributeNames, ExpressionAttributeValues: u.ExpressionAttributeValues,
		}}
	default:
		return types.TransactWriteItem{Update: u}
	}
}

// parts returns the parts of an action, with the names and values that the expressions use.
// DynamoDB refuses other names and values.
func (w Write) parts(name string, now time.Time) *types.Update {
	values := attributes{":now": number(now.Unix()), ":number": number(w.n), ":version": number(w.item.Version), ":rows": number(w.rows)}
	update, condition := w.kind.update, w.kind.condition
	switch {
	case update == store:
		update = w.stored(values)
	case w.rows != 0 && w.Bumps():
		update += addRows
	}
	if w.kind == bumpFor {
		values[":last"] = &types.AttributeValueMemberB{Value: idBytes(w.item.Last)}
	}
	used := update + condition
	maps.DeleteFunc(values, func(name string, _ types.AttributeValue) bool { return !strings.Contains(used, name) })
	u := &types.Update{TableName: &name, Key: w.item.Key.attributes(), UpdateExpression: &update}
	if condition != "" {
		u.ConditionExpression = &condition
	}
	if strings.Contains(used, "#ttl") {
		u.ExpressionAttributeNames = map[string]string{"#ttl": attrExpires}
	}
	if len(values) > 0 {
		u.ExpressionAttributeValues = values
	}
	return u
}

// stored returns the update of Replace and Put, and adds its values. It does not write the
// settings version.
func (w Write) stored(values attributes) (update string) {
	name, data := w.item.data()
	set, remove := store+name+" = :data", " REMOVE "+attrDeflated
	if name == attrDeflated {
		remove = " REMOVE " + attrData
	}
	values[":data"] = data
	if w.item.Expires == 0 {
		remove += ", #ttl"
	} else {
		set += ", #ttl = :ttl"
		values[":ttl"] = number(w.item.Expires)
	}
	if w.auth {
		remove += " ADD " + attrAuth + " :one"
		values[":one"] = number(1)
	}
	return set + remove
}
