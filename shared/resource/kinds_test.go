package resource_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/operator"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/maintain"
	"lectern/shared/resource"
)

// TestEveryKindIsASubject: each operation that lists the records of a kind that clients create has a subject, and
// each subject an operation.
func TestEveryKindIsASubject(t *testing.T) {
	operations := append(it.Operations(), testGroup.Operations...)
	memos := slices.IndexFunc(operations, func(op api.Operation) bool { return op.ID == "listMemos" })
	var listed, tested []string
	for _, op := range operations {
		created := slices.ContainsFunc(operations, func(other api.Operation) bool { return other.Path == op.Path+"/create" })
		if created && strings.HasPrefix(op.Description, operations[memos].Description) {
			listed = append(listed, op.Path)
		}
	}
	for _, s := range subjects {
		tested = append(tested, s.path)
		require.NotEmpty(t, s.id, s.kind)
		require.Equal(t, s.child, s.parent() != nil, s.kind)
	}
	require.ElementsMatch(t, listed, tested, "a kind with routes must be in subjects")
}

func TestWrongInputsOfRecords(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		made := d.create(200, d.body)
		id := made.ID()
		for _, w := range d.wrong {
			it.RequireError(t, d.put(400, id, w.body), "VALIDATION_ERROR", w.field)
			if d.kind != "rule" || w.field != "type" || entity(w.body).Text("type") == "" {
				it.RequireError(t, d.create(400, it.Merged(d.body, w.body)), "VALIDATION_ERROR", w.field)
			}
		}
		for _, name := range d.required {
			body := it.Merged(d.body)
			delete(body, name)
			it.RequireError(t, d.create(400, body), "VALIDATION_ERROR", name)
		}
		for _, body := range []string{"[]", "{", `"x"`} {
			it.RequireError(t, d.create(400, body), "VALIDATION_ERROR", "")
			it.RequireError(t, d.put(400, id, body), "VALIDATION_ERROR", "")
		}
		for _, method := range d.methods() {
			body := map[bool]any{true: d.change}[method == http.MethodPut]
			it.RequireError(t, d.Call(t, 400, method, d.at("7"), body).JSON(t), "VALIDATION_ERROR", d.id)
		}
		require.Equal(t, []entity{made}, d.all())
		d.put(200, id, it.Merged(d.change, object{"unknown": 1, "id": "x", "created_at": nil}))
	})
}

// TestARecordHasABoundedSize in all.
func TestARecordHasABoundedSize(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.kind == "memo" }, func(t *testing.T, d *desk) {
		it.RequireError(t, d.create(400, object{"text": strings.Repeat("x", 25<<10)}), "VALIDATION_ERROR", "")
		id := d.made(strings.Repeat("x", 23<<10))
		it.RequireError(t, d.put(400, id, object{"text": strings.Repeat("é", 13<<10)}), "VALIDATION_ERROR", "")
	})
}

func TestAUniqueValue(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.unique != "" && s.restore }, func(t *testing.T, d *desk) {
		field := d.unique
		code := "DUPLICATE_" + strings.ToUpper(field)
		first, second := d.made("A"), d.made("B")
		it.RequireError(t, d.create(409, d.fresh("A")), code, field)
		it.RequireError(t, d.put(409, second, d.fresh("A")), code, field)
		d.put(200, first, d.fresh("A"))
		d.put(200, first, d.fresh("C"))
		third := d.made("A")
		it.RequireError(t, d.put(409, first, d.fresh("A")), code, field)
		d.remove(200, third)
		d.put(200, first, d.fresh("A"))
		it.RequireError(t, d.restored(409, third), code, field)
		d.remove(200, first)
		d.restored(200, third)
		answers := together(t, 8, func(int) (stacktest.Answer, error) {
			return d.Send(t, http.MethodPost, d.collection()+"/create", d.fresh("New"))
		})
		require.Equal(t, map[int]int{200: 1, 409: 7}, statuses(answers))
		if d.child {
			d.under(d.newParent("Other")).made("A")
		}
		other := d.as(d.NewOrganization(t))
		other.owner = other.newParent("There")
		other.made("A")
	})
}

