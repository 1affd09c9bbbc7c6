// Package raw reads items of any kind from a table, without the readers of the service. Read
// item.go first, then partition.go and pattern.go for the keys. spill.go keeps items on disk.
package raw

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// Item has the attributes of an item of any kind.
type Item struct {
	table.Key
	Version, Settings, Auth, Count, Expires int64
	Data, Kind                              string
}

// Read reads an item. The error names each attribute that the service cannot have written.
func Read(attributes map[string]types.AttributeValue) (Item, error) {
	i, flaws := Parse(attributes)
	if flaws != nil {
		return i, fmt.Errorf("verify: %s", strings.Join(flaws, ", "))
	}
	return i, nil
}

// Parse reads the attributes that the service may have written, and returns a text for each other
// attribute, sorted by name.
func Parse(attributes map[string]types.AttributeValue) (i Item, flaws []string) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if flaw := i.set(name, attributes[name]); flaw != "" {
			flaws = append(flaws, flaw)
		}
	}
	return i, flaws
}

// set reads one attribute and returns the mistake, if any.
func (i *Item) set(name string, value types.AttributeValue) (flaw string) {
	texts := map[string]*string{"PK": &i.PK, "SK": &i.SK, "d": &i.Data, "k": &i.Kind}
	numbers := map[string]*int64{"v": &i.Version, "sv": &i.Settings, "av": &i.Auth, "n": &i.Count, "ttl": &i.Expires}
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		if text := texts[name]; text != nil {
			*text = v.Value
			return ""
		}
	case *types.AttributeValueMemberB:
		if name == "l" && len(v.Value) == 16 {
			return ""
		}
		if data, err := table.Inflate(v.Value); name == "z" && err == nil {
			i.Data = string(data)
			return ""
		}
	case *types.AttributeValueMemberN:
		if number := numbers[name]; number != nil {
			return i.setNumber(name, v.Value, number)
		}
	}
	return fmt.Sprintf("attribute %q is a %T", name, value)
}

// setNumber reads a number and returns the mistake, if any.
func (i *Item) setNumber(name, text string, number *int64) (flaw string) {
	parsed, err := strconv.ParseInt(text, 10, 64)
	*number = parsed
	switch {
	case err != nil:
		return fmt.Sprintf("attribute %q is no whole number of 64 bits", name)
	case number == &i.Expires && parsed == 0:
		return "the ttl is 0, which is never to a read and long ago to a condition"
	}
	return ""
}

// Expired reports whether the service treats the item as absent.
func (i Item) Expired(now time.Time) bool { return i.Expires != 0 && i.Expires <= now.Unix() }
