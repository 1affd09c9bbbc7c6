// Package exhibitorwrites is the Exhibitor Writes tag group: creating, updating, deleting and
// restoring exhibitors of an event, one or many at a time.
package exhibitorwrites

import (
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/stores"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Exhibitor Writes", start, account.Writes(account.Exhibitor, auth.Scopes{auth.WriteExhibitors}))

func start(env api.Env) *account.Service {
	return &account.Service{Accounts: stores.Accounts(env), Role: account.Exhibitor}
}
