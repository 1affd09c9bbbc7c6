package faulty

import (
	"cmp"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

type attributes = map[string]types.AttributeValue

// The key attributes of the table, and the values of the key condition of every Query that
// package table makes.
const (
	attrPK, attrSK              = "PK", "SK"
	valuePK, valueFrom, valueTo = ":pk", ":from", ":to"
)

// hideOne puts the old item in place of a hidden item. As with every read, the result is
// corrected after the read: an item hidden at this time cannot have been acknowledged
// before.
func (d *Door) hideOne(in *dynamodb.GetItemInput, out *dynamodb.GetItemOutput) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if held := d.held[keyOf(in.Key)]; held != nil && held.hidden {
		out.Item = held.old
		d.counts.TornReads++
	}
}

// hideMany puts old items in place of the hidden items under the keys, except for
// unprocessed keys.
func (d *Door) hideMany(keys, unprocessed []attributes, items []attributes) []attributes {
	d.mu.Lock()
	defer d.mu.Unlock()
	hidden := map[table.Key]*hold{}
	for _, key := range keys {
		if held := d.held[keyOf(key)]; held != nil && held.hidden {
			hidden[keyOf(key)] = held
		}
	}
	for _, key := range unprocessed {
		delete(hidden, keyOf(key))
	}
	return d.restore(items, hidden, "")
}

// hidePage puts old items in place of the hidden items of a page: the items with sort keys
// that the page covers, in order of the sort key.
func (d *Door) hidePage(in *dynamodb.QueryInput, out *dynamodb.QueryOutput) {
	value := func(name string) string { return textOf(in.ExpressionAttributeValues, name) }
	forward := in.ScanIndexForward == nil || *in.ScanIndexForward
	began, ended := textOf(in.ExclusiveStartKey, attrSK), textOf(out.LastEvaluatedKey, attrSK)
	if !forward {
		began, ended = ended, began
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	hidden := map[table.Key]*hold{}
	for key, held := range d.held {
		covered := between(key.SK, began, ended, forward)
		if held.hidden && covered && key.PK == value(valuePK) && key.SK >= value(valueFrom) && key.SK <= value(valueTo) {
			hidden[key] = held
		}
	}
	out.Items = d.restore(out.Items, hidden, value(valuePK))
	slices.SortFunc(out.Items, func(a, b attributes) int { return cmp.Compare(textOf(a, attrSK), textOf(b, attrSK)) })
	if !forward {
		slices.Reverse(out.Items)
	}
	out.Count = int32(len(out.Items)) //nolint:gosec // a page has at most 1 MB
}

// between reports whether a page from low to high covers a sort key. Empty bounds are none. The page
// has the bound at which it ended and not the bound at which it began: low for a page that runs
// forward.
func between(sk, low, high string, forward bool) bool {
	if forward {
		return sk > low && (high == "" || sk <= high)
	}
	return sk >= low && (high == "" || sk < high)
}

// restore replaces the hidden items with the old items. Items of a query have no partition
// key and belong to pk. The caller holds the door's lock.
func (d *Door) restore(items []attributes, hidden map[table.Key]*hold, pk string) []attributes {
	if len(hidden) == 0 {
		return items
	}
	d.counts.TornReads++
	items = slices.DeleteFunc(items, func(item attributes) bool {
		return hidden[table.Key{PK: cmp.Or(textOf(item, attrPK), pk), SK: textOf(item, attrSK)}] != nil
	})
	for _, held := range hidden {
		if held.old != nil {
			items = append(items, held.old)
		}
	}
	return items
}

// keysOf returns the keys of the writes and conditions of a transaction.
func keysOf(actions []types.TransactWriteItem) []table.Key {
	keys := make([]table.Key, len(actions))
	for i, a := range actions {
		switch {
		case a.Put != nil:
			keys[i] = keyOf(a.Put.Item)
		case a.Update != nil:
			keys[i] = keyOf(a.Update.Key)
		case a.Delete != nil:
			keys[i] = keyOf(a.Delete.Key)
		case a.ConditionCheck != nil:
			keys[i] = keyOf(a.ConditionCheck.Key)
		}
	}
	return keys
}

// tableOf returns the name of the table that a transaction writes to.
func tableOf(actions []types.TransactWriteItem) string {
	switch a := actions[0]; {
	case a.Put != nil:
		return aws.ToString(a.Put.TableName)
	case a.Update != nil:
		return aws.ToString(a.Update.TableName)
	case a.Delete != nil:
		return aws.ToString(a.Delete.TableName)
	case a.ConditionCheck != nil:
		return aws.ToString(a.ConditionCheck.TableName)
	}
	return ""
}

func keyOf(all attributes) table.Key {
	return table.Key{PK: textOf(all, attrPK), SK: textOf(all, attrSK)}
}

func attributesOf(k table.Key) attributes {
	return attributes{
		attrPK: &types.AttributeValueMemberS{Value: k.PK},
		attrSK: &types.AttributeValueMemberS{Value: k.SK},
	}
}

// textOf returns the text under name; empty if there is no text.
func textOf(all attributes, name string) string {
	if s, ok := all[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}
