// Package sponsors is the Sponsors tag group: reading the sponsors of an event.
package sponsors

import (
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/stores"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Sponsors", start, account.Reads(account.Sponsor))

func start(env api.Env) *account.Service {
	return &account.Service{Accounts: stores.Accounts(env), Role: account.Sponsor}
}
