package field_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/wire"
)

var (
	noon    = wire.At(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC))
	evening = wire.At(time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC))
)

func chicago(t *testing.T) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation("America/Chicago")
	require.NoError(t, err)
	return loc
}

// custom is a custom field of sessions.
func custom(id, name string, kind field.Type) *field.Definition {
	return &field.Definition{
		ID: id, InternalName: name, PublicName: strings.ToUpper(name), Type: kind, Source: field.SourceCustom,
		Module: field.Session, Scope: field.ScopeEvent, CreatedAt: noon,
	}
}

func refusal(t *testing.T, err error) *apierr.Error {
	t.Helper()
	var refused *apierr.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, 400, refused.Status)
	return refused
}

func TestValuesByType(t *testing.T) {
	const mismatch, invalid = "TYPE_MISMATCH", "VALIDATION_ERROR"
	list := func(of ...any) any { return append([]any{}, of...) }
	for _, c := range []struct {
		kind     field.Type
		multiple bool
		raw      any
		code     string // empty: accepted
		kept     any    // nil: the same as raw
	}{
		{field.Text, false, "plain", "", nil},
		{field.Text, false, "", "", nil},
		{field.Text, false, strings.Repeat("é", 255), "", nil},
		{field.Text, false, strings.Repeat("é", 256), invalid, nil},
		{field.Text, false, 7.0, mismatch, nil},
		{field.Text, false, true, mismatch, nil},
		{field.Text, false, list("a"), mismatch, nil},
		{field.Text, false, map[string]any{}, mismatch, nil},
		{field.Textarea, false, strings.Repeat("é", 5000), "", nil},
		{field.Textarea, false, strings.Repeat("é", 5001), invalid, nil},
		{field.Wysiwyg, false, strings.Repeat("x", 64<<10), "", nil},
		{field.Wysiwyg, false, strings.Repeat("x", 64<<10+1), invalid, nil},
		{field.Wysiwyg, false, strings.Repeat("é", 33<<10), invalid, nil},
		{field.Dropdown, false, "A", "", nil},
		{field.Dropdown, false, "a", mismatch, nil},
		{field.Dropdown, false, "", mismatch, nil},
		{field.Dropdown, false, 1.0, mismatch, nil},
		{field.Dropdown, false, list("A"), mismatch, nil},
		{field.Dropdown, true, list("B", "A"), "", nil},
		{field.Dropdown, true, list("A", "C"), mismatch, nil},
		{field.Dropdown, true, "A", mismatch, nil},
		{field.Dropdown, true, list("A", nil), mismatch, nil},
		{field.Dropdown, true, list("A", list("B")), mismatch, nil},
		{field.Dropdown, true, list("A", "A"), invalid, nil},
		{field.Checkbox, false, true, "", nil},
		{field.Checkbox, false, false, "", nil},
		{field.Checkbox, false, "true", mismatch, nil},
		{field.Checkbox, false, 1.0, mismatch, nil},
		{field.Date, false, "2028-02-29", "", nil},
		{field.Date, false, "2027-02-29", mismatch, nil},
		{field.Date, false, "2027-2-9", mismatch, nil},
		{field.Date, false, "2027-02-09T10:00:00Z", mismatch, nil},
		{field.Date, false, 20270209.0, mismatch, nil},
		{field.Datetime, false, "2027-05-11T09:30:00-05:00", "", "2027-05-11T14:30:00.000Z"},
		{field.Datetime, false, "2027-05-11T14:30:00.123Z", "", "2027-05-11T14:30:00.123Z"},
		{field.Datetime, false, "2027-05-11T09:30:00", "", "2027-05-11T14:30:00.000Z"},
		{field.Datetime, false, "2027-12-11T09:30", "", "2027-12-11T15:30:00.000Z"},
		{field.Datetime, false, "2027-05-11T09:30:00.5", "", "2027-05-11T14:30:00.500Z"},
		{field.Datetime, false, "2027-03-14T01:59:59", "", "2027-03-14T07:59:59.000Z"},
		{field.Datetime, false, "2027-03-14T02:30", invalid, nil},
		{field.Datetime, false, "2027-03-14T03:00:00", "", "2027-03-14T08:00:00.000Z"},
		{field.Datetime, false, "2027-03-14T02:30:00-06:00", "", "2027-03-14T08:30:00.000Z"},
		{field.Datetime, false, "2027-05-11T09:30:00,5", mismatch, nil},
		{field.Datetime, false, "2027-05-11T09:30:00,5Z", mismatch, nil},
		{field.Datetime, false, "2027-05-11T9:30:00", mismatch, nil},
		{field.Datetime, false, "2027-05-11T9:30:00Z", mismatch, nil},
		{field.Datetime, false, "2027-05-11T09:30:00+30:00", mismatch, nil},
		{field.Datetime, false, "2027-05-11", mismatch, nil},
		{field.Datetime, false, "2027-05-11T25:00:00Z", mismatch, nil},
		{field.Datetime, false, "9999-12-31T23:00:00-05:00", mismatch, nil},
		{field.Datetime, false, 0.0, mismatch, nil},
		{field.Number, false, 19.99, "", nil},
		{field.Number, false, -1e300, "", nil},
		{field.Number, false, "19.99", mismatch, nil},
		{field.Currency, false, 0.0, "", nil},
		{field.Currency, false, "5", mismatch, nil},
		{field.Email, false, "ada@example.org", "", nil},
		{field.Email, false, "Ada <ada@example.org>", mismatch, nil},
		{field.Email, false, "ada", mismatch, nil},
		{field.Email, false, strings.Repeat("a", 250) + "@example.org", invalid, nil},
		{field.Phone, false, "+49 (30) 123-456 x7", "", nil},
		{field.Phone, false, "call me", mismatch, nil},
		{field.Phone, false, "+", mismatch, nil},
		{field.File, false, "https://cdn.example.org/a.pdf", "", nil},
		{field.File, false, "a.pdf", mismatch, nil},
		{field.File, false, "https://x.org/ a", mismatch, nil},
		{field.File, false, "https://x.org/%20a", "", nil},
		{field.File, false, "javascript:alert(1)", mismatch, nil},
		{field.Countries, false, "DE", "", nil},
		{field.Countries, false, "DEU", "", nil},
		{field.Countries, false, "276", "", nil},
		{field.Countries, false, "Germany", mismatch, nil},
		{field.Countries, false, "de", mismatch, nil},
		{field.Countries, false, "QQ", mismatch, nil},
		{field.Countries, false, "012", "", nil},
		{field.Countries, false, "1", mismatch, nil},
		{field.Countries, false, "+12", mismatch, nil},
		{field.Countries, false, "0276", mismatch, nil},
		{field.Countries, false, "None", mismatch, nil},
		{field.Countries, false, "998", mismatch, nil},
		{field.Countries, false, "999", mismatch, nil},
		{field.Countries, false, "XK", mismatch, nil},
		{field.Countries, false, "YUG", mismatch, nil},
		{field.Countries, false, "530", mismatch, nil},
		{field.Countries, false, "", mismatch, nil},
		{field.Countries, true, list("DE", "FR"), "", nil},
		{field.Countries, true, list("DE", "DE"), invalid, nil},
		{field.Languages, false, "pt-BR", "", nil},
		{field.Languages, false, "Portuguese", mismatch, nil},
		{field.Languages, true, list("en", "de"), "", nil},
		{field.Languages, false, "ZH-hant-tw", "", "zh-Hant-TW"},
		{field.Languages, true, list("EN", "de"), "", list("en", "de")},
		{field.Languages, true, list("en", "EN"), invalid, nil},
		{field.User, false, 1001.0, "", nil},
		{field.User, false, 1.5, mismatch, nil},
		{field.User, false, 0.0, mismatch, nil},
		{field.User, false, 1e300, mismatch, nil},
		{field.User, false, "1001", mismatch, nil},
	} {
		d := custom("id", "f", c.kind)
		d.Multiple, d.Options = c.multiple, []string{"A", "B"}
		got, err := d.Accept(c.raw, chicago(t))
		if c.code != "" {
			refused := refusal(t, err)
			require.Equal(t, c.code, refused.Code, "%s %.40v", c.kind, c.raw)
			require.Equal(t, "f", refused.Details["field"])
			continue
		}
		require.NoError(t, err, "%s %.40v", c.kind, c.raw)
		if c.kept == nil {
			c.kept = c.raw
		}
		require.Equal(t, c.kept, got, "%s %.40v", c.kind, c.raw)
	}
}

