package table

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Write is one write, or one condition, of a transaction.
type Write struct {
	kind *kind
	item Item
	// n is the version that Replace, Version and Remove ask for, and what the
	// bumps add.
	n int64
	// rows is what a bump adds to the rows of a shard, or CorrectShard sets.
	rows int64
	err  error
	// auth has a Replace raise the auth version of its item.
	auth bool
}

// kind is what all writes of a kind have in common: expressions as DynamoDB
// takes them, empty for none, and whether they speak of Write.n, of Write.rows and, as
// :is, of the item's version.
type kind struct {
	update, condition string
	n, counts, is     bool
}

var (
	insert       = &kind{condition: ifAbsent}
	replace      = &kind{update: store, condition: ifVersion, n: true}
	put          = &kind{update: store}
	bump         = &kind{update: "REMOVE " + attrLast + " ADD " + attrVersion + " :n", n: true}
	bumpFor      = &kind{update: "SET " + attrLast + " = :last ADD " + attrVersion + " :n", n: true}
	bumpSettings = &kind{update: "ADD " + attrSettings + " :n", condition: ifThere, n: true}
	bumpAuth     = &kind{update: "ADD " + attrAuth + " :n", condition: ifThere, n: true}
	exists       = &kind{condition: ifThere}
	version      = &kind{condition: ifVersion, n: true}
	remove       = &kind{condition: ifVersion, n: true}
	drop         = &kind{}
)

// The expressions. An item that has expired counts as absent (Item.Expires).
const (
	store     = "SET " + attrVersion + " = :version, "
	live      = "(attribute_not_exists(#ttl) OR #ttl > :now)"
	ifAbsent  = "attribute_not_exists(" + attrPK + ") OR #ttl <= :now"
	ifThere   = "attribute_exists(" + attrPK + ") AND " + live
	ifVersion = attrVersion + " = :n AND " + live
	// addRows goes behind the update of a bump, whose last clause is ADD.
	addRows = ", " + attrCount + " :rows"
)

// Insert stores an item where none stands.
func Insert(item Item) Write { return Write{kind: insert, item: item} }

// Replace stores version, data and expiry of an item whose version still is
// was. The settings and auth versions are left alone, so that no concurrent
// BumpSettings or BumpAuth is lost.
func Replace(item Item, was int64) Write { return Write{kind: replace, item: item, n: was} }

// Put stores version, data and expiry of an item, whatever stood there.
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

// Adding makes a Bump or BumpFor add to the shard's Count too. It takes no more write
// units. rows is negative where rows are removed.
func (w Write) Adding(rows int64) Write {
	w.rows = rows
	return w
}

// BumpSettings adds by to the settings version of an event or organization that
// exists.
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

// Exists writes nothing; its condition is that an item stands under the key.
func Exists(key Key) Write { return Write{kind: exists, item: Item{Key: key}} }

// Version writes nothing; its condition is that the item's version is is.
func Version(key Key, is int64) Write { return Write{kind: version, item: Item{Key: key}, n: is} }

// Remove deletes an item whose version still is was.
func Remove(key Key, was int64) Write { return Write{kind: remove, item: Item{Key: key}, n: was} }

// Delete deletes an item, if one stands under the key.
func Delete(key Key) Write { return Write{kind: drop, item: Item{Key: key}} }

// Or gives the write the error that Transact returns when its condition fails.
func (w Write) Or(err error) Write {
	w.err = err
	return w
}

// Key is the key of the item that is written. A transaction may hold one write
// of a key; more are refused by DynamoDB.
func (w Write) Key() Key { return w.item.Key }

// Kind returns the Kind of the item that is written.
func (w Write) Kind() string { return w.item.Kind }

// Merge joins two bumps of the same version into one that adds both; ok is
// false for any other two writes. Bumps for two records are merged to one for none.
func (w Write) Merge(other Write) (merged Write, ok bool) {
	if !w.bumps() || !other.bumps() || (w.kind == bumpSettings) != (other.kind == bumpSettings) || w.item.Key != other.item.Key {
		return Write{}, false
	}
	if w.item.Last != other.item.Last {
		w.kind, w.item.Last = bump, ""
	}
	w.n += other.n
	w.rows += other.rows
	return w, true
}

// bumps reports whether the write adds to a version.
func (w Write) bumps() bool { return w.kind == bump || w.kind == bumpFor || w.kind == bumpSettings }

// overhead is about what a write has beside the bytes of its key and data.
const overhead = 64

// Size is about how many bytes the write counts towards MaxBytes.
func (w Write) Size() int { return len(w.item.PK) + len(w.item.SK) + len(w.item.Data) + overhead }

// action is the write as DynamoDB takes it.
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

// parts are the parts that actions of every kind are made of. DynamoDB refuses
// names and values that no expression uses.
func (w Write) parts(name string, now time.Time) *types.Update {
	u := &types.Update{
		TableName: &name, Key: w.item.Key.attributes(), UpdateExpression: aws.String(w.kind.update),
		ExpressionAttributeNames: map[string]string{"#ttl": attrExpires}, ExpressionAttributeValues: attributes{},
	}
	if w.kind.condition != "" {
		u.ConditionExpression = &w.kind.condition
		u.ExpressionAttributeValues[":now"] = number(now.Unix())
	}
	if w.kind.n {
		u.ExpressionAttributeValues[":n"] = number(w.n)
	}
	if w.kind.is {
		u.ExpressionAttributeValues[":is"] = number(w.item.Version)
	}
	if w.kind.counts || w.rows != 0 {
		u.ExpressionAttributeValues[":rows"] = number(w.rows)
	}
	if w.rows != 0 && w.bumps() {
		u.UpdateExpression = aws.String(w.kind.update + addRows)
	}
	switch {
	case w.kind == bump:
		u.ExpressionAttributeNames = nil
	case w.kind == drop:
		u.ExpressionAttributeNames, u.ExpressionAttributeValues = nil, nil
	case w.kind == bumpFor:
		u.ExpressionAttributeNames = nil
		u.ExpressionAttributeValues[":last"] = &types.AttributeValueMemberB{Value: idBytes(w.item.Last)}
	case w.kind.update == store:
		w.store(u)
	}
	return u
}

// store adds what Replace and Put write. The settings version is not among it.
func (w Write) store(u *types.Update) {
	name, data := w.item.data()
	other := attrDeflated
	if name == other {
		other = attrData
	}
	u.ExpressionAttributeValues[":version"] = number(w.item.Version)
	u.ExpressionAttributeValues[":data"] = data
	set, remove := store+name+" = :data", " REMOVE "+other
	if w.item.Expires == 0 {
		remove += ", #ttl"
	} else {
		set += ", #ttl = :ttl"
		u.ExpressionAttributeValues[":ttl"] = number(w.item.Expires)
	}
	if w.auth {
		remove += " ADD " + attrAuth + " :one"
		u.ExpressionAttributeValues[":one"] = number(1)
	}
	u.UpdateExpression = aws.String(set + remove)
}