func TestARecordBelongsToItsParent(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.child }, func(t *testing.T, d *desk) {
		own, gone := d.made("Own"), d.made("Gone")
		d.remove(200, gone)
		other := d.under(d.newParent("Other"))
		require.Empty(t, other.all())
		other.get(404, own)
		other.put(404, own, d.change)
		other.remove(404, own)
		if d.restore {
			require.Equal(t, d.title+" not found", other.restored(404, gone)["message"])
		}

		nowhere := d.under(uuid.NewString())
		body := d.fresh("New")
		calls := []struct {
			method, path string
			body         any
		}{
			{http.MethodGet, "", nil}, {http.MethodGet, "/" + own, nil}, {http.MethodPut, "/" + own, d.change}, {http.MethodDelete, "/" + own, nil},
			{http.MethodPost, "/create", body}, {http.MethodPost, "/" + gone + "/restore", nil},
		}
		if !d.restore {
			calls = calls[:5]
		}
		for _, c := range calls {
			require.Equal(t, d.parents().title+" not found", d.Call(t, 404, c.method, nowhere.collection()+c.path, c.body).JSON(t)["message"])
		}
		it.RequireError(t, d.Call(t, 400, http.MethodGet, d.under("x").collection(), nil).JSON(t), "VALIDATION_ERROR", d.parents().id)

		parent := d.parents().at(d.owner)
		d.Call(t, 200, http.MethodDelete, parent+"?force=true", nil)
		for _, c := range calls[:4] {
			require.Equal(t, d.parents().title+" not found", d.Call(t, 404, c.method, d.collection()+c.path, c.body).JSON(t)["message"])
		}
		for _, c := range calls[4:] {
			require.Equal(t, "PARENT_DELETED", d.Call(t, 409, c.method, d.collection()+c.path, c.body).JSON(t)["code"])
		}
		if !d.restore {
			return
		}
		d.Call(t, 200, http.MethodPost, parent+"/restore", nil)
		require.Equal(t, []string{own}, it.Texts(d.all(), "id"))
		d.restored(200, gone)
		require.Len(t, d.all(), 2)
	})
}

// TestADeletionThatOthersDependOnIsForced, otherwise it is a 409.
func TestADeletionThatOthersDependOnIsForced(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.child && s.parent().forced && s.restore }, func(t *testing.T, d *desk) {
		parent := d.parents().at(d.owner)
		first, second := d.made("A"), d.made("B")
		refusal := entity(d.Call(t, 409, http.MethodDelete, parent, nil).JSON(t))
		require.Equal(t, "CONFIRMATION_REQUIRED", refusal["code"])
		require.Equal(t, 2.0, refusal.At("details.count"))
		require.NotEmpty(t, refusal.At("details.reason"))
		d.Call(t, 409, http.MethodDelete, parent+"?force=false", nil)
		it.RequireError(t, d.Call(t, 400, http.MethodDelete, parent+"?force=yes", nil).JSON(t), "VALIDATION_ERROR", "force")
		stale := d.Call(t, 409, http.MethodDelete, parent+"?force=true", stacktest.WithHeaders(nil, "If-Match", `"9"`))
		require.Equal(t, "STALE_UPDATE", stale.JSON(t)["code"])
		d.Call(t, 200, http.MethodDelete, parent+"?force=true", nil)
		d.Call(t, 200, http.MethodPost, parent+"/restore", nil)
		d.remove(200, first)
		d.Call(t, 409, http.MethodDelete, parent, nil)
		d.remove(200, second)
		d.Call(t, 200, http.MethodDelete, parent, nil)
	})
}

