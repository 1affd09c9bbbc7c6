package table

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// The attributes of an item, short since every item pays for their names.
const (
	attrPK       = "PK"
	attrSK       = "SK"
	attrVersion  = "v"
	attrData     = "d"
	attrSettings = "sv"
	attrAuth     = "av"
	attrExpires  = "ttl"
	attrCount    = "n"
	// attrDeflated stands for attrData where that saves a write unit.
	attrDeflated = "z"
	attrKind     = "k"
	attrLast     = "l"
)

// KindChange is the Kind of change records.
const KindChange = "c"

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
	// Auth counts the changes of what authentication reads below an organization, on
	// the organization's item. Only BumpAuth and RaisingAuth change it.
	Auth int64
	// Last is the id of the record that a shard's version was raised for last, where
	// that was one record with a UUID; BumpFor writes it.
	Last string
	// Expires is when the item ceases to exist, in Unix seconds; 0 is never.
	// From that second on every read and every condition takes it for absent,
	// whenever DynamoDB really deletes it.
	Expires int64
	// Count is the value of a counter. Only Add and AddWithin change it, and CorrectCount.
	// On a shard's version it is how many rows the shard has, which Write.Adding adds to.
	// Where a shard had rows before they were counted, it is how many were added since.
	Count int64
	// Kind is KindChange for a change record, so that a filter of the table's stream
	// finds those, and empty for every other item. Only Insert writes it.
	Kind string
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
	name, data := i.data()
	all[name] = data
	if i.Settings != 0 {
		all[attrSettings] = number(i.Settings)
	}
	if i.Expires != 0 {
		all[attrExpires] = number(i.Expires)
	}
	if i.Kind != "" {
		all[attrKind] = text(i.Kind)
	}
	return all
}

// besides is about how many bytes an item has beside its key and data: names and numbers.
const besides = 24

// data returns the attribute that stores the data, and its value.
func (i Item) data() (name string, value types.AttributeValue) {
	if short, saves := deflated(i.Data, len(i.PK)+len(i.SK)+besides); saves {
		return attrDeflated, &types.AttributeValueMemberB{Value: short}
	}
	return attrData, text(string(i.Data))
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
	case attrKind:
		i.Kind = value
	}
}

func (i *Item) setNumber(name, value string) (err error) {
	switch name {
	case attrVersion:
		i.Version, err = strconv.ParseInt(value, 10, 64)
	case attrSettings:
		i.Settings, err = strconv.ParseInt(value, 10, 64)
	case attrAuth:
		i.Auth, err = strconv.ParseInt(value, 10, 64)
	case attrCount:
		i.Count, err = strconv.ParseInt(value, 10, 64)
	case attrExpires:
		i.Expires, err = strconv.ParseInt(value, 10, 64)
	}
	return err
}

func (i *Item) setBytes(name string, value []byte) (err error) {
	switch name {
	case attrDeflated:
		i.Data, err = Inflate(value)
	case attrLast:
		var id uuid.UUID
		id, err = uuid.FromBytes(value)
		i.Last = id.String()
	}
	return err
}

// idBytes returns the bytes of a UUID as it is written in ids; nil for any other id.
func idBytes(id string) []byte {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.String() != id {
		return nil
	}
	return parsed[:]
}

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

func number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}
