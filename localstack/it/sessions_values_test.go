package it_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// connectorField makes a field that a connector owns and gives its internal
// name.
func (d *desk) connectorField(name string, more ...object) string {
	d.t.Helper()
	made := d.done("connector-field-create", merged(object{"module_id": "session", "name": name, "type": "text", "source": "salesforce"}, more...))
	require.NotEmpty(d.t, made.text("internal_name"))
	return made.text("internal_name")
}

// value is what a session shows of a custom field; nil where it shows none.
func (r entity) value(internalName string) any {
	for _, shown := range r.list("custom_fields") {
		if shown["internal_name"] == internalName {
			return shown["value"]
		}
	}
	return nil
}

// valueCase is a type of field, a value that it takes, how that is shown, and
// values of the wrong kind.
type valueCase struct {
	kind  string
	more  object
	good  []any
	shown []any
	wrong []any
}

// reads is how the good value at index i is shown.
func (c valueCase) reads(i int) any {
	if c.shown == nil {
		return c.good[i]
	}
	return c.shown[i]
}

var valueCases = []valueCase{
	{"text", nil, []any{"é", strings.Repeat("é", 255), ""}, nil, []any{1, true, []string{"x"}, object{}}},
	{"textarea", nil, []any{"a\nb", strings.Repeat("x", 5000)}, nil, []any{1, []string{}}},
	{"wysiwyg", nil, []any{"<b>x</b>", strings.Repeat("x", 64<<10)}, nil, []any{1}},
	{"dropdown", object{"options": []string{"S", "M"}}, []any{"S", "M"}, nil, []any{"XL", "s", 1, []string{"S"}, ""}},
	{"dropdown", object{"options": []string{"S", "M"}, "multiple": true}, []any{[]any{"M", "S"}, []any{"S"}}, nil,
		[]any{"S", []string{"S", "XL"}, []any{1}}},
	{"checkbox", nil, []any{true, false}, nil, []any{"true", 1, 0}},
	{"date", nil, []any{"2027-05-11", "2028-02-29"}, nil, []any{"2027-02-29", "11.05.2027", "2027-5-1", "2027-05-11T00:00:00Z", 20270511}},
	{"datetime", nil,
		[]any{"2027-05-11T09:30:00-05:00", "2027-05-11T14:30:00Z", "2027-05-11T09:30:00", "2027-01-11T09:30:00", "2027-05-11T16:30:00+02:00"},
		[]any{"2027-05-11T09:30:00-05:00", "2027-05-11T09:30:00-05:00", "2027-05-11T09:30:00-05:00", "2027-01-11T09:30:00-06:00", "2027-05-11T09:30:00-05:00"},
		[]any{"tomorrow", "2027-05-11", 1, "2027-13-11T09:30:00Z", "2027-05-11T25:30:00"}},
	{"number", nil, []any{0.0, -1.5, 1e15}, nil, []any{"1", true, []int{1}}},
	{"currency", nil, []any{12.34}, nil, []any{"12.34", "EUR 3"}},
	{"email", nil, []any{"ann@example.org"}, nil, []any{"ann", "Ann <ann@example.org>", 1}},
	{"phone", nil, []any{"+49 30 1234567"}, nil, []any{"phone", 491234}},
	{"file", nil, []any{"https://example.org/a.pdf"}, nil, []any{"a.pdf", "ftp://example.org/a", 1}},
	{"countries", nil, []any{"DE", "276"}, nil, []any{"Atlantis", 276, []string{"DE"}}},
	{"languages", nil, []any{"de", "pt-BR"}, nil, []any{"German!", 1}},
}

func TestValuesOfEveryType(t *testing.T) {
	d := newDesk(t)
	for i, c := range valueCases {
		name := d.field("Field "+strings.Repeat("i", i), c.kind, c.more)
		id := d.titled("A")[0]
		for j, good := range c.good {
			want := c.reads(j)
			require.Equal(t, want, d.fields(200, id, object{name: good}).value(name), "%s %v", c.kind, good)
			require.Equal(t, want, d.get(200, id).value(name))
			made := d.create(200, object{"title": "B", "custom_fields": object{name: good}})
			require.Equal(t, want, made.value(name))
			require.Equal(t, c.kind, made.list("custom_fields")[0]["type"])
			d.remove(200, made.id())
		}
		kept := d.get(200, id)
		for _, wrong := range c.wrong {
			isRefused(t, d.fields(400, id, object{name: wrong}), "TYPE_MISMATCH", name)
			isRefused(t, d.put(400, id, object{"title": "B", "custom_fields": object{name: wrong}}), "TYPE_MISMATCH", name)
			isRefused(t, d.create(400, object{"title": "B", "custom_fields": object{name: wrong}}), "TYPE_MISMATCH", name)
		}
		require.Equal(t, kept, d.get(200, id))
	}
}

func TestValuesThatAreTooLong(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	for kind, tooLong := range map[string]string{
		"text": strings.Repeat("é", 256), "textarea": strings.Repeat("x", 5001), "wysiwyg": strings.Repeat("x", 64<<10+1),
		"file": "https://example.org/" + strings.Repeat("x", 250), "email": strings.Repeat("x", 250) + "@example.org",
	} {
		name := d.field(kind, kind)
		isInvalid(t, d.fields(400, id, object{name: tooLong}), name)
	}
}

