// Package contact owns people: one contact a person in the organization,
// associated with events (gaps.md sections 2.1 and 2.3). It owns what a contact has
// beyond a party: the e-mail address that no two share, and how a person is shown
// by itself and on a session.
package contact

import (
	"strings"

	"lectern/shared/caps"
	"lectern/shared/field"
	"lectern/shared/party"
	"lectern/shared/table"
)

// Role is what a contact is on an event, and how errors and changes name it.
const Role = "contact"

// email is the one field that every contact has.
const email = "email"

// Kind is the kind of party that contacts are.
var Kind = &party.Kind{
	Name: "contact", Letter: "C", Prefix: "CONT-", Module: field.Contact, Shards: 64, Cap: caps.Contacts,
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

// ByEmail is the key under which an address is taken. Addresses are compared
// trimmed and lower-cased (gaps.md section 2.3).
func ByEmail(org int64, email string) table.Key {
	return table.Key{PK: table.Org(org) + "#Q#email#" + strings.ToLower(strings.TrimSpace(email)), SK: "-"}
}

// Holds is whether a contact has an address, in whatever case.
func Holds(p party.Party, address string) bool {
	return ByEmail(0, p.Value(email)) == ByEmail(0, address)
}

// fullName is first and last name; empty where there is neither.
func fullName(b *party.Body) string {
	return strings.TrimSpace(b.Value("first_name") + " " + b.Value("last_name"))
}

// FullName is first and last name; nil where there is neither.
func FullName(b *party.Body) *string {
	if name := fullName(b); name != "" {
		return &name
	}
	return nil
}

// Memory is what searches keep of contacts.
type Memory struct{ *party.Memory }

// NewMemory is an empty memory over t; maxBytes caps it.
func NewMemory(t *table.Table, maxBytes int64) *Memory {
	return &Memory{Kind.NewMemory(t, maxBytes, &party.Numbers{})}
}
