package raw

import (
	"encoding/json"
	"fmt"

	"lectern/shared/change"
	"lectern/shared/delivery"
	"lectern/shared/keys"
	"lectern/shared/layout"
)

// Unknown names the pattern of a key under which the service never writes an item.
const Unknown = "unknown"

// Pattern returns the pattern of the item's key, named Unknown if the service writes no item
// under such a key. An id with more digits than 64 bits hold is unknown too.
func (i Item) Pattern() keys.Pattern {
	at := ParsePartition(i.PK)
	// The letters of an id that does not fit are those before the id.
	fits := at.Key() == i.PK && at.Letters != "O" && at.Letters != "E"
	if p, ok := layout.Find(i.Key); ok && fits {
		return p
	}
	return keys.Pattern{Name: Unknown}
}

// Flaw returns the mistake in the item's key, mark or time to live; empty if there is no mistake.
func (i Item) Flaw() string {
	pattern, partition := i.Pattern(), ParsePartition(i.PK)
	shown := partition.Redacted(pattern.Name)
	switch {
	case pattern.Name == Unknown:
		return fmt.Sprintf("an item of no known kind stands in a partition %q", partition.Letters)
	case i.Kind != "" && pattern.Name != change.Feed.Name:
		return fmt.Sprintf("the %s in %s is marked as a change record", pattern.Name, shown)
	case pattern.Expires && i.Expires == 0:
		return fmt.Sprintf("the %s in %s has no ttl", pattern.Name, shown)
	case !pattern.Expires && i.Expires != 0:
		return fmt.Sprintf("the %s in %s has a ttl", pattern.Name, shown)
	}
	return ""
}

// Organization returns the id of the organization of an item: from the partition, or from the content
// of a due item. It returns 0 for an item of the region, and for a due item that cannot be read.
func (i Item) Organization() int64 {
	at := ParsePartition(i.PK)
	if at.Org != 0 || i.Pattern() != delivery.Due {
		return at.Org
	}
	var d delivery.DueItem
	if json.Unmarshal([]byte(i.Data), &d) != nil {
		return 0
	}
	return max(d.Org, 0)
}
