package table

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// The attributes of an item, short since every item pays for their names.
const (
	attrPK       = "PK"
	attrSK       = "SK"
	attrVersion  = "v"
	attrData     = "d"
	attrSettings = "sv"
	attrExpires  = "ttl"
	attrCount    = "n"
	// attrDeflated stands for attrData where the next release stores the data deflated.
	attrDeflated = "z"
)

type attributes = map[string]types.AttributeValue

// Key is the primary key of an item. It stands in no error of this package:
// errors are logged, and a key may hold a person's address.
type Key struct{ PK, SK string }

// Item is one stored thing.
type Item struct {
	Key
	// Version is the number that conditions compare: of a record or of a row; or
	// of a shard, where it is the sum of its rows' versions times their Weight.
	Version int64
	// Data is the stored form of a record, as JSON.
	Data []byte
	// Settings is the settings version of an event or an organization. Insert
	// writes it, BumpSettings adds to it; Replace and Put leave it as it is.
	Settings int64
	// Expires is when the item ceases to exist, in Unix seconds; 0 is never.
	// From that second on every read and every condition takes it for absent,
	// whenever DynamoDB really deletes it.
	Expires int64
}

// Weight is what one version of the record id adds to the version that proves
// what is kept in memory of many records: a shard's, or an owner's settings
// version. It is from 1 to 2^24, the same for ever, and unlike that of other
// records, so that one of them seen too early does not make up for one seen too
// late. It is short: a version item for each of 64 shards costs one read unit.
func Weight(id string) int64 {
	h := sha256.Sum256([]byte(id))
	return 1 + int64(h[0])<<16 + int64(h[1])<<8 + int64(h[2])
}

func (k Key) attributes() attributes {
	return attributes{attrPK: text(k.PK), attrSK: text(k.SK)}
}

// attributes is the item whole, as Insert stores it.
func (i Item) attributes() attributes {
	all := i.Key.attributes()
	all[attrVersion] = number(i.Version)
	all[attrData] = text(string(i.Data))
	if i.Settings != 0 {
		all[attrSettings] = number(i.Settings)
	}
	if i.Expires != 0 {
		all[attrExpires] = number(i.Expires)
	}
	return all
}

// expired is whether the item has ceased to exist by now.
func (i Item) expired(now time.Time) bool { return i.Expires != 0 && i.Expires <= now.Unix() }

func decode(all attributes) (Item, error) {
	var i Item
	for name, value := range all {
		var err error
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			i.setText(name, v.Value)
		case *types.AttributeValueMemberN:
			err = i.setNumber(name, v.Value)
		case *types.AttributeValueMemberB:
			err = i.setBytes(name, v.Value)
		}
		if err != nil {
			return Item{}, fmt.Errorf("table: decode attribute %s: %w", name, err)
		}
	}
	return i, nil
}

func (i *Item) setText(name, value string) {
	switch name {
	case attrPK:
		i.PK = value
	case attrSK:
		i.SK = value
	case attrData:
		i.Data = []byte(value)
	}
}

func (i *Item) setNumber(name, value string) (err error) {
	switch name {
	case attrVersion:
		i.Version, err = strconv.ParseInt(value, 10, 64)
	case attrSettings:
		i.Settings, err = strconv.ParseInt(value, 10, 64)
	case attrExpires:
		i.Expires, err = strconv.ParseInt(value, 10, 64)
	}
	return err
}

func (i *Item) setBytes(name string, value []byte) (err error) {
	if name == attrDeflated {
		i.Data, err = Inflate(value)
	}
	return err
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
