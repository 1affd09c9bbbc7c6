package field

import (
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/biter777/countries"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

func isEmail(s string) bool {
	address, err := mail.ParseAddress(s)
	return err == nil && address.Address == s
}

// phone is loose on purpose: people write extensions and brackets in many ways.
var phone = regexp.MustCompile(`^[0-9+(][0-9 ().,/+#*x-]*$`)

func isPhone(s string) bool { return phone.MatchString(s) && strings.ContainsAny(s, "0123456789") }

func isAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// isCountry takes the codes of ISO 3166-1 alone: of two or three capitals, or of
// three digits.
func isCountry(s string) bool {
	if n, err := strconv.Atoi(s); err == nil {
		return len(s) == numericCode && countries.ByNumeric(n).IsValid()
	}
	code := countries.ByName(s)
	return code.IsValid() && (s == code.Alpha2() || s == code.Alpha3())
}

// numericCode is the length of a numeric country code.
const numericCode = 3

// language is the form of a BCP 47 code; which exist is not checked.
var language = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`)

func isLanguage(s string) bool { return language.MatchString(s) }

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// localLayouts are datetimes without offset.
var localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04"}

// shownLayout writes the offset also where it is zero; a bare Z is kept for
// events without a valid zone (spec.md 2.1).
const (
	shownLayout = "2006-01-02T15:04:05.999-07:00"
	utcLayout   = "2006-01-02T15:04:05.999Z"
)

// datetime keeps an instant in UTC. Without offset it is read in the event's
// zone.
func datetime(d *Definition, raw any, loc *time.Location) (any, error) {
	s, ok := raw.(string)
	if !ok {
		return nil, d.mismatch("a string in RFC 3339 form")
	}
	if t, err := wire.ParseTime(s); err == nil {
		return d.instant(t)
	}
	for _, layout := range localLayouts {
		if _, err := time.Parse(layout, s); err != nil {
			continue
		}
		if loc == nil {
			return nil, apierr.Invalid(d.InternalName,
				"Field %q needs an offset, since the event has no valid timezone.", d.InternalName)
		}
		t, err := time.ParseInLocation(layout, s, loc)
		if err == nil {
			return d.instant(wire.At(t))
		}
	}
	return nil, d.mismatch("an RFC 3339 datetime such as 2026-11-21T09:30:00+01:00")
}

// instant refuses years of more or fewer than four digits, which an offset can
// lead to and which could not be read back.
func (d *Definition) instant(t wire.Time) (any, error) {
	const margin = 24 * time.Hour
	if t.Add(-margin).Year() < 0 || t.Add(margin).Year() > 9999 {
		return nil, d.mismatch("a datetime in the years 0000 to 9999")
	}
	return t.String(), nil
}

// Render is the form in which a client reads a stored value; loc is the event's
// zone, nil when it has none.
func (d *Definition) Render(v any, loc *time.Location) any {
	s, ok := v.(string)
	if d.Type != Datetime || !ok {
		return v
	}
	t, err := wire.ParseTime(s)
	switch {
	case err != nil:
		return v
	case loc == nil:
		return t.UTC().Format(utcLayout)
	}
	return t.In(loc).Format(shownLayout)
}
