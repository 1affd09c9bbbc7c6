package field

import (
	"net/mail"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// IsEmail reports whether s is an e-mail address alone.
func IsEmail(s string) bool {
	address, err := mail.ParseAddress(s)
	return err == nil && address.Address == s
}

// phone is loose, since people write extensions and brackets in many ways.
var phone = regexp.MustCompile(`^[0-9+(][0-9 ().,/+#*x-]*$`)

func isPhone(s string) bool { return phone.MatchString(s) && strings.ContainsAny(s, "0123456789") }

// IsAddress reports whether s is an http or https address.
func IsAddress(s string) bool {
	u, err := url.Parse(s)
	return err == nil && !strings.ContainsFunc(s, unicode.IsSpace) && (u.Scheme == "https" || u.Scheme == "http") && u.Host != ""
}

// language matches the form of a BCP 47 code, known or not.
var language = regexp.MustCompile(`^[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8})*$`)

func isLanguage(s string) bool { return language.MatchString(s) }

// canonical writes a language code in the case that BCP 47 recommends: zh-Hant-TW.
func canonical(code string) string {
	parts := strings.Split(strings.ToLower(code), "-")
	for i, part := range parts {
		switch {
		case i > 0 && len(part) == 2:
			parts[i] = strings.ToUpper(part)
		case i > 0 && len(part) == 4:
			parts[i] = strings.ToUpper(part[:1]) + part[1:]
		}
	}
	return strings.Join(parts, "-")
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

// shownLayout writes an offset of zero too; a bare Z is kept for
// events without a valid zone (spec.md 2.1).
const (
	shownLayout = "2006-01-02T15:04:05.999-07:00"
	utcLayout   = "2006-01-02T15:04:05.999Z"
)

// datetime keeps an instant in UTC. An instant without offset is read in the event's
// zone.
func datetime(d *Definition, raw any, loc *time.Location) (any, error) {
	s, ok := raw.(string)
	if !ok {
		return nil, d.mismatch("a string in RFC 3339 form")
	}
	if t, err := wire.ParseTime(s); err == nil {
		return d.instant(t)
	}
	for _, end := range []string{"Z", ":00Z"} {
		if wall, err := wire.ParseTime(s + end); err == nil {
			return d.local(wall, loc)
		}
	}
	return nil, d.mismatch("an RFC 3339 datetime such as 2026-11-21T09:30:00+01:00")
}

// local returns the instant at which the clocks in loc show the date and time that wall has in
// UTC. For a time that clocks show twice, local always returns the same instant.
func (d *Definition) local(wall wire.Time, loc *time.Location) (any, error) {
	if loc == nil {
		return nil, apierr.Invalid(d.InternalName,
			"Field %q needs an offset, since the event has no valid timezone.", d.InternalName)
	}
	year, month, day := wall.Date()
	t := time.Date(year, month, day, wall.Hour(), wall.Minute(), wall.Second(), wall.Nanosecond(), loc)
	if t.Format(time.DateTime) != wall.Format(time.DateTime) {
		return nil, apierr.Invalid(d.InternalName,
			"Field %q: the clocks in the event's timezone were put forward past that time, so there is none.", d.InternalName)
	}
	return d.instant(wire.At(t))
}

// instant refuses years without four digits, which could not be read back. An offset can
// cause such a year.
func (d *Definition) instant(t wire.Time) (any, error) {
	const margin = 24 * time.Hour
	if t.Add(-margin).Year() < 0 || t.Add(margin).Year() > 9999 {
		return nil, d.mismatch("a datetime in the years 0000 to 9999")
	}
	return t.String(), nil
}

// Render returns a stored value in the form for clients. loc is the event's zone, nil for an
// event without a zone.
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
	return t.In(minutely(t.Time, loc)).Format(shownLayout)
}

// minutely returns a zone with the offset of loc at t, rounded to minutes: an
// RFC 3339 offset has no seconds, as local mean times do, and an offset that was
// cut when written would tell another instant.
func minutely(t time.Time, loc *time.Location) *time.Location {
	_, offset := t.In(loc).Zone()
	rounded := (time.Duration(offset) * time.Second).Round(time.Minute)
	return time.FixedZone("", int(rounded/time.Second))
}
