package check

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// uuid is the canonical form alone: an id in another form would be another id.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// format holds text against a format of a schema. It gives the text as the
// rest of the service writes it, and what was wanted where text is not that.
func format(name, text string) (plain, wanted string) {
	switch name {
	case "uuid":
		if !uuid.MatchString(text) {
			return text, "a UUID"
		}
		return strings.ToLower(text), ""
	case "date-time":
		plain = strings.ToUpper(text)
		if t, err := time.Parse(time.RFC3339, plain); err != nil || strings.Contains(plain, ",") || !inRange(t) {
			return text, "a date and time with an offset, such as 2026-11-21T09:30:00Z"
		}
		return plain, ""
	case "date":
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return text, "a date such as 2026-11-21"
		}
	case "email":
		if address, err := mail.ParseAddress(text); err != nil || address.Address != text {
			return text, "an e-mail address"
		}
	case "uri":
		if u, err := url.Parse(text); err != nil || u.Scheme == "" || u.Host == "" {
			return text, "an absolute URL"
		}
	}
	return text, ""
}

// inRange is whether t can be written in RFC 3339 in UTC.
func inRange(t time.Time) bool { return t.UTC().Year() >= 0 && t.UTC().Year() <= 9999 }
