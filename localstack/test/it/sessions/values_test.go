package sessions_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

func TestValuesOfEveryType(t *testing.T) {
	d := it.NewClient(t)
	for i, c := range it.ValueCases {
		name := d.NewField("Field "+strings.Repeat("i", i), c.Kind, c.More)
		id := d.NewSessions("A")[0]
		for j, good := range c.Good {
			want := c.Reads(j)
			require.Equal(t, want, d.PutFields(200, id, object{name: good}).FieldValue(name), "%s %v", c.Kind, good)
			require.Equal(t, want, d.Get(200, id).FieldValue(name))
			made := d.Create(200, object{"title": "B", "custom_fields": object{name: good}})
			require.Equal(t, want, made.FieldValue(name))
			require.Equal(t, c.Kind, made.List("custom_fields")[0]["type"])
			d.Delete(200, made.ID())
		}
		kept := d.Get(200, id)
		for _, wrong := range c.Wrong {
			it.RequireError(t, d.PutFields(400, id, object{name: wrong}), "TYPE_MISMATCH", name)
			it.RequireError(t, d.Put(400, id, object{"title": "B", "custom_fields": object{name: wrong}}), "TYPE_MISMATCH", name)
			it.RequireError(t, d.Create(400, object{"title": "B", "custom_fields": object{name: wrong}}), "TYPE_MISMATCH", name)
		}
		require.Equal(t, kept, d.Get(200, id))
	}
}

func TestValuesThatAreTooLong(t *testing.T) {
	d := it.NewClient(t)
	id := d.NewSessions("A")[0]
	for kind, tooLong := range map[string]string{
		"text": strings.Repeat("é", 256), "textarea": strings.Repeat("x", 5001), "wysiwyg": strings.Repeat("x", 64<<10+1),
		"file": "https://example.org/" + strings.Repeat("x", 250), "email": strings.Repeat("x", 250) + "@example.org",
	} {
		name := d.NewField(kind, kind)
		it.RequireInvalid(t, d.PutFields(400, id, object{name: tooLong}), name)
	}
}

func TestDatetimesOfAnEventWithoutTimezone(t *testing.T) {
	d := it.NewClient(t)
	event := d.Operator(t, "event-create", object{
		"org_id": d.Org, "name": "Nowhere", "starts_at": "2027-05-11T14:00:00Z", "ends_at": "2027-05-13T14:00:00Z",
	})
	d = &it.Client{Stack: d.In(int64(event["id"].(float64))), T: t}
	at, day := d.NewField("At", "datetime"), d.NewField("Day", "date")
	made := d.Create(200, object{"title": "A", "custom_fields": object{at: "2027-05-11T09:30:00-05:00", day: "2027-05-11"}})
	require.Equal(t, "2027-05-11T14:30:00Z", made.FieldValue(at), "UTC with a trailing Z")
	require.Equal(t, "2027-05-11", made.FieldValue(day), "date-only values are unchanged")
	it.RequireInvalid(t, d.PutFields(400, made.ID(), object{at: "2027-05-11T09:30:00"}), at)
	d.Command("event-update", object{"timezone": "Asia/Kolkata"})
	require.Equal(t, "2027-05-11T20:00:00+05:30", d.Get(200, made.ID()).FieldValue(at), "a new timezone is seen at once")
	require.Equal(t, "2027-05-11T20:00:00+05:30", d.Search(object{}).Results[0].FieldValue(at))
	require.Equal(t, "2027-05-11", d.Get(200, made.ID()).FieldValue(day))
	d.Command("event-update", object{"timezone": "UTC"})
	require.Equal(t, "2027-05-11T14:30:00+00:00", d.Get(200, made.ID()).FieldValue(at), "UTC is a zone: with its offset")
}

func TestUserValuesNameAMember(t *testing.T) {
	d := it.NewClient(t)
	name := d.NewField("Owner", "user")
	id := d.NewSessions("A")[0]
	require.Equal(t, float64(d.Member), d.PutFields(200, id, object{name: d.Member}).FieldValue(name))
	stranger := d.NewOrganization(t).Member
	for _, wrong := range []any{"me", stranger, 999_999_999, 1.5, -1, true} {
		it.RequireError(t, d.PutFields(400, id, object{name: wrong}), "TYPE_MISMATCH", name)
	}
}

