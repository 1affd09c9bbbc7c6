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
	Version, Settings, Count, Expires int64
	Data                              string
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
	texts := map[string]*string{"PK": &i.PK, "SK": &i.SK, "d": &i.Data}
	numbers := map[string]*int64{"v": &i.Version, "sv": &i.Settings, "n": &i.Count, "ttl": &i.Expires}
	for _, name := range sorted(all) {
		switch v := all[name].(type) {
		case *types.AttributeValueMemberS:
			if into := texts[name]; into != nil {
				*into = v.Value
				continue
			}
		case *types.AttributeValueMemberN:
			if into := numbers[name]; into != nil {
				number, err := strconv.ParseInt(v.Value, 10, 64)
				if err != nil {
					odd = append(odd, fmt.Sprintf("attribute %q is no whole number of 64 bits", name))
				}
				if into == &i.Expires && number == 0 && err == nil {
					odd = append(odd, "the ttl is 0, which is never to a read and long ago to a condition")
				}
				*into = number
				continue
			}
		}
		odd = append(odd, fmt.Sprintf("attribute %q is a %T", name, all[name]))
	}
	return i, odd
}

// expired is whether the service takes the item for absent.
func (i Item) expired(now time.Time) bool { return i.Expires != 0 && i.Expires <= now.Unix() }
