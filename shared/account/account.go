// Package account owns companies: one account that can be a sponsor, an exhibitor
// or both on an event (spec.md sections 2.7 and 4.4, gaps.md section 2.3). It owns
// what an account has beyond a party: its two roles, its contacts on an event, and
// how a company is shown.
package account

import (
	"strings"

	"lectern/shared/caps"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/party"
	"lectern/shared/table"
)

// The roles of an account on an event, and how errors and changes name them.
const (
	Sponsor   = "sponsor"
	Exhibitor = "exhibitor"
)

// Kind is the kind of party that accounts are.
var Kind = &party.Kind{
	Name: "account", Letter: "A", Prefix: "ACCT-", Module: field.Account, Shards: 4, Cap: caps.Accounts, Numbered: true,
	Fields:  strings.Fields(fields),
	Aliases: map[string]string{misspelled: country},
	Words:   func(b *party.Body) []string { return []string{b.Value("name")} },
}

// misspelled is the name under which the country is shown, kept for compatibility
// (spec.md section 2.7). Both names are taken.
const (
	misspelled = "address_coutnry"
	country    = "address_country"
)

// fields are the standard fields in the order they are shown in.
const fields = `name description logo_image_url banner_image_url phone address_line_1 address_line_2 address_city
	address_state address_postal_code address_country website_url facebook_url instagram_url linkedin_url
	snapchat_username tiktok_username twitter_url`

// Memory is what searches keep of accounts.
type Memory struct{ *party.Memory }

// NewMemory is an empty memory over t; maxBytes caps it.
func NewMemory(t *table.Table, maxBytes int64) *Memory {
	return &Memory{Kind.NewMemory(t, maxBytes, nil)}
}

// Store reads and writes accounts. Contacts are those that accounts name.
type Store struct {
	party.Store
	Contacts *contact.Store
}
