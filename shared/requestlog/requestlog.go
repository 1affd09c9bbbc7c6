// Package requestlog stores the log of the requests to the API (design.md section 6, gaps.md
// section 9.1). The entries that come together are one item, in the order of their ingestion.
// Where the entries come from, and what a client may see of them, belongs to other packages.
package requestlog

import (
	"encoding/json"
	"fmt"
	"time"

	"lectern/shared/feed"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keep is how long requests are kept (spec.md section 4.9).
const Keep = 365 * 24 * time.Hour

// Buckets is the number of partitions for the packs of an organization's hour.
const Buckets = feed.Buckets

// Keys are the patterns of the items of the log. Requests have the address and the user agent of
// a client, which the organization keeps. A path has ids alone, so no item has data of a contact.
var Keys = []keys.Pattern{
	{Name: "requests", PK: "o#Y#<yyyymmddhh>#<0..7>", SK: "<id>", Expires: true, Personal: keys.Outside},
	{Name: "hour of requests", PK: "o#Y", SK: "<yyyymmddhh>", Personal: keys.Nothing},
	{Name: "ingested requests", PK: "o#Y#<hash>", SK: "-", Expires: true, Personal: keys.Nothing},
	{Name: "wrong secrets of a minute", PK: "o#Y#W#<window>", SK: "-", Expires: true, Personal: keys.Nothing},
}

// Message is the message of the log line of a request.
const Message = "request"

// Entry is one request.
type Entry struct {
	// RequestID is the X-Request-Id of the answer.
	RequestID string    `json:"request_id"`
	At        wire.Time `json:"at"`
	Method    string    `json:"method"`
	// Path is the path of the route with the ids of the request, without query; empty for a
	// path without a route. A request that was refused before its ids were checked has their
	// names in braces.
	Path         string `json:"path,omitempty"`
	Status       int    `json:"status"`
	Milliseconds int64  `json:"ms"`
	// Event is 0 for a request outside an event, Token the id of the token.
	Event int64 `json:"event,omitempty"`
	Token int64 `json:"token,omitempty"`
	// Reason says why the request was refused; empty for a request that was not refused.
	Reason    string `json:"reason,omitempty"`
	IP        string `json:"ip,omitempty"`
	UserAgent string `json:"user_agent,omitempty"`
}

// Pack has the requests of one organization that were ingested together.
type Pack struct {
	// ID is a UUID that is ordered by the time of ingestion.
	ID      string    `json:"-"`
	Org     int64     `json:"-"`
	At      time.Time `json:"-"`
	Entries []Entry   `json:"entries"`
}

// Root returns the beginning of the partitions of an organization's log, and the partition of
// the hours with requests.
func Root(org int64) string { return table.Org(org) + "#Y" }

// Key returns the key of the pack.
func (p Pack) Key() table.Key { return feed.Key(Root(p.Org), p.ID, p.At) }

// Decode reads a pack from its item.
func Decode(item table.Item) (Pack, error) {
	p := Pack{ID: item.SK}
	if err := json.Unmarshal(item.Data, &p); err != nil {
		return p, fmt.Errorf("requestlog: decode %s: %w", item.SK, err)
	}
	return p, nil
}
