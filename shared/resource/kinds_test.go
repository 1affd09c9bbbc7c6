package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/maintain"
	"lectern/shared/resource"
)

func TestWrongInputsOfRecords(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		made := d.create(200, d.body)
		id := text(made, "id")
		for _, w := range d.wrong {
			refused(t, d.put(400, id, w.body), "VALIDATION_ERROR", w.field)
			if d.kind != "rule" || w.field != "type" || text(w.body, "type") == "" {
				refused(t, d.create(400, merged(d.body, w.body)), "VALIDATION_ERROR", w.field)
			}
		}
		for _, name := range d.required {
			body := merged(d.body, nil)
			delete(body, name)
			refused(t, d.create(400, body), "VALIDATION_ERROR", name)
		}
		for _, body := range []string{"[]", "{", `"x"`} {
			refused(t, d.create(400, body), "VALIDATION_ERROR", "")
			refused(t, d.put(400, id, body), "VALIDATION_ERROR", "")
		}
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			body := map[bool]any{true: d.change}[method == http.MethodPut]
			refused(t, d.Call(t, 400, method, d.at("7"), body).JSON(t), "VALIDATION_ERROR", d.id)
		}
		require.Equal(t, []object{made}, d.all())
		d.put(200, id, merged(d.change, object{"unknown": 1, "id": "x", "created_at": nil}))
	})
}

// merged is a body with the properties of another.
func merged(body, more object) object {
	all := object{}
	for _, part := range []object{body, more} {
		for name, value := range part {
			all[name] = value
		}
	}
	return all
}

// wrongNames are mistakes in a name.
func wrongNames() []wrong {
	return []wrong{
		{"name", object{"name": nil}}, {"name", object{"name": ""}}, {"name", object{"name": "  "}}, {"name", object{"name": 1}},
		{"name", object{"name": strings.Repeat("x", 256)}},
		{"config", object{"config": nil}}, {"config", object{"config": "x"}}, {"config", object{"config": []any{}}},
	}
}

// wrongRules are mistakes in a rule of the type min_gap_minutes.
func wrongRules() []wrong {
	return append(wrongNames(), []wrong{
		{"type", object{"type": nil}}, {"type", object{"type": ""}}, {"type", object{"type": 7}}, {"type", object{"type": "free_text"}},
		{"enabled", object{"enabled": nil}}, {"enabled", object{"enabled": "yes"}},
		{"config.minutes", object{"config": object{}}}, {"config.minutes", object{"config": object{"minutes": 0}}},
		{"config.minutes", object{"config": object{"minutes": "15"}}}, {"config.minutes", object{"config": object{"minutes": 1.5}}},
		{"config.minutes", object{"config": object{"minutes": 1441}}},
		{"config", object{"config": object{"minutes": 5, "more": strings.Repeat("x", 17<<10)}}},
	}...)
}

func wrongPersonas() []wrong {
	of := func(name string, value any) wrong {
		return wrong{"config." + name, object{"config": object{name: value}}}
	}
	four := []string{"a", "b", "c", "d"}
	return append(wrongNames(), []wrong{
		{"description", object{"description": 1}}, {"description", object{"description": strings.Repeat("x", 2001)}},
		of("role", 1), of("role", strings.Repeat("x", 256)), of("role", nil), of("biography", strings.Repeat("x", 2001)),
		of("feedback_style", "kind"), of("feedback_style", nil), of("likes", four), of("dislikes", four), of("likes", "tea"), of("likes", nil),
		{"config.likes[1]", object{"config": object{"likes": []any{"tea", ""}}}},
		{"config.dislikes[0]", object{"config": object{"dislikes": []any{1}}}},
		{"config.likes[0]", object{"config": object{"likes": []any{strings.Repeat("x", 256)}}}},
	}...)
}

