// Package stores builds the stores of records that groups share from what a group
// is started with. Within one process all groups work on one memory of each kind.
package stores

import (
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/caps"
	"lectern/shared/contact"
	"lectern/shared/participation"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/settings"
)

// How much memory each kind of record may take, in bytes: a Lambda of 512 MB has
// room for the rest beside what it uses of these. The source used last stays,
// however big it is.
const (
	sessionMemory = 64 << 20
	contactMemory = 128 << 20
	accountMemory = 32 << 20
)

// Settings is the memory of events' settings.
func Settings(env api.Env) *settings.Cache {
	return api.Shared(env, func() *settings.Cache { return settings.NewCache(env.Table) })
}

// records counts records for their caps.
func records(env api.Env) *caps.Counter {
	return api.Shared(env, func() *caps.Counter { return caps.New(env.Table, env.Now, env.MostRecords) })
}

// Contacts is the store of contacts.
func Contacts(env api.Env) *contact.Store {
	memory := api.Shared(env, func() *contact.Memory { return contact.NewMemory(env.Table, contactMemory) })
	return &contact.Store{Store: parties(env, contact.Kind, memory.Memory)}
}

// Accounts is the store of accounts.
func Accounts(env api.Env) *account.Store {
	memory := api.Shared(env, func() *account.Memory { return account.NewMemory(env.Table, accountMemory) })
	return &account.Store{Store: parties(env, account.Kind, memory.Memory), Contacts: Contacts(env)}
}

func parties(env api.Env, kind *party.Kind, memory *party.Memory) party.Store {
	return party.Store{
		Kind: kind, Table: env.Table, Settings: Settings(env), Caps: records(env), Now: env.Now, NewID: env.NewID, AdminURL: env.AdminURL, Memory: memory,
	}
}

// Sessions is the store of sessions.
func Sessions(env api.Env) *session.Store {
	contacts := Contacts(env)
	return &session.Store{
		Table: env.Table, Now: env.Now, NewID: env.NewID, AdminURL: env.AdminURL, Settings: Settings(env), Caps: records(env),
		Catalogue: api.Shared(env, func() *session.Catalogue {
			return session.NewCatalogue(env.Table, sessionMemory, contacts.Memory.Numbers)
		}),
		Contacts: contacts, Accounts: Accounts(env),
	}
}

// Participation is who takes part in which sessions.
func Participation(env api.Env) *participation.Store {
	return &participation.Store{Contacts: Contacts(env), Sessions: Sessions(env), Settings: Settings(env)}
}
