package programme

import (
	"encoding/json"
	"fmt"
	"regexp"

	// The zones are part of the binary, since a Lambda has no files of zones.
	_ "time/tzdata"

	"lectern/shared/apierr"
	"lectern/shared/tenancy"
)

// maxBytes bounds the JSON of an event, which every request of the event reads.
const maxBytes = 100 << 10

// language matches the form of a BCP 47 code, known or not.
var language = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`)

func (e *Event) check(tenancy.Store) error {
	switch {
	case e.Timezone != "" && e.Location() == nil:
		return apierr.Invalid("timezone", "timezone must be an IANA name such as Europe/Berlin.")
	case e.EndsAt.Before(e.StartsAt.Time):
		return apierr.Invalid("ends_at", "ends_at must not be before starts_at.")
	case !language.MatchString(e.DefaultLanguage):
		return apierr.Invalid("default_language", "default_language must be a language code such as en or pt-BR.")
	}
	if err := tenancy.CheckName(e.Name); err != nil {
		return err
	}
	if err := e.checkParts(); err != nil {
		return err
	}
	if data, err := json.Marshal(e); err != nil || len(data) > maxBytes {
		return apierr.Invalid("custom_fields", "custom_fields and integration_mappings are too long: an event holds at most %d bytes.", maxBytes)
	}
	return nil
}

// checkParts refuses two custom fields with the same internal name, and a mapping to
// nothing.
func (e *Event) checkParts() error {
	seen := map[string]bool{}
	for i, f := range e.CustomFields {
		if f.Name == "" || f.InternalName == "" || seen[f.InternalName] {
			return apierr.Invalid(fmt.Sprintf("custom_fields[%d].name", i),
				"custom_fields[%d].name must be a name that no other has.", i)
		}
		seen[f.InternalName] = true
	}
	for i, m := range e.IntegrationMappings {
		if m.Source == "" {
			return apierr.Invalid(fmt.Sprintf("integration_mappings[%d].source", i),
				"integration_mappings[%d].source must be the key of a connector.", i)
		}
		if m.ExternalID == nil && m.CampaignID == "" {
			return apierr.Invalid(fmt.Sprintf("integration_mappings[%d].external_id", i),
				"integration_mappings[%d] needs external_id or campaign_id.", i)
		}
	}
	return nil
}
