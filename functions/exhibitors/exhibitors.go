// Package exhibitors is the Exhibitors tag group: reading the exhibitors of an event.
package exhibitors

import (
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/stores"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Exhibitors", start, account.Reads(account.Exhibitor))

func start(env api.Env) *account.Service {
	return &account.Service{Accounts: stores.Accounts(env), Role: account.Exhibitor}
}
