// Package tenancy holds who may call: organizations, their members, and the API
// tokens members make. Only the operator changes them. What a token lets its
// bearer do, and how it is written and checked, is in package auth; the events
// of an organization are in package programme, which keeps them with Family.
package tenancy

import (
	"context"
	"fmt"
	"time"

	"lectern/shared/table"
)

// Store keeps organizations, members and tokens:
//
//	PK                   SK
//	O#<org>              -             organization
//	O#<org>#U#<member>   -             member
//	O#<org>#T#<token>    -             token
//	O#<org>#L#<kind>     <time>#<id>   what is listed: members, tokens, events
//	O#<org>#X#<yyyymm>   <id>          security event
//	R#org                <id>          the region's list of organizations
//	N#id                 -             the region's running number
type Store struct {
	Table *table.Table
	Now   func() time.Time
	// Region is us or eu; it decides the range ids are taken from.
	Region string
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
