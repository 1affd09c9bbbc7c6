// Package account owns companies: one account that can be a sponsor and an
// exhibitor of an event. So far it says where accounts are kept, which is all
// that sessions ask before accounts can be made.
package account

import (
	"fmt"

	"lectern/shared/table"
)

// Keys of accounts, under their organization o = O#<org>:
//
//	PK             SK          what
//	o#A#<account>  E#<event>   the account's roles on an event

// OnEvent is the key of an account's roles on an event.
func OnEvent(org, event int64, account string) table.Key {
	return table.Key{PK: table.Org(org) + "#A#" + account, SK: fmt.Sprintf("E#%d", event)}
}