// TestARecordHasABoundedSize in all.
func TestARecordHasABoundedSize(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.kind == "memo" }, func(t *testing.T, d *desk) {
		refused(t, d.create(400, object{"text": strings.Repeat("x", 25<<10)}), "VALIDATION_ERROR", "")
		id := d.made(strings.Repeat("x", 23<<10))
		refused(t, d.put(400, id, object{"text": strings.Repeat("é", 13<<10)}), "VALIDATION_ERROR", "")
	})
}

func TestAUniqueValue(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.unique }, func(t *testing.T, d *desk) {
		code := "DUPLICATE_TEXT"
		first, second := d.made("A"), d.made("B")
		refused(t, d.create(409, d.fresh("A")), code, "text")
		refused(t, d.put(409, second, d.fresh("A")), code, "text")
		d.put(200, first, d.fresh("A"))
		d.put(200, first, d.fresh("C"))
		third := d.made("A")
		refused(t, d.put(409, first, d.fresh("A")), code, "text")
		d.remove(200, third)
		d.put(200, first, d.fresh("A"))
		refused(t, d.restored(409, third), code, "text")
		d.remove(200, first)
		d.restored(200, third)
		answers := together(t, 8, func(int) (stacktest.Answer, error) {
			return d.Send(t, http.MethodPost, d.collection()+"/create", d.fresh("New"))
		})
		require.Equal(t, map[int]int{200: 1, 409: 7}, statuses(answers))
		if d.parent {
			d.under(d.newTopic("Other")).made("A")
		}
		other := d.as(d.NewOrganization(t))
		other.topic = other.newTopic("There")
		other.made("A")
	})
}

func TestARecordBelongsToItsParent(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.parent }, func(t *testing.T, d *desk) {
		own, gone := d.made("Own"), d.made("Gone")
		d.remove(200, gone)
		other := d.under(d.newTopic("Other"))
		require.Empty(t, other.all())
		other.get(404, own)
		other.put(404, own, d.change)
		other.remove(404, own)
		require.Equal(t, "Reply not found", other.restored(404, gone)["message"])

		nowhere := d.under(uuid.NewString())
		body := d.fresh("New")
		calls := []struct {
			method, path string
			body         any
		}{
			{http.MethodGet, "", nil}, {http.MethodGet, "/" + own, nil}, {http.MethodPut, "/" + own, d.change}, {http.MethodDelete, "/" + own, nil},
			{http.MethodPost, "/create", body}, {http.MethodPost, "/" + gone + "/restore", nil},
		}
		for _, c := range calls {
			require.Equal(t, "Topic not found", d.Call(t, 404, c.method, nowhere.collection()+c.path, c.body).JSON(t)["message"])
		}
		refused(t, d.Call(t, 400, http.MethodGet, d.under("x").collection(), nil).JSON(t), "VALIDATION_ERROR", "topicId")

		topic := ofOrganization("")(d.Stack, "") + "/" + d.topic
		d.Call(t, 200, http.MethodDelete, topic+"?force=true", nil)
		for _, c := range calls[:4] {
			require.Equal(t, "Topic not found", d.Call(t, 404, c.method, d.collection()+c.path, c.body).JSON(t)["message"])
		}
		for _, c := range calls[4:] {
			require.Equal(t, "PARENT_DELETED", d.Call(t, 409, c.method, d.collection()+c.path, c.body).JSON(t)["code"])
		}
		d.Call(t, 200, http.MethodPost, topic+"/restore", nil)
		require.Equal(t, []string{own}, ids(d.all()))
		d.restored(200, gone)
		require.Len(t, d.all(), 2)
	})
}