func TestValuesStayUntilCleared(t *testing.T) {
	d := it.NewClient(t)
	a, b := d.NewField("A", "text"), d.NewField("B", "number")
	made := d.Create(200, object{"title": "x", "custom_fields": object{b: 1, a: "one"}})
	require.Equal(t, []any{a, b}, it.Column(made.List("custom_fields"), "internal_name"))
	require.Equal(t, []any{made["created_at"], made["created_at"]}, it.Column(made.List("custom_fields"), "created_at"))
	time.Sleep(2 * time.Millisecond)
	changed := d.PutFields(200, made.ID(), object{a: "two"})
	require.Equal(t, "two", changed.FieldValue(a))
	require.Equal(t, 1.0, changed.FieldValue(b), "what is not sent stays")
	require.Equal(t, made["created_at"], changed.List("custom_fields")[0]["created_at"], "when it was first set")
	require.Greater(t, changed["updated_at"], made["updated_at"])
	changed = d.PutFields(200, made.ID(), object{a: nil})
	require.Len(t, changed.List("custom_fields"), 1, "only fields that have a value")
	changed = d.PutFields(200, made.ID(), object{a: "three"})
	require.Equal(t, changed["updated_at"], changed.List("custom_fields")[0]["created_at"])
	require.Equal(t, changed["custom_fields"], d.PutFields(200, made.ID(), object{})["custom_fields"])
	both := d.Do(200, "PUT", "/sessions/"+made.ID()+"/fields", object{"custom_fields": object{a: "four"}})
	require.Equal(t, "four", both.FieldValue(a), "custom_fields is tolerated for values")
	d.Put(200, made.ID(), object{"custom_fields": object{a: nil, b: nil}})
	require.Empty(t, d.Get(200, made.ID()).List("custom_fields"))
}

func TestUnknownAndReadOnlyFields(t *testing.T) {
	d := it.NewClient(t)
	mine, owned := d.NewField("Mine", "text"), d.NewConnectorField("Theirs")
	id := d.NewSessions("A")[0]
	contact := d.Do(200, "POST", "/fields/create", object{"name": "Shoe", "type": "text", "module_id": "contact"}).Text("internal_name")
	for _, name := range []string{"nothing", "", "Mine", "title", uuid.NewString(), contact, strings.Repeat("x", 1000)} {
		for _, value := range []any{"x", nil} {
			it.RequireError(t, d.PutFields(400, id, object{mine: "x", name: value}), "FIELD_NOT_FOUND", name)
			it.RequireError(t, d.Create(400, object{"title": "B", "custom_fields": object{name: value}}), "FIELD_NOT_FOUND", name)
		}
	}
	for _, value := range []any{"x", nil, 1} {
		it.RequireError(t, d.PutFields(400, id, object{mine: "x", owned: value}), "FIELD_READ_ONLY", owned)
		it.RequireError(t, d.Put(400, id, object{"title": "B", "custom_fields": object{owned: value}}), "FIELD_READ_ONLY", owned)
		it.RequireError(t, d.Create(400, object{"title": "B", "custom_fields": object{owned: value}}), "FIELD_READ_ONLY", owned)
	}
	session := d.Get(200, id)
	require.Equal(t, "A", session["title"], "nothing else in the request was written")
	require.Empty(t, session.List("custom_fields"))
	require.Equal(t, 1, d.Search(object{}).Pagination.TotalResults)
	it.RequireError(t, d.InNewEvent().Create(400, object{"title": "B", "custom_fields": object{mine: "x"}}), "FIELD_NOT_FOUND", mine)
}

func TestADeletedFieldTakesItsValuesAlong(t *testing.T) {
	d := it.NewClient(t)
	name := d.NewField("Note", "text")
	made := d.Create(200, object{"title": "A", "custom_fields": object{name: "x"}})
	d.DeleteRecord("fields", made.List("custom_fields")[0].ID())
	require.Empty(t, d.Get(200, made.ID()).List("custom_fields"))
	require.Empty(t, d.Search(object{}).Results[0].List("custom_fields"))
	it.RequireError(t, d.PutFields(400, made.ID(), object{name: "y"}), "FIELD_NOT_FOUND", name)
	require.Equal(t, name, d.NewField("Note", "number"))
	require.Empty(t, d.Get(200, made.ID()).List("custom_fields"), "a field made again starts empty")
	require.Equal(t, 3.0, d.PutFields(200, made.ID(), object{name: 3}).FieldValue(name))
}
