package check

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"

	"lectern/shared/wire"
)

// uuid matches only the canonical form: two forms of an id would be two ids.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// format checks a text by the format of a schema. plain is the text in the form that the
// service uses. wanted describes the format if the text does not match. Unknown formats match
// every text.
func format(name, text string) (plain, wanted string) {
	switch name {
	case "uuid":
		return strings.ToLower(text), unless(uuid.MatchString(text), "a UUID")
	case "date-time":
		_, err := wire.ParseTime(text)
		return strings.ToUpper(text), unless(err == nil, "a date and time with an offset, such as 2026-11-21T09:30:00Z")
	case "date":
		_, err := time.Parse(time.DateOnly, text)
		return text, unless(err == nil, "a date such as 2026-11-21")
	case "email":
		address, err := mail.ParseAddress(text)
		return text, unless(err == nil && address.Address == text, "an e-mail address")
	case "uri":
		u, err := url.Parse(text)
		return text, unless(err == nil && !strings.ContainsFunc(text, unicode.IsSpace) && u.Scheme != "" && u.Host != "", "an absolute URL")
	}
	return text, ""
}

// unless returns wanted, or an empty text if matched.
func unless(matched bool, wanted string) string {
	if matched {
		return ""
	}
	return wanted
}
