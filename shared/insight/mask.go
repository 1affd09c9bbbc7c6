package insight

import (
	"regexp"
	"strings"
)

// hidden stands for personal data that is no address and no number.
const hidden = "***"

// mask returns personal data as a caller sees it who must not see the data: an e-mail address as j***@a***.com, a phone number as
// ***-***-4567, and anything else as ***. No value stays no value.
func mask(value any) any {
	text, _ := value.(string)
	switch parts := address.FindStringSubmatch(text); {
	case value == nil:
		return nil
	case parts != nil:
		return parts[1] + hidden + "@" + parts[2] + hidden + parts[3]
	case isPhone(text):
		digits := strings.Map(digit, text)
		return "***-***-" + digits[len(digits)-4:]
	}
	return hidden
}

// address matches an e-mail address and nothing longer: a mask of another text with an @ would show its end. The groups are the first
// character, the first one of the domain, and the last part of the domain with the dot.
var address = regexp.MustCompile(`^([^\s@])[^\s@]*@([\pL\pN])[\pL\pN.-]*?(\.\pL{2,24})?$`)

// isPhone reports whether a text is a phone number of at least seven digits.
func isPhone(text string) bool {
	return strings.Trim(text, "+0123456789 -()./x") == "" && len(strings.Map(digit, text)) >= 7
}

// digit keeps the digits of a text (strings.Map).
func digit(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}
