// Package contact owns people: a contact in the organization for each person, associated
// with events (gaps.md sections 2.1 and 2.3). It has the parts of a contact beyond a party:
// the e-mail address that no two contacts share, and the shapes of a contact alone and on a
// session.
package contact

import (
	"strings"

	"lectern/shared/caps"
	"lectern/shared/field"
	"lectern/shared/keys"
	"lectern/shared/party"
	"lectern/shared/table"
)

// Role is the role of a contact on an event, and the name in errors and changes.
const Role = "contact"

// Address is the field of the e-mail address, which every contact has that is not erased.
const Address = "email"

// email is short for Address.
const email = Address

// Kind is the kind of party of contacts.
var Kind = &party.Kind{
	Name: "contact", Letter: "C", Personal: keys.Person, Prefix: "CONT-", Module: field.Contact, Shards: 64, Cap: caps.Contacts,
	Fields:  strings.Fields(names + " " + profile + " " + social + " " + background),
	Aliases: map[string]string{"company": "company_name", "phone": "phone_mobile"},
	Words:   func(b *party.Body) []string { return []string{fullName(b), b.Value(email), b.Value("company_name")} },
}

// The standard fields in the order that gaps.md section 2.1 documents. Those of
// social are shown on a session beside the profile, and after brand otherwise.
const (
	names   = `first_name last_name email`
	profile = `photo_url company_name title about phone_home phone_mobile address_line_1 address_line_2 address_city
		address_state address_postal_code address_country website_url linkedin_url twitter_url facebook_url`
	background = `honorific salutation pronouns gender past_companies educational_affiliation highest_level_of_education
		ethnicity languages speaker_score organization_contact speaker_fee availability preferred_session_format
		annual_revenue headcount years_in_operation organization_structure industry global_region audience_type
		target_age_range topic_expertise brand`
	social = `instagram_url snapchat_username tiktok_username`
)

// Keys are the patterns of the items of contacts, beside those of their kind.
var Keys = []keys.Pattern{{Name: "unique value", PK: "o#Q#email#<value>", SK: "-", Personal: keys.Person}}

// ByEmail returns the key of the item that keeps an address for one contact. Addresses are
// compared trimmed and lower-cased (gaps.md section 2.3).
func ByEmail(org int64, email string) table.Key {
	return table.Key{PK: table.Org(org) + "#Q#email#" + strings.ToLower(strings.TrimSpace(email)), SK: "-"}
}

// Holds reports whether a contact has an address, in any case.
func Holds(b *party.Body, address string) bool {
	return ByEmail(0, b.Value(email)) == ByEmail(0, address)
}

// fullName returns first and last name; empty without both.
func fullName(b *party.Body) string {
	return strings.TrimSpace(b.Value("first_name") + " " + b.Value("last_name"))
}

// FullName returns first and last name; nil without both.
func FullName(b *party.Body) *string {
	if name := fullName(b); name != "" {
		return &name
	}
	return nil
}

// Memory has the rows and bodies of contacts for searches.
type Memory struct{ *party.Memory }

// NewMemory returns an empty memory over t, bounded by maxBytes.
func NewMemory(t *table.Table, maxBytes int64) *Memory {
	return &Memory{Kind.NewMemory(t, maxBytes, &party.Numbers{})}
}
