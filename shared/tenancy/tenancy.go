// Package tenancy stores organizations, members, tokens and identity providers. The operator changes these
// records, and package grant the tokens of applications. Package auth reads and checks tokens; package programme declares the events of an
// organization as a Family too.
package tenancy

import (
	"context"
	"fmt"
	"time"

	"lectern/shared/keys"
	"lectern/shared/table"
)

// Line and RunningNumber are the items of the region: a line of its list of organizations,
// and the number from which it gives ids.
var (
	Line          = keys.Pattern{Name: "line of the region's organizations", PK: listed, SK: "<number>", Personal: keys.Nothing}
	RunningNumber = keys.Pattern{Name: "running number", PK: counter.PK, SK: counter.SK, Personal: keys.Nothing}
)

// Keys are the patterns of the items of organizations, members and tokens. The data of a member
// belongs to the organization.
var Keys = []keys.Pattern{
	{Name: "organization", PK: "o", SK: "-", Personal: keys.Outside},
	{Name: "member", PK: "o#U#<user>", SK: "-", Personal: keys.Outside},
	{Name: "change of a member", PK: "o#U#<user>", SK: "H#<change>", Personal: keys.Outside},
	{Name: "token", PK: "o#T#<token>", SK: "-", Personal: keys.Outside},
	{Name: "identity provider", PK: "o#IP#<token>", SK: "-", Personal: keys.Nothing},
	{Name: "provider of a domain", PK: "R#domain#<value>", SK: "<number>#<number>", Personal: keys.Nothing},
	{Name: "connection of a member", PK: "R#connections#<org>#<user>", SK: "<number>", Personal: keys.Nothing},
	{Name: "line of a list", PK: "o#L#identity_provider", SK: "<time>#<number>", Personal: keys.Nothing},
	{Name: "line of a list", PK: "o#L#member", SK: "<time>#<number>", Personal: keys.Nothing},
	{Name: "line of a list", PK: "o#L#token", SK: "<time>#<number>", Personal: keys.Nothing},
	{Name: "security event", PK: "o#X#<yyyymm>", SK: "<id>#<action>", Personal: keys.Nothing},
	Line, RunningNumber,
}

// Store keeps organizations, members and tokens.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	// Region is us or eu; it decides the range ids are taken from.
	Region string
	// LocalProviders allows identity providers at http://127.0.0.1:PORT; see api.Env.LocalReceivers.
	LocalProviders bool
}

// counter gives the ids of everything that has an integer id.
var counter = table.Key{PK: "N#id", SK: "-"}

// bases are the numbers below the first id of each region. The ranges stay
// disjoint for the first billion ids, and below 2^31 for clients that read
// them into 32 bits.
var bases = map[string]int64{"us": 0, "eu": 1_000_000_000}

// base returns the number below the first id of the region.
func (s Store) base() (int64, error) {
	base, ok := bases[s.Region]
	if !ok {
		return 0, fmt.Errorf("tenancy: unknown region %q", s.Region)
	}
	return base, nil
}

// nextID gives an id that was never given before. A counter that was set back
// is caught by the insert that claims the id.
func (s Store) nextID(ctx context.Context) (int64, error) {
	base, err := s.base()
	if err != nil {
		return 0, err
	}
	n, err := s.Table.Add(ctx, counter, 1)
	if err != nil {
		return 0, fmt.Errorf("tenancy: next id: %w", err)
	}
	return base + n, nil
}
