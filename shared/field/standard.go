package field

import (
	"strings"
	"time"

	"lectern/shared/settings/item"
	"lectern/shared/wire"
)

// standardSince is the createdAt of the standard fields, which no client created:
// before any event of this service.
var standardSince = wire.At(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))

// standardFields are the properties that all records have, by module
// (spec.md 2.4, 2.7; gaps.md 2.1). A line is a type and the internal names of
// that type; a star marks personal data.
var standardFields = map[Module]string{
	Session: `
text = title external_url client_session_id
wysiwyg = description
datetime = starts_at ends_at
number = capacity ceu_credits
checkbox = is_public is_abstract
dropdown = status`,
	Contact: `
text = first_name* last_name* company_name title honorific* salutation* pronouns* gender* ethnicity*
text = address_line_1* address_line_2* address_city* address_state* address_postal_code*
text = website_url linkedin_url* twitter_url* facebook_url* instagram_url* snapchat_username* tiktok_username*
text = past_companies* educational_affiliation* highest_level_of_education* languages speaker_score organization_contact
text = speaker_fee availability preferred_session_format annual_revenue headcount years_in_operation
text = organization_structure industry global_region audience_type target_age_range topic_expertise brand
wysiwyg = about*
email = email*
phone = phone_home* phone_mobile*
file = photo_url*
countries = address_country*`,
	Account: `
text = name address_line_1 address_line_2 address_city address_state address_postal_code
text = website_url facebook_url instagram_url linkedin_url snapchat_username tiktok_username twitter_url
wysiwyg = description
phone = phone
file = logo_image_url banner_image_url
countries = address_country`,
	Metadata: `
text = name`,
}

// statusOptions are the values of a session's status (gaps.md section 1).
var statusOptions = []string{"accepted", "accept_queue", "pending", "decline_queue", "declined"}

var standard = readStandard()

func readStandard() []*Definition {
	var all []*Definition
	for module, table := range standardFields {
		for line := range strings.Lines(strings.TrimSpace(table)) {
			kind, names, _ := strings.Cut(line, " = ")
			for name := range strings.FieldsSeq(names) {
				all = append(all, newStandard(module, Type(kind), name))
			}
		}
	}
	return all
}

func newStandard(module Module, kind Type, name string) *Definition {
	name, personal := strings.CutSuffix(name, "*")
	d := &Definition{
		ID: item.DerivedID("standard field", module, name), InternalName: name, PublicName: publicName(name),
		Type: kind, Source: SourceStandard, ContainsPII: personal, Scope: ScopeGlobal, Module: module,
		Options: []string{}, CreatedAt: standardSince, UpdatedAt: standardSince,
	}
	if module == Session {
		d.Scope = ScopeEvent
	}
	if kind == Dropdown {
		d.Options = statusOptions
	}
	return d
}

// publicName turns address_line_1 into Address line 1.
func publicName(internal string) string {
	words := strings.ReplaceAll(internal, "_", " ")
	return strings.ToUpper(words[:1]) + strings.Replace(words[1:], " url", " URL", 1)
}
