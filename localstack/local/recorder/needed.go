package recorder

import (
	"regexp"
	"strings"
)

// partitionKey is the attribute of the table's partition key.
const partitionKey = "PK"

// value is the value of an attribute; only texts are read.
type value struct{ S string }

// item holds attributes by name.
type item map[string]value

// call has the keys and items that a call of any action may name.
type call struct {
	Key, Item    item
	RequestItems map[string]struct{ Keys []item }
	// Of a query.
	KeyConditionExpression    string
	ExpressionAttributeValues item
	// Of a transaction.
	TransactItems []map[string]struct{ Key, Item item }
}

// condition finds the name of the value for the partition key in the condition of a query.
var condition = regexp.MustCompile(`\b` + partitionKey + `\s*=\s*(:\w+)`)

// partActions has the IAM action of each kind of part of a transaction.
var partActions = map[string]string{
	"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem", "Get": "GetItem",
}

// items returns the permissions for a call of DynamoDB.
func items(s sent) ([]Permission, error) {
	var c call
	if err := s.decode(&c); err != nil {
		return nil, err
	}
	var all []Permission
	for _, parts := range c.TransactItems {
		for kind, part := range parts {
			all = append(all, s.permission(partActions[kind], either(part.Key, part.Item).pattern()))
		}
	}
	for _, request := range c.RequestItems {
		for _, key := range request.Keys {
			all = append(all, s.permission(s.action, key.pattern()))
		}
	}
	if len(all) == 0 {
		all = append(all, s.permission(s.action, either(c.queried(), either(c.Key, c.Item)).pattern()))
	}
	return all, nil
}

// pattern returns the pattern for the item's partition key.
func (i item) pattern() string { return pattern(i[partitionKey].S, "#") }

// queried returns the key of the partition that a query reads.
func (c call) queried() item {
	found := condition.FindStringSubmatch(c.KeyConditionExpression)
	if found == nil {
		return nil
	}
	return item{partitionKey: c.ExpressionAttributeValues[found[1]]}
}

// either returns a, or b if a is empty.
func either(a, b item) item {
	if len(a) > 0 {
		return a
	}
	return b
}

// pattern returns the pattern for a key: the text up to the first separator, and a star.
func pattern(key, separator string) string {
	first, _, more := strings.Cut(key, separator)
	if more {
		first += separator
	}
	return first + "*"
}
