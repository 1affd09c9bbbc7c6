package table

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
)

// The attributes of an item. Their names are short, since every item pays for them.
const (
	attrPK       = "PK"
	attrSK       = "SK"
	attrVersion  = "v"
	attrData     = "d"
	attrSettings = "sv"
	attrAuth     = "av"
	attrExpires  = "ttl"
	attrCount    = "n"
	// attrDeflated replaces attrData if that saves a write unit.
	attrDeflated = "z"
	attrKind     = "k"
	attrLast     = "l"
)

// KindChange is the Kind of change records.
const KindChange = "c"

type attributes = map[string]types.AttributeValue

// Key is the primary key of an item. No error of this package shows a key: errors are logged,
// and a key may contain a person's address.
type Key struct{ PK, SK string }

// Item is a stored item.
type Item struct {
	Key
	// Version is the number that conditions compare. A shard's version is the sum of its
	// rows' versions times their Weight.
	Version int64
	// Data is the stored form of a record, as JSON.
	Data []byte
	// Settings is the settings version of an event or an organization. Insert writes the
	// version and BumpSettings adds to it. Replace and Put do not change it.
	Settings int64
	// Auth is the auth version on an organization's item. Only BumpAuth and RaisingAuth
	// change it.
	Auth int64
	// Last is the last id of a shard, if its version was raised for one record with a UUID.
	// BumpFor writes it.
	Last string
	// Expires is the Unix second from which every read and condition takes the item for
	// absent; 0 means never. DynamoDB deletes the item later.
	Expires int64
	// Count is the value of a counter, which Add, AddWithin and CorrectCount change. On a
	// shard's version it is the number of rows, which Write.Adding changes. A shard with rows
	// from before they were counted has the number of rows added since.
	Count int64
	// Kind is KindChange for a change record, for the filter of the table's stream, and
	// empty for every other item. Only Insert writes it.
	Kind string
}

// Weight returns the number that one version of a record adds to the sum of its shard or of
// its owner's settings. It is from 1 to 2^24 and never changes. Records have different weights,
// so that a record seen too early does not hide another seen too late. A weight is short: the
// versions of 64 shards together cost one read unit.
func Weight(id string) int64 {
	h := sha256.Sum256([]byte(id))
	return 1 + int64(h[0])<<16 + int64(h[1])<<8 + int64(h[2])
}

func (k Key) attributes() attributes {
	return attributes{attrPK: text(k.PK), attrSK: text(k.SK)}
}

// attributes returns the attributes that Insert stores.
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

// besides is about the bytes of an item without its key and data: names and numbers.
const besides = 24

// data returns the attribute that stores the data, and its value.
func (i Item) data() (name string, value types.AttributeValue) {
	if short, saves := deflated(i.Data, len(i.PK)+len(i.SK)+besides); saves {
		return attrDeflated, &types.AttributeValueMemberB{Value: short}
	}
	return attrData, text(string(i.Data))
}

// Stream returns the item as the stream of the table shows a new item.
func (i Item) Stream() map[string]events.DynamoDBAttributeValue {
	image := map[string]events.DynamoDBAttributeValue{}
	for name, value := range i.attributes() {
		switch v := value.(type) {
		case *types.AttributeValueMemberS:
			image[name] = events.NewStringAttribute(v.Value)
		case *types.AttributeValueMemberN:
			image[name] = events.NewNumberAttribute(v.Value)
		case *types.AttributeValueMemberB:
			image[name] = events.NewBinaryAttribute(v.Value)
		}
	}
	return image
}

// FromStream returns the item of an image in the stream of the table.
func FromStream(image map[string]events.DynamoDBAttributeValue) (Item, error) {
	all := attributes{}
	for name, value := range image {
		switch value.DataType() {
		case events.DataTypeString:
			all[name] = text(value.String())
		case events.DataTypeNumber:
			all[name] = &types.AttributeValueMemberN{Value: value.Number()}
		case events.DataTypeBinary:
			all[name] = &types.AttributeValueMemberB{Value: value.Binary()}
		default: // The service writes no other type.
		}
	}
	return decode(all)
}

// KeyOfStream returns the key of an image in the stream of the table, whatever else the image has.
func KeyOfStream(image map[string]events.DynamoDBAttributeValue) Key {
	return Key{PK: image[attrPK].String(), SK: image[attrSK].String()}
}

// expired reports whether the item counts as absent.
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

// idBytes returns the bytes of an id that is a UUID; nil for any other id.
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
