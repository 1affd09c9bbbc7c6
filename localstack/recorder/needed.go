package recorder

import (
	"encoding/json"
	"regexp"
	"strings"
)

// partitionKey is the attribute of the table's partition key.
const partitionKey = "PK"

// value is an attribute's value, of which only texts are looked at.
type value struct{ S string }

type item map[string]value

// call is what a call of any action may name.
type call struct {
	Key, Item    item
	RequestItems map[string]struct{ Keys []item }
	// Of a query:
	KeyConditionExpression    string
	ExpressionAttributeValues item
	// Of a transaction:
	TransactItems []map[string]struct{ Key, Item item }
}

// condition finds the name of the value that a query wants the partition key to be.
var condition = regexp.MustCompile(`\b` + partitionKey + `\s*=\s*(:\w+)`)

// parts are the IAM actions of the parts of a transaction.
var parts = map[string]string{
	"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem", "Get": "GetItem",
}

// needed are the permissions that a function's call needs. target is the call's
// X-Amz-Target.
func needed(group, target string, body []byte) ([]Permission, error) {
	_, action, _ := strings.Cut(target, ".")
	var c call
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, err
	}
	var all []Permission
	add := func(action string, key item) {
		all = append(all, Permission{group, "dynamodb:" + action, pattern(key[partitionKey].S)})
	}
	for _, part := range c.TransactItems {
		for kind, of := range part {
			add(parts[kind], either(of.Key, of.Item))
		}
	}
	for _, request := range c.RequestItems {
		for _, key := range request.Keys {
			add(action, key)
		}
	}
	if len(all) == 0 {
		add(action, either(c.queried(), either(c.Key, c.Item)))
	}
	return all, nil
}

// queried is the partition that a query reads.
func (c call) queried() item {
	found := condition.FindStringSubmatch(c.KeyConditionExpression)
	if found == nil {
		return nil
	}
	return item{partitionKey: c.ExpressionAttributeValues[found[1]]}
}

func either(a, b item) item {
	if len(a) > 0 {
		return a
	}
	return b
}

// pattern is the pattern of a partition key.
func pattern(key string) string {
	first, _, more := strings.Cut(key, "#")
	if more {
		first += "#"
	}
	return first + "*"
}