// TestAParentIsNotDeletedBesideANewRecord: of both at one time either the deletion is
// refused or the record.
func TestAParentIsNotDeletedBesideANewRecord(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.child && s.parent().forced && s.restore }, func(t *testing.T, d *desk) {
		for i := range 12 {
			d := d.under(d.newParent(fmt.Sprint("Parent ", i)))
			parent := d.parents().at(d.owner)
			answers := together(t, 2, func(i int) (stacktest.Answer, error) {
				if i == 0 {
					return d.Send(t, http.MethodDelete, parent, nil)
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
		id := made.ID()
		require.Equal(t, d.title+" not found", d.restored(404, id)["message"])
		d.restored(404, uuid.NewString())
		gone := d.remove(200, id)
		require.Equal(t, "STALE_UPDATE", d.restored(409, id, "If-Match", `"1"`)["code"])
		back := d.restored(200, id, "If-Match", `"2"`)
		require.Greater(t, back.Text("updated_at"), gone.Text("updated_at"))
		require.NotContains(t, back, "deleted_at")
		require.Equal(t, back, d.get(200, id))
		back["updated_at"] = made["updated_at"]
		require.Equal(t, made, back)

		d.remove(200, id)
		path := d.at(id) + "/restore"
		first := d.Call(t, 200, http.MethodPost, path, stacktest.WithHeaders(nil, it.KeyHeader, "k"))
		again := d.Call(t, 200, http.MethodPost, path, stacktest.WithHeaders(nil, it.KeyHeader, "k"))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, string(first.Body), string(again.Body))
		d.remove(200, id)
		late := d.instance(func(env *api.Env) {
			env.Now = func() time.Time { return time.Now().Add(resource.Keep + time.Minute) }
		})
		late.restored(404, id)
		d.restored(200, id)
	})
}

func TestPagesOfRecords(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.paged }, func(t *testing.T, d *desk) {
		type page struct {
			Results    []entity
			Pagination struct{ CurrentPage, PageSize, TotalPages, TotalResults int }
		}
		read := func(query string) (p page) {
			d.Call(t, 200, http.MethodGet, d.collection()+query, nil).Into(t, &p)
			return p
		}
		made := it.Texts(read("").Results, "id") // A program begins with a round.
		require.Len(t, made, map[bool]int{true: 1}[d.kind == "award_round"])
		if len(made) == 0 {
			require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`,
				string(d.Call(t, 200, http.MethodGet, d.collection(), nil).Body))
		}
		for i := range 5 - len(made) {
			made = append(made, d.made(fmt.Sprint("Record ", i)))
		}
		require.Equal(t, made, it.Texts(read("").Results, "id"))
		second := read("?page=2&" + d.size + "=2")
		require.Equal(t, made[2:4], it.Texts(second.Results, "id"))
		require.Equal(t, struct{ CurrentPage, PageSize, TotalPages, TotalResults int }{2, 2, 3, 5}, second.Pagination)
		require.Empty(t, read("?page=4&"+d.size+"=2").Results)
		for _, query := range []string{"page=0", d.size + "=101", "page=x"} {
			name, _, _ := strings.Cut(query, "=")
			it.RequireError(t, d.Call(t, 400, http.MethodGet, d.collection()+"?"+query, nil).JSON(t), "VALIDATION_ERROR", name)
		}
	})
}

// TestATooLongRecordIsRefusedFirst by the 400 of the body, before the conflict of a stale update.
func TestATooLongRecordIsRefusedFirst(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.kind == "memo" }, func(t *testing.T, d *desk) {
		id, long := d.made("One"), strings.Repeat("x", 25_000)
		stale := object{"text": long, "updated_at": "2020-01-01T00:00:00Z"}
		require.Contains(t, d.put(400, id, stale)["message"], "must not be longer than 24576 bytes")
		require.Contains(t, d.create(400, object{"text": long})["message"], "must not be longer than 24576 bytes")
		require.Equal(t, "One", d.get(200, id)["text"])
	})
}

// TestPostOnTheCollectionDoesAsCreate where the routes have it; otherwise it is a 405.
func TestPostOnTheCollectionDoesAsCreate(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.post }, func(t *testing.T, d *desk) {
		first := d.Call(t, 200, http.MethodPost, d.collection(), stacktest.WithHeaders(d.body, it.KeyHeader, "k"))
		again := d.Call(t, 200, http.MethodPost, d.collection(), stacktest.WithHeaders(d.body, it.KeyHeader, "k"))
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, string(first.Body), string(again.Body))
		made := entity(first.JSON(t))
		require.Equal(t, []entity{made, d.get(200, d.made("Second"))}, d.all())
		it.RequireError(t, d.Call(t, 400, http.MethodPost, d.collection(), it.Merged(d.body, d.wrong[0].body)).JSON(t), "VALIDATION_ERROR", d.wrong[0].field)
	})
	forKinds(t, func(s subject) bool { return !s.post }, func(t *testing.T, d *desk) {
		d.Call(t, 405, http.MethodPost, d.collection(), d.body)
	})
}

func TestPatchDoesAsPut(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.patch }, func(t *testing.T, d *desk) {
		made := d.create(200, d.body)
		path := d.at(made.ID())
		changed := d.Call(t, 200, http.MethodPatch, path, d.change).JSON(t)
		require.Equal(t, it.Merged(object(made), d.change, object{"updated_at": changed["updated_at"]}), changed)
		it.RequireError(t, d.Call(t, 400, http.MethodPatch, path, d.wrong[0].body).JSON(t), "VALIDATION_ERROR", d.wrong[0].field)
		d.Call(t, 409, http.MethodPatch, path, it.Merged(d.change, object{"updated_at": made["updated_at"]}))
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
		gone := d.create(200, d.fresh("Gone"), it.KeyHeader, "k").ID()
		d.remove(200, gone)
		require.Zero(t, d.maintained(29))
		require.NotEmpty(t, d.create(200, d.fresh("Gone"), it.KeyHeader, "k")["deleted_at"])
		below := 0
		if !d.child {
			below = d.beside
		}
		require.Equal(t, int64(1+below), d.maintained(31))
		require.Zero(t, d.maintained(31))
		require.Equal(t, []string{kept}, it.Texts(d.all(), "id"))
		require.Equal(t, d.title+" not found", d.create(404, d.fresh("Gone"), it.KeyHeader, "k")["message"])
		if d.restore {
			d.restored(404, gone)
		}
		it.EngineOf(t, d.Stack).RequireWhole(t)
	})
}

// TestAPurgedParentTakesItsRecordsWithIt, deleted and not, with what they hold.
func TestAPurgedParentTakesItsRecordsWithIt(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.child }, func(t *testing.T, d *desk) {
		parent := d.parents().at(d.owner)
		other := d.under(d.newParent("Stays"))
		stays := other.made("A")
		d.made("A")
		d.made("B")
		d.remove(200, d.made("C"))
		d.Call(t, 200, http.MethodDelete, parent+"?force=true", nil)
		require.Zero(t, d.maintained(29))
		require.Equal(t, int64(4+d.beside), d.maintained(31))
		it.EngineOf(t, d.Stack).RequireWhole(t)
		d.Call(t, 404, http.MethodGet, parent, nil)
		require.Equal(t, []string{stays}, it.Texts(other.all(), "id"))
		owner := resource.Owner{Org: d.Org, Event: d.event(), Parent: d.owner}
		for item, err := range d.Table(t).Between(t.Context(), owner.Partition(), "A", "~") {
			require.NoError(t, err)
			t.Errorf("%s is left", item.SK)
		}
	})
}
