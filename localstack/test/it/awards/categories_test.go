package awards_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// tree makes categories of three levels and returns their ids, the highest first.
func tree(h *house) (top, middle, low string) {
	h.T.Helper()
	top = h.make("/categories", object{"name": "Software"}).ID()
	middle = h.make("/categories/"+top+"/subcategories", object{"name": "Games"}).ID()
	low = h.make("/categories/"+middle+"/subcategories/create", object{"name": "Puzzles"}).ID()
	return top, middle, low
}

func TestCategoriesStandBelowEachOther(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	top, middle, low := tree(h)
	whole := h.get("/categories/" + top)
	require.Equal(t, categoryShape, it.KeysOf(whole))
	require.Equal(t, []any{1.0, nil}, []any{whole["level"], whole["parent_category_id"]})
	below := whole.List("subcategories")
	require.Equal(t, []string{middle}, it.Texts(below, "id"))
	require.Equal(t, []string{low}, it.Texts(below[0].List("subcategories"), "id"))
	require.Equal(t, []entity{whole}, h.list("/categories"), "a list has the categories at the top")
	require.Equal(t, below, h.list("/categories/"+top+"/subcategories"))
	third := h.get("/categories/" + middle + "/subcategories/" + low)
	require.Equal(t, []any{3.0, middle, []any{}}, []any{third["level"], third["parent_category_id"], third["subcategories"]})
	require.Equal(t, third, h.get("/categories/"+low))

	deep := h.do(400, http.MethodPost, "/categories/"+low+"/subcategories", object{"name": "Too deep"})
	it.RequireError(t, deep, "VALIDATION_ERROR", "parent_category_id")
	it.RequireError(t, h.do(400, http.MethodPost, "/categories", object{"name": "x", "parent_category_id": uuid.NewString()}), "VALIDATION_ERROR", "parent_category_id")
	it.RequireError(t, h.do(400, http.MethodPost, "/categories/"+top+"/subcategories", object{"name": "x", "parent_category_id": middle}),
		"VALIDATION_ERROR", "parent_category_id")
	h.do(200, http.MethodPut, "/categories/"+middle, object{"order": 2})
	h.make("/categories/"+top+"/subcategories", object{"name": "Tools", "parent_category_id": top, "order": 1})
	require.Equal(t, []string{"Tools", "Games"}, it.Texts(h.list("/categories/"+top+"/subcategories"), "name"), "by order")
	it.RequireError(t, h.do(400, http.MethodPut, "/categories/"+low, object{"parent_category_id": top}), "VALIDATION_ERROR", "parent_category_id")
	changed := h.do(200, http.MethodPatch, "/categories/"+top+"/subcategories/"+middle, object{"description": "To play."})
	require.Equal(t, []string{low}, it.Texts(changed.List("subcategories"), "id"))
	h.do(200, http.MethodPut, "/categories/"+middle, changed)

	for _, path := range []string{"/" + low + "/subcategories/" + middle, "/" + top + "/subcategories/" + low, "/" + top + "/subcategories/" + top} {
		require.Equal(t, "Award category not found", h.do(404, http.MethodGet, "/categories"+path, nil)["message"])
		h.do(404, http.MethodPut, "/categories"+path, object{"name": "x"})
		h.do(404, http.MethodDelete, "/categories"+path+"?force=true&cascade=true", nil)
	}
	unknown := "/categories/" + uuid.NewString() + "/subcategories"
	h.do(404, http.MethodGet, unknown, nil)
	h.do(404, http.MethodPost, unknown, object{"name": "x"})
	it.RequireError(t, h.do(400, http.MethodGet, "/categories/x/subcategories", nil), "VALIDATION_ERROR", "categoryId")
}

// TestATreeOfCategoriesIsDeletedWithCascade, and comes back from the top.
func TestATreeOfCategoriesIsDeletedWithCascade(t *testing.T) {
	h := startHouse(t, nil)
	top, middle, low := tree(h)
	submission := h.submit("ada", object{"category_id": low})
	require.Equal(t, 1.0, h.get("/categories/" + low)["submission_count"])
	path := "/categories/" + top
	for _, query := range []string{"?force=true", "?cascade=true", "?force=false&cascade=true"} {
		refusal := h.do(409, http.MethodDelete, path+query, nil)
		require.Equal(t, object{"reason": "has_subcategories", "count": 1.0}, refusal["details"])
	}
	it.RequireError(t, h.do(400, http.MethodDelete, path+"?cascade=all", nil), "VALIDATION_ERROR", "cascade")
	stale := h.do(409, http.MethodDelete, path+"?force=true&cascade=true", nil, "If-Match", `"9"`)
	require.Equal(t, "STALE_UPDATE", stale["code"])
	require.Len(t, h.list("/categories/"+top+"/subcategories"), 1, "a refused deletion deletes nothing")
	deleted := h.confirm(path, "?force=true&cascade=true", "has_subcategories", 1)
	require.Equal(t, []any{}, deleted["subcategories"])
	require.Empty(t, h.list("/categories"))
	for _, id := range []string{top, middle, low} {
		h.do(404, http.MethodGet, "/categories/"+id, nil)
	}
	require.Equal(t, low, h.get("/submissions/" + submission.ID())["category_id"], "the submission stays")
	h.command("PARENT_DELETED", "award-restore", object{"kind": "category", "id": low})
	for _, id := range []string{top, middle, low} {
		h.command("", "award-restore", object{"kind": "category", "id": id})
	}
	require.Equal(t, 1.0, h.get("/categories/" + low)["submission_count"])
	h.confirm("/categories/"+low, "?force=true", "has_submissions", 1)
	h.do(200, http.MethodDelete, "/categories/"+top+"?force=true&cascade=true", nil)
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestNoCategoryLosesItsParent: of a deletion and a new category below at one time, one is refused.
func TestNoCategoryLosesItsParent(t *testing.T) {
	h := startHouse(t, nil)
	for range it.Size(10, 100) {
		top := h.make("/categories", object{"name": "Software"}).ID()
		answers := make([]stacktest.Answer, 2)
		it.Concurrently(2, func(i int) {
			var err error
			if i == 0 {
				answers[i], err = h.Send(t, http.MethodDelete, h.program+"/categories/"+top+"?force=true", nil)
			} else {
				answers[i], err = h.Send(t, http.MethodPost, h.program+"/categories/"+top+"/subcategories", object{"name": "Games"})
			}
			if err != nil {
				t.Error(err)
			}
		})
		deleted, made := answers[0].Status, answers[1].Status
		require.True(t, deleted == 200 && made == 404 || deleted == 409 && made == 200, "%d %d", deleted, made)
	}
	it.EngineOf(t, h.Stack).RequireWhole(t)
}
