package verify

import (
	"fmt"
	"strconv"
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
	var i Item
	texts := map[string]*string{"PK": &i.PK, "SK": &i.SK, "d": &i.Data}
	numbers := map[string]*int64{"v": &i.Version, "sv": &i.Settings, "n": &i.Count, "ttl": &i.Expires}
	for name, value := range all {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			if into := texts[name]; into != nil {
				*into = v.Value
				continue
			}
		case *types.AttributeValueMemberN:
			if into := numbers[name]; into != nil {
				number, err := strconv.ParseInt(v.Value, 10, 64)
				if err != nil {
					return i, fmt.Errorf("verify: attribute %s: %w", name, err)
				}
				*into = number
				continue
			}
		}
		return i, fmt.Errorf("verify: an item has the attribute %s as a %T", name, value)
	}
	return i, nil
}

// expired is whether the service takes the item for absent.
func (i Item) expired(now time.Time) bool { return i.Expires != 0 && i.Expires <= now.Unix() }
