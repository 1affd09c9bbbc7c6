// Package stores creates the stores of records from the environment of a group. All groups in
// one process share the memory of the stores.
package stores

import (
	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/caps"
	"lectern/shared/contact"
	"lectern/shared/participation"
	"lectern/shared/party"
	"lectern/shared/resource"
	"lectern/shared/session"
	"lectern/shared/session/store"
	"lectern/shared/sessionfile"
	"lectern/shared/settings"
	"lectern/shared/slide"
	"lectern/shared/transcript"
	"lectern/shared/upload"
)

// The memory for each kind of record, in bytes. A Lambda of 512 MB has room for the sum and for
// the requests. The most recently used source always stays in memory, even if it is larger.
const (
	sessionMemory = 64 << 20
	contactMemory = 128 << 20
	accountMemory = 32 << 20
)

// Settings returns the cache of the settings of events.
func Settings(env api.Env) *settings.Cache { return api.Shared(env, newSettings) }

func newSettings(env api.Env) *settings.Cache { return settings.NewCache(env.Table) }

func newCounter(env api.Env) *caps.Counter { return caps.New(env.Table, env.Now, env.MostRecords) }

// Contacts returns the store of contacts.
func Contacts(env api.Env) *contact.Store {
	return &contact.Store{Store: parties(env, contact.Kind, api.Shared(env, newContacts).Memory)}
}

func newContacts(env api.Env) *contact.Memory { return contact.NewMemory(env.Table, contactMemory) }

// Accounts returns the store of accounts.
func Accounts(env api.Env) *account.Store {
	store := parties(env, account.Kind, api.Shared(env, newAccounts).Memory)
	return &account.Store{Store: store, Contacts: Contacts(env)}
}

func newAccounts(env api.Env) *account.Memory { return account.NewMemory(env.Table, accountMemory) }

func parties(env api.Env, kind *party.Kind, memory *party.Memory) party.Store {
	return party.Store{
		Kind: kind, Table: env.Table, Settings: Settings(env), Caps: api.Shared(env, newCounter),
		Now: env.Now, NewID: env.NewID, AdminURL: env.AdminURL, Memory: memory,
	}
}

// Sessions returns the store of sessions.
func Sessions(env api.Env) *store.Store {
	contacts := Contacts(env)
	return &store.Store{
		Table: env.Table, Now: env.Now, NewID: env.NewID, AdminURL: env.AdminURL,
		Settings: Settings(env), Caps: api.Shared(env, newCounter),
		Catalogue: api.Shared(env, contactNumbers{contacts.Memory.Numbers}.newCatalogue),
		Parties:   session.Parties{Contacts: contacts, Accounts: Accounts(env)},
	}
}

// contactNumbers has the numbers of contacts, by which the rows of sessions refer to contacts.
type contactNumbers struct{ *party.Numbers }

func (n contactNumbers) newCatalogue(env api.Env) *session.Catalogue {
	return session.NewCatalogue(env.Table, sessionMemory, n.Numbers)
}

// Transcripts returns the store of transcriptions.
func Transcripts(env api.Env) *transcript.Store {
	return &transcript.Store{Table: env.Table, Now: env.Now, NewID: env.NewID, Sessions: Sessions(env), Most: env.MostRecords}
}

// SessionFiles returns the store of files and upload slots.
func SessionFiles(env api.Env) *sessionfile.Store {
	return &sessionfile.Store{
		Store: upload.NewStore(env), Records: resource.NewStore(env), Sessions: Sessions(env), Keys: env.Keys,
	}
}

// Slides returns the store of the holding slides of events.
func Slides(env api.Env) *slide.Store {
	return &slide.Store{Table: env.Table, Now: env.Now, Sessions: Sessions(env)}
}

// Participation returns the store of the people on sessions.
func Participation(env api.Env) *participation.Store {
	return &participation.Store{Contacts: Contacts(env), Sessions: Sessions(env), Settings: Settings(env)}
}