func TestDatetimesOfAnEventWithoutTimezone(t *testing.T) {
	d := newDesk(t)
	event := d.Operator(t, "event-create", object{
		"org_id": d.Org, "name": "Nowhere", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T14:00:00Z",
	})
	d = &desk{d.In(int64(event["id"].(float64))), t}
	at, day := d.field("At", "datetime"), d.field("Day", "date")
	made := d.create(200, object{"title": "A", "custom_fields": object{at: "2027-05-11T09:30:00-05:00", day: "2027-05-11"}})
	require.Equal(t, "2027-05-11T14:30:00Z", made.value(at), "UTC with a trailing Z")
	require.Equal(t, "2027-05-11", made.value(day), "date-only values are unchanged")
	isInvalid(t, d.fields(400, made.id(), object{at: "2027-05-11T09:30:00"}), at)
	d.done("event-update", object{"timezone": "Asia/Kolkata"})
	require.Equal(t, "2027-05-11T20:00:00+05:30", d.get(200, made.id()).value(at), "a new timezone is seen at once")
	require.Equal(t, "2027-05-11T20:00:00+05:30", d.search(object{}).Results[0].value(at))
	require.Equal(t, "2027-05-11", d.get(200, made.id()).value(day))
	d.done("event-update", object{"timezone": "UTC"})
	require.Equal(t, "2027-05-11T14:30:00+00:00", d.get(200, made.id()).value(at), "UTC is a zone: with its offset")
}

func TestUserValuesNameAMember(t *testing.T) {
	d := newDesk(t)
	name := d.field("Owner", "user")
	id := d.titled("A")[0]
	require.Equal(t, float64(d.Member), d.fields(200, id, object{name: d.Member}).value(name))
	stranger := d.NewOrganization(t).Member
	for _, wrong := range []any{"me", stranger, 999_999_999, 1.5, -1, true} {
		isRefused(t, d.fields(400, id, object{name: wrong}), "TYPE_MISMATCH", name)
	}
}

func TestValuesStayUntilCleared(t *testing.T) {
	d := newDesk(t)
	a, b := d.field("A", "text"), d.field("B", "number")
	made := d.create(200, object{"title": "x", "custom_fields": object{b: 1, a: "one"}})
	require.Equal(t, []any{a, b}, column(made.list("custom_fields"), "internal_name"))
	require.Equal(t, []any{made["created_at"], made["created_at"]}, column(made.list("custom_fields"), "created_at"))
	time.Sleep(2 * time.Millisecond)
	changed := d.fields(200, made.id(), object{a: "two"})
	require.Equal(t, "two", changed.value(a))
	require.Equal(t, 1.0, changed.value(b), "what is not sent stays")
	require.Equal(t, made["created_at"], changed.list("custom_fields")[0]["created_at"], "when it was first set")
	require.Greater(t, changed["updated_at"], made["updated_at"])
	changed = d.fields(200, made.id(), object{a: nil})
	require.Len(t, changed.list("custom_fields"), 1, "only fields that have a value")
	changed = d.fields(200, made.id(), object{a: "three"})
	require.Equal(t, changed["updated_at"], changed.list("custom_fields")[0]["created_at"])
	require.Equal(t, changed["custom_fields"], d.fields(200, made.id(), object{})["custom_fields"])
	both := d.send(200, "PUT", "/sessions/"+made.id()+"/fields", object{"custom_fields": object{a: "four"}})
	require.Equal(t, "four", both.value(a), "custom_fields is tolerated for values")
	d.put(200, made.id(), object{"custom_fields": object{a: nil, b: nil}})
	require.Empty(t, d.get(200, made.id()).list("custom_fields"))
}

func TestUnknownAndReadOnlyFields(t *testing.T) {
	d := newDesk(t)
	mine, owned := d.field("Mine", "text"), d.connectorField("Theirs")
	id := d.titled("A")[0]
	contact := d.send(200, "POST", "/fields/create", object{"name": "Shoe", "type": "text", "module_id": "contact"}).text("internal_name")
	for _, name := range []string{"nothing", "", "Mine", "title", uuid.NewString(), contact, strings.Repeat("x", 1000)} {
		for _, value := range []any{"x", nil} {
			isRefused(t, d.fields(400, id, object{mine: "x", name: value}), "FIELD_NOT_FOUND", name)
			isRefused(t, d.create(400, object{"title": "B", "custom_fields": object{name: value}}), "FIELD_NOT_FOUND", name)
		}
	}
	for _, value := range []any{"x", nil, 1} {
		isRefused(t, d.fields(400, id, object{mine: "x", owned: value}), "FIELD_READ_ONLY", owned)
		isRefused(t, d.put(400, id, object{"title": "B", "custom_fields": object{owned: value}}), "FIELD_READ_ONLY", owned)
		isRefused(t, d.create(400, object{"title": "B", "custom_fields": object{owned: value}}), "FIELD_READ_ONLY", owned)
	}
	session := d.get(200, id)
	require.Equal(t, "A", session["title"], "nothing else in the request was written")
	require.Empty(t, session.list("custom_fields"))
	require.Equal(t, 1, d.search(object{}).Pagination.TotalResults)
	isRefused(t, d.elsewhere().create(400, object{"title": "B", "custom_fields": object{mine: "x"}}), "FIELD_NOT_FOUND", mine)
}

func TestADeletedFieldTakesItsValuesAlong(t *testing.T) {
	d := newDesk(t)
	name := d.field("Note", "text")
	made := d.create(200, object{"title": "A", "custom_fields": object{name: "x"}})
	d.drop("fields", made.list("custom_fields")[0].id())
	require.Empty(t, d.get(200, made.id()).list("custom_fields"))
	require.Empty(t, d.search(object{}).Results[0].list("custom_fields"))
	isRefused(t, d.fields(400, made.id(), object{name: "y"}), "FIELD_NOT_FOUND", name)
	require.Equal(t, name, d.field("Note", "number"))
	require.Empty(t, d.get(200, made.id()).list("custom_fields"), "a field made again starts empty")
	require.Equal(t, 3.0, d.fields(200, made.id(), object{name: 3}).value(name))
}
