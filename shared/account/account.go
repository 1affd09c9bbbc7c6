// Package account owns companies: an account can be a sponsor, an exhibitor or both on an
// event (spec.md sections 2.7 and 4.4, gaps.md section 2.3). It has the parts of an account
// beyond a party: two roles, contacts on an event, the shape of an account, and the routes.
package account

import (
	"strings"

	"lectern/shared/caps"
	"lectern/shared/contact"
	"lectern/shared/field"
	"lectern/shared/keys"
	"lectern/shared/party"
	"lectern/shared/table"
)

// The roles of an account on an event, and how errors and changes name them.
const (
	Sponsor   = "sponsor"
	Exhibitor = "exhibitor"
)

// Kind is the kind of party of accounts.
var Kind = &party.Kind{
	Name: "account", Letter: "A", Personal: keys.Outside, Prefix: "ACCT-", Module: field.Account, Shards: 4, Cap: caps.Accounts,
	Numbered: true,
	Fields:   strings.Fields(fields),
	Aliases:  map[string]string{Country: country},
	Words:    func(b *party.Body) []string { return []string{b.Value("name")} },
}

// Country is the name of the country in answers, kept for compatibility (spec.md section
// 2.7). Drafts may use both names.
const (
	Country = "address_coutnry"
	country = "address_country"
)

// fields are the standard fields in the order of an answer.
const fields = `name description logo_image_url banner_image_url phone address_line_1 address_line_2 address_city
	address_state address_postal_code address_country website_url facebook_url instagram_url linkedin_url
	snapchat_username tiktok_username twitter_url`

// Memory has the rows and bodies of accounts for searches.
type Memory struct{ *party.Memory }

// NewMemory returns an empty memory over t, bounded by maxBytes.
func NewMemory(t *table.Table, maxBytes int64) *Memory {
	return &Memory{Kind.NewMemory(t, maxBytes, nil)}
}

// Store reads and writes accounts. Contacts has the contacts of the accounts.
type Store struct {
	party.Store
	Contacts *contact.Store
}
