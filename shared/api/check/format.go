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

// uuid is the canonical form alone: an id in another form would be another id.
var uuid = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// format holds text against a format of a schema. It gives the text as the
// rest of the service writes it, and what was wanted where text is not that.
// Other formats say nothing that is checked.
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

func unless(good bool, wanted string) string {
	if good {
		return ""
	}
	return wanted
}