// TestADeletionThatOthersDependOnIsForced, otherwise it is a 409.
func TestADeletionThatOthersDependOnIsForced(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.parent }, func(t *testing.T, d *desk) {
		topic := ofOrganization("")(d.Stack, "") + "/" + d.topic
		first, second := d.made("A"), d.made("B")
		refusal := d.Call(t, 409, http.MethodDelete, topic, nil).JSON(t)
		require.Equal(t, "CONFIRMATION_REQUIRED", refusal["code"])
		require.Equal(t, object{"reason": "has_replies", "count": 2.0}, refusal["details"])
		d.Call(t, 409, http.MethodDelete, topic+"?force=false", nil)
		refused(t, d.Call(t, 400, http.MethodDelete, topic+"?force=yes", nil).JSON(t), "VALIDATION_ERROR", "force")
		require.Equal(t, "STALE_UPDATE", d.Call(t, 409, http.MethodDelete, topic+"?force=true", stacktest.WithHeaders(nil, "If-Match", `"9"`)).JSON(t)["code"])
		d.Call(t, 200, http.MethodDelete, topic+"?force=true", nil)
		d.Call(t, 200, http.MethodPost, topic+"/restore", nil)
		d.remove(200, first)
		d.Call(t, 409, http.MethodDelete, topic, nil)
		d.remove(200, second)
		d.Call(t, 200, http.MethodDelete, topic, nil)
	})
}

// TestAParentIsNotDeletedBesideANewRecord: of both at one time either the deletion is
// refused or the record.
func TestAParentIsNotDeletedBesideANewRecord(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.parent }, func(t *testing.T, d *desk) {
		for i := range 12 {
			d := d.under(d.newTopic(fmt.Sprint("Topic ", i)))
			topic := ofOrganization("")(d.Stack, "") + "/" + d.topic
			answers := together(t, 2, func(i int) (stacktest.Answer, error) {
				if i == 0 {
					return d.Send(t, http.MethodDelete, topic, nil)
				}
				return d.Send(t, http.MethodPost, d.collection()+"/create", d.fresh("A"))
			})
			require.Equal(t, map[int]int{200: 1, 409: 1}, statuses(answers))
		}
	})
}

func TestADeletedRecordIsRestored(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.restore }, func(t *testing.T, d *desk) {
		made := d.create(200, d.body)
		id := text(made, "id")
		require.Equal(t, d.title+" not found", d.restored(404, id)["message"])
		d.restored(404, uuid.NewString())
		gone := d.remove(200, id)
		require.Equal(t, "STALE_UPDATE", d.restored(409, id, "If-Match", `"1"`)["code"])
		back := d.restored(200, id, "If-Match", `"2"`)
		require.Greater(t, text(back, "updated_at"), text(gone, "updated_at"))
		require.NotContains(t, back, "deleted_at")
		require.Equal(t, back, d.get(200, id))
		back["updated_at"] = made["updated_at"]
		require.Equal(t, made, back)

		d.remove(200, id)
		path := d.at(id) + "/restore"
		first := d.Call(t, 200, http.MethodPost, path, stacktest.WithHeaders(nil, key, "k"))
		again := d.Call(t, 200, http.MethodPost, path, stacktest.WithHeaders(nil, key, "k"))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, string(first.Body), string(again.Body))
		d.remove(200, id)
		late := d.door(func(env *api.Env) {
			env.Now = func() time.Time { return time.Now().Add(resource.Keep + time.Minute) }
		})
		late.restored(404, id)
		d.restored(200, id)
	})
}