func TestNothingAndAnEmptyListAreNoValue(t *testing.T) {
	d := custom("id", "f", field.Dropdown)
	d.Multiple, d.Options = true, []string{"A"}
	for _, raw := range []any{nil, []any{}} {
		got, err := d.Accept(raw, nil)
		require.NoError(t, err)
		require.Nil(t, got)
	}
}

func TestADropdownSaysWhatItTakes(t *testing.T) {
	d := custom("id", "level", field.Dropdown)
	d.Options = []string{"A", `B "b"`}
	_, err := d.Accept("C", nil)
	refused := refusal(t, err)
	require.Equal(t, d.Options, refused.ValidOptions)
	require.Equal(t, `Field "level" must be one of "A", "B \"b\"".`, refused.Message)

	_, err = custom("id", "f", field.Number).Accept("C", nil)
	require.Empty(t, refusal(t, err).ValidOptions)
	d.Options = nil
	_, err = d.Accept("C", nil)
	require.Equal(t, "TYPE_MISMATCH", refusal(t, err).Code)
}

func TestALocalTimeNeedsAZone(t *testing.T) {
	d := custom("id", "f", field.Datetime)
	_, err := d.Accept("2027-05-11T09:30:00", nil)
	require.Equal(t, "VALIDATION_ERROR", refusal(t, err).Code)
	kept, err := d.Accept("2027-05-11T09:30:00+02:00", nil)
	require.NoError(t, err)
	require.Equal(t, "2027-05-11T07:30:00Z", d.Render(kept, nil))
	require.Equal(t, "2027-05-11T02:30:00-05:00", d.Render(kept, chicago(t)))
	require.Equal(t, "2027-05-11T07:30:00+00:00", d.Render(kept, time.UTC))
	require.Equal(t, "2027-05-11T07:30:00.25+00:00", d.Render("2027-05-11T07:30:00.250Z", time.UTC))
	require.Equal(t, "2027-05-11", custom("id", "f", field.Date).Render("2027-05-11", chicago(t)))
}

func TestAnOffsetWithSecondsKeepsTheInstant(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	d := custom("id", "f", field.Datetime)
	kept, err := d.Accept("1830-05-11T09:30:00", amsterdam)
	require.NoError(t, err)
	shown, _ := d.Render(kept, amsterdam).(string)
	again, err := d.Accept(shown, nil)
	require.NoError(t, err)
	require.Equal(t, kept, again, shown)
	require.Regexp(t, `\+00:(18|20)$`, shown)
}
