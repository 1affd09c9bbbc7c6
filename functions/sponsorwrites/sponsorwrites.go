// Package sponsorwrites is the Sponsor Writes tag group: creating, updating, deleting and
// restoring sponsors of an event, one or many at a time.
package sponsorwrites

import (
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/stores"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Sponsor Writes", start, account.Writes(account.Sponsor, auth.Scopes{auth.WriteSponsors}))

func start(env api.Env) *account.Service {
	return &account.Service{Accounts: stores.Accounts(env), Role: account.Sponsor}
}
