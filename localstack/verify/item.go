package verify

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lectern/shared/table"
)

// Item is one item as it stands, whatever the service takes it for.
type Item struct {
	table.Key
	Version, Settings, Auth, Count, Expires int64
	Data, Kind                              string
}

// Read reads an item from its attributes.
func Read(all map[string]types.AttributeValue) (Item, error) {
	i, odd := parse(all)
	if odd != nil {
		return i, fmt.Errorf("verify: %s", strings.Join(odd, ", "))
	}
	return i, nil
}

// parse reads the attributes that it can; odd tells of the others, in their order.
func parse(all map[string]types.AttributeValue) (i Item, odd []string) {
	for _, name := range sorted(all) {
		if wrong := i.set(name, all[name]); wrong != "" {
			odd = append(odd, wrong)
		}
	}
	return i, odd
}

// set reads one attribute and returns the mistake in it, if any.
func (i *Item) set(name string, value types.AttributeValue) (wrong string) {
	texts := map[string]*string{"PK": &i.PK, "SK": &i.SK, "d": &i.Data, "k": &i.Kind}
	numbers := map[string]*int64{"v": &i.Version, "sv": &i.Settings, "av": &i.Auth, "n": &i.Count, "ttl": &i.Expires}
	switch v := value.(type) {
	case *types.AttributeValueMemberS:
		if into := texts[name]; into != nil {
			*into = v.Value
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
		if into := numbers[name]; into != nil {
			return i.count(name, v.Value, into)
		}
	}
	return fmt.Sprintf("attribute %q is a %T", name, value)
}

// count reads a number and returns the mistake in it, if any.
func (i *Item) count(name, text string, into *int64) (wrong string) {
	number, err := strconv.ParseInt(text, 10, 64)
	*into = number
	switch {
	case err != nil:
		return fmt.Sprintf("attribute %q is no whole number of 64 bits", name)
	case into == &i.Expires && number == 0:
		return "the ttl is 0, which is never to a read and long ago to a condition"
	}
	return ""
}

// expired is whether the service takes the item for absent.
func (i Item) expired(now time.Time) bool { return i.Expires != 0 && i.Expires <= now.Unix() }