func TestPagesOfRecords(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.paged }, func(t *testing.T, d *desk) {
		type page struct {
			Results    []object
			Pagination struct{ CurrentPage, PageSize, TotalPages, TotalResults int }
		}
		read := func(query string) (p page) {
			d.Call(t, 200, http.MethodGet, d.collection()+query, nil).Into(t, &p)
			return p
		}
		require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`,
			string(d.Call(t, 200, http.MethodGet, d.collection(), nil).Body))
		var made []string
		for i := range 5 {
			made = append(made, d.made(fmt.Sprint("Memo ", i)))
		}
		require.Equal(t, made, ids(read("").Results))
		second := read("?page=2&pageSize=2")
		require.Equal(t, made[2:4], ids(second.Results))
		require.Equal(t, struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{2, 2, 3, 5}, second.Pagination)
		require.Empty(t, read("?page=4&pageSize=2").Results)
		for _, query := range []string{"page=0", "pageSize=101", "page=x"} {
			name, _, _ := strings.Cut(query, "=")
			refused(t, d.Call(t, 400, http.MethodGet, d.collection()+"?"+query, nil).JSON(t), "VALIDATION_ERROR", name)
		}
	})
}

func TestPatchDoesAsPut(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.patch }, func(t *testing.T, d *desk) {
		made := d.create(200, d.body)
		path := d.at(text(made, "id"))
		changed := d.Call(t, 200, http.MethodPatch, path, d.change).JSON(t)
		require.Equal(t, merged(merged(made, d.change), object{"updated_at": changed["updated_at"]}), changed)
		refused(t, d.Call(t, 400, http.MethodPatch, path, d.wrong[0].body).JSON(t), "VALIDATION_ERROR", d.wrong[0].field)
		d.Call(t, 409, http.MethodPatch, path, with(d.change, "updated_at", made["updated_at"]))
	})
	forKinds(t, func(s subject) bool { return !s.patch }, func(t *testing.T, d *desk) {
		d.Call(t, 405, http.MethodPatch, d.at(d.made("A")), d.change)
	})
}

// maintained does the operator's maintenance as it will be done so many days from now, and
// returns how many small records it has purged.
func (d *desk) maintained(days int) int64 {
	d.t.Helper()
	env := d.Env(d.t)
	env.Now = func() time.Time { return time.Now().AddDate(0, 0, days) }
	purged := int64(0)
	for cursor := (&maintain.Cursor{}); cursor != nil; {
		input, err := json.Marshal(maintain.Input{Cursor: cursor})
		require.NoError(d.t, err)
		done, err := operator.New(env).Do(context.Background(), operator.Maintain, input)
		require.NoError(d.t, err)
		report, ok := done.(*maintain.Report)
		require.True(d.t, ok)
		require.Zero(d.t, report.Failed)
		purged, cursor = purged+report.Purged.Records, report.Cursor
	}
	return purged
}

func TestADeletedRecordIsPurgedAfterThirtyDays(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		kept := d.made("Kept")
		gone := text(d.create(200, d.fresh("Gone"), key, "k"), "id")
		d.remove(200, gone)
		require.Zero(t, d.maintained(29))
		require.NotEmpty(t, d.create(200, d.fresh("Gone"), key, "k")["deleted_at"])
		require.Equal(t, int64(1), d.maintained(31))
		require.Zero(t, d.maintained(31))
		require.Equal(t, []string{kept}, ids(d.all()))
		require.Equal(t, d.title+" not found", d.create(404, d.fresh("Gone"), key, "k")["message"])
		if d.restore {
			d.restored(404, gone)
		}
		whole(t, d.Stack)
	})
}

// TestAPurgedParentTakesItsRecordsWithIt, deleted and not, with what they hold.
func TestAPurgedParentTakesItsRecordsWithIt(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.parent }, func(t *testing.T, d *desk) {
		topic := ofOrganization("")(d.Stack, "") + "/" + d.topic
		other := d.under(d.newTopic("Stays"))
		stays := other.made("A")
		d.made("A")
		d.made("B")
		d.remove(200, d.made("C"))
		d.Call(t, 200, http.MethodDelete, topic+"?force=true", nil)
		require.Zero(t, d.maintained(29))
		require.Equal(t, int64(4), d.maintained(31))
		whole(t, d.Stack)
		d.Call(t, 404, http.MethodPost, topic+"/restore", nil)
		require.Equal(t, []string{stays}, ids(other.all()))
		owner := resource.Owner{Org: d.Org, Parent: d.topic}
		for item, err := range d.Table(t).Between(t.Context(), owner.Partition(), "A", "~") {
			require.NoError(t, err)
			t.Errorf("%s is left", item.SK)
		}
	})
}
