package insight

import "strings"

// masked stands for personal data that is no address and no number.
const hidden = "***"

// mask returns personal data as a caller sees it who must not see the data: an e-mail address as j***@a***.com, a phone number as
// ***-***-4567, and anything else as ***. No value stays no value.
func mask(value any) any {
	text, ok := value.(string)
	switch name, domain, isAddress := strings.Cut(text, "@"); {
	case value == nil:
		return nil
	case ok && isAddress:
		return first(name) + hidden + "@" + first(domain) + hidden + ending(domain)
	case ok && isPhone(text):
		digits := strings.Map(digit, text)
		return "***-***-" + digits[len(digits)-4:]
	}
	return hidden
}

// first returns the first character of a text.
func first(text string) string {
	for _, r := range text {
		return string(r)
	}
	return ""
}

// ending returns the last part of the name of a domain with the dot, such as .com; empty without a dot.
func ending(domain string) string {
	if dot := strings.LastIndexByte(domain, '.'); dot >= 0 {
		return domain[dot:]
	}
	return ""
}

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
