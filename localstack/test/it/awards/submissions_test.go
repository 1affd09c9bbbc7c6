package awards_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
)

// form is the answers of a submission.
var form = object{"answers": []any{
	object{"internal_name": "pitch", "label": "What is it?", "type": "textarea", "value": "A game."},
	object{"internal_name": "team", "label": "How many are you?", "type": "number", "value": 4.5},
	object{"internal_name": "since", "label": "Since when?", "type": "date", "value": "2026-02-28"},
	object{"internal_name": "site", "label": "Where?", "type": "url", "value": "https://example.org/game"},
	object{"internal_name": "free", "label": "Is it free?", "type": "checkbox", "value": true},
	object{"internal_name": "mail", "label": "Whom to ask?", "type": "email", "value": nil},
}}

func TestAnswersOfASubmission(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	made := h.submit("ada", form)
	require.Equal(t, "submitted", made["status"])
	require.NotEmpty(t, made["submitted_at"])
	require.Equal(t, object{"name": "ada", "email": "ada@example.org", "contact_id": nil}, made["submitter"])
	path := "/submissions/" + made.ID()
	read := h.get(path)
	require.Equal(t, made, read)
	require.Equal(t, []string{"pitch", "team", "since", "site", "free", "mail"}, it.Texts(read.List("answers"), "internal_name"))
	require.Nil(t, read.List("answers")[5]["value"])
	listed := h.list("/submissions")[0]
	require.Equal(t, listedShape, it.KeysOf(listed))
	delete(read, "answers")
	require.Equal(t, read, listed)

	changed := h.do(200, http.MethodPut, path, object{"answers": object{"team": 5, "pitch": nil, "mail": "ada@example.org"}})
	require.Equal(t, []any{nil, 5.0, "2026-02-28", "https://example.org/game", true, "ada@example.org"}, it.Column(changed.List("answers"), "value"))
	again := h.do(200, http.MethodPatch, path, changed)
	require.Equal(t, changed["answers"], again["answers"], "what was read can be sent back")
	require.Equal(t, "STALE_UPDATE", h.do(409, http.MethodPut, path, object{"answers": object{"team": 6}, "updated_at": made["updated_at"]})["code"])
	require.Equal(t, "STALE_UPDATE", h.do(409, http.MethodPut, path, object{}, "If-Match", `"1"`)["code"])
	it.RequireError(t, h.do(400, http.MethodPut, path, object{"answers": object{"colour": "red"}}), "FIELD_NOT_FOUND", "colour")
	mistakes := object{"team": "four", "free": "yes", "since": "2026-02-30", "site": "javascript:alert(1)", "mail": "nobody", "pitch": 7}
	for name, value := range mistakes {
		it.RequireError(t, h.do(400, http.MethodPut, path, object{"answers": object{name: value}}), "TYPE_MISMATCH", name)
	}
	twice := []any{object{"internal_name": "team", "value": 5}, object{"internal_name": "team", "value": 6}}
	it.RequireError(t, h.do(400, http.MethodPut, path, object{"answers": twice}), "VALIDATION_ERROR", "team")
	for _, body := range []object{{"answers": nil}, {"answers": "x"}, {"answers": []any{1}}, {"answers": []any{object{"internal_name": "team"}}}} {
		require.Regexp(t, "^answers", h.do(400, http.MethodPut, path, body).At("details.field"))
	}
	require.Equal(t, again["answers"], h.get(path)["answers"])
	second := h.submit("grace", form)
	require.Equal(t, it.Column(made.List("answers"), "field_id"), it.Column(second.List("answers"), "field_id"))
	require.NotEmpty(t, h.do(200, http.MethodDelete, path, nil)["deleted_at"])
	require.Equal(t, "Submission not found", h.do(404, http.MethodPut, path, object{})["message"])
	require.Equal(t, []string{second.ID()}, it.Texts(h.list("/submissions"), "id"))
}

// TestTheContactOfASubmitter must be a contact of the organization.
func TestTheContactOfASubmitter(t *testing.T) {
	h := startHouse(t, nil)
	contacts := &it.Contacts{Client: h.Client}
	person := contacts.Create(200, object{"email": "ada@example.org"}).ID()
	of := func(id any) object {
		return object{"submitter": object{"name": "ada", "email": "other@example.org", "contact_id": id}}
	}
	require.Equal(t, person, h.submit("ada", of(person)).At("submitter.contact_id"))
	require.Nil(t, h.submit("ada", of(nil)).At("submitter.contact_id"))
	require.Equal(t, "submitter.contact_id", h.command("VALIDATION_ERROR", "award-submit", of(uuid.NewString()))["field"])
	require.Equal(t, "submitter.contact_id", h.command("VALIDATION_ERROR", "award-submit", of("x"))["field"])
}

func TestWrongEntries(t *testing.T) {
	h := startHouse(t, nil)
	missing := object{"answers": []any{object{"internal_name": "a", "label": "A", "type": "text"}}}
	require.Equal(t, "answers[0].value", h.command("VALIDATION_ERROR", "award-submit", entry("ada", missing))["field"])
	answer := func(kind string, value any) object {
		return entry("ada", object{"answers": []any{object{"internal_name": "a", "label": "A", "type": kind, "value": value}}})
	}
	for field, input := range map[string]object{
		"submitter": {}, "submitter.email": {"submitter": object{"name": "Ada", "email": "Ada <ada@example.org>"}},
		"submitter.name": {"submitter": object{"name": " ", "email": "ada@example.org"}},
		"status":         entry("ada", object{"status": "winner"}), "promo_code": entry("ada", object{"promo_code": "NONE"}),
		"category_id":              entry("ada", object{"category_id": uuid.NewString()}),
		"answers[0].internal_name": entry("ada", object{"answers": []any{object{"internal_name": "A b", "label": "A", "type": "text", "value": nil}}}),
	} {
		require.Equal(t, field, h.command("VALIDATION_ERROR", "award-submit", input)["field"], field)
	}
	require.Equal(t, "answers[0].value", h.command("TYPE_MISMATCH", "award-submit", answer("number", "four"))["field"])
	require.Equal(t, "answers[0].value", h.command("VALIDATION_ERROR", "award-submit", answer("text", strings.Repeat("x", 10_001)))["field"])
	twice := append(answer("text", "x")["answers"].([]any), answer("text", "y")["answers"].([]any)...)
	require.Equal(t, "answers[1].internal_name", h.command("VALIDATION_ERROR", "award-submit", entry("ada", object{"answers": twice}))["field"])
	require.Equal(t, "status", h.command("VALIDATION_ERROR", "award-submit", entry("ada", object{"status": "withdrawn"}))["field"])
	h.command("NOT_FOUND", "award-submit", entry("ada", object{"submission_id": uuid.NewString()}))
	h.command("NOT_FOUND", "award-submit", entry("ada", object{"program_id": uuid.NewString()}))
	h.command("NOT_FOUND", "award-submit", entry("ada", object{"org_id": 999_999}))
	require.Empty(t, h.list("/submissions"), "a refused entry writes nothing")
	made := h.submit("ada")
	require.Regexp(t, `^AWD-\d{4}-00001$`, made["friendly_id"], "a refused entry takes no number")
}

// TestTheStepsOfASubmission: a draft is changed, submitted, paid and withdrawn, each in its order.
func TestTheStepsOfASubmission(t *testing.T) {
	h := startHouse(t, object{"payment": object{"collect": "on_submission", "base_fee_cents": 1000}})
	draft := h.submit("ada", object{"status": "draft"}, form)
	require.Equal(t, []any{"draft", nil, 1000.0}, []any{draft["status"], draft["submitted_at"], draft["fee_cents"]})
	of := func(more object) object { return it.Merged(object{"submission_id": draft.ID()}, more) }
	changed := h.command("", "award-submit", of(object{"status": "draft", "answers": []any{
		object{"internal_name": "team", "label": "How many?", "type": "text", "value": "four"},
		object{"internal_name": "new", "label": "New?", "type": "checkbox", "value": false},
	}}))
	require.Equal(t, []any{"four", false}, []any{changed.List("answers")[1]["value"], changed.List("answers")[6]["value"]})
	require.Equal(t, "pending_payment", h.command("", "award-submit", of(nil))["status"])
	h.command("SUBMISSION_STATUS", "award-submit", of(object{"status": "draft"}))
	h.command("SUBMISSION_STATUS", "award-assign", object{
		"submission_id": draft.ID(), "round_id": h.round, "reviewer": object{"name": "A", "email": "a@jury.example"},
	})
	paid := h.command("", "award-submit", of(object{"paid": true}))
	require.Equal(t, "submitted", paid["status"])
	require.NotEmpty(t, paid["submitted_at"])
	h.command("SUBMISSION_STATUS", "award-submit", of(object{"paid": true}))
	require.Equal(t, "withdrawn", h.command("", "award-submit", of(object{"status": "withdrawn"}))["status"])
	h.command("SUBMISSION_STATUS", "award-submit", of(object{"status": "withdrawn"}))
	h.command("SUBMISSION_STATUS", "award-winner", of(object{"outcome": "rejected"}))
	require.Equal(t, "submitted", h.submit("grace", object{"paid": true})["status"])

	for _, closed := range []object{{"status": "archived"}, {"status": "draft"}, {"status": "open", "closes_at": "2020-01-01T00:00:00Z"},
		{"opens_at": "2096-01-01T00:00:00Z", "closes_at": nil}} {
		h.do(200, http.MethodPut, "", closed)
		h.command("PROGRAM_NOT_OPEN", "award-submit", entry("late"))
	}
	h.do(200, http.MethodPut, "", object{"opens_at": nil})
	h.do(200, http.MethodPut, "/rounds/"+h.round, object{"closes_at": "2020-01-01T00:00:00Z"})
	require.Equal(t, "closed", h.get("/rounds/" + h.round)["status"])
	h.command("ROUND_NOT_ACTIVE", "award-submit", entry("late"))
}

func TestFiltersOfSubmissions(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	category := h.make("/categories", object{"name": "Software"}).ID()
	finals := h.make("/rounds", object{"name": "Finals", "type": "review_only"}).ID()
	first := h.submit("ada", object{"category_id": category}).ID()
	second := h.submit("grace").ID()
	draft := h.submit("joan", object{"status": "draft", "category_id": category}).ID()
	h.assign("", second, finals, "rita")
	for query, want := range map[string][]string{
		"": {first, second, draft}, "?status=draft": {draft}, "?status=in_review": {second}, "?status=winner": {},
		"?category_id=" + category: {first, draft}, "?current_round_id=" + finals: {second}, "?current_round_id=" + h.round: {first, draft},
		"?status=submitted&category_id=" + category + "&current_round_id=" + h.round: {first},
		"?status=draft&current_round_id=" + finals:                                   {}, "?category_id=" + uuid.NewString(): {},
	} {
		page := stacktest.Call[it.Page](h.Stack, 200, http.MethodGet, h.program+"/submissions"+query, nil)
		require.Equal(t, want, append([]string{}, it.Texts(page.Results, "id")...), query)
		require.Equal(t, len(want), page.Pagination.TotalResults)
	}
	page := stacktest.Call[it.Page](h.Stack, 200, http.MethodGet, h.program+"/submissions?page=2&pageSize=2", nil)
	require.Equal(t, []string{draft}, it.Texts(page.Results, "id"))
	for _, query := range []string{"status=new", "category_id=x", "current_round_id=x", "page=0", "pageSize=101"} {
		name, _, _ := strings.Cut(query, "=")
		it.RequireError(t, h.do(400, http.MethodGet, "/submissions?"+query, nil), "VALIDATION_ERROR", name)
	}
	require.Equal(t, []any{2.0, 1.0}, []any{h.get("/rounds/" + h.round)["submission_count"], h.get("/rounds/" + finals)["submission_count"]})
	require.Equal(t, 2.0, h.get("/categories/" + category)["submission_count"])
	require.Equal(t, 3.0, h.get("")["submission_count"])
}

// TestUsesOfAPromoCode are counted exactly, and end at the most.
func TestUsesOfAPromoCode(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, object{"payment": object{"collect": "on_submission", "base_fee_cents": 999}})
	code := h.make("/promo-codes", object{"code": "Early", "discount_type": "percentage", "amount": 50, "max_uses": 2})
	require.Equal(t, codeShape, it.KeysOf(code))
	it.RequireError(t, h.do(409, http.MethodPost, "/promo-codes", object{"code": "EARLY", "discount_type": "flat", "amount": 1}), "DUPLICATE_CODE", "code")
	it.RequireError(t, h.do(400, http.MethodPost, "/promo-codes", object{"code": "All", "discount_type": "percentage", "amount": 101}), "VALIDATION_ERROR", "amount")
	flat := h.make("/promo-codes/create", object{"code": "All", "discount_type": "flat", "amount": 5000})
	it.RequireError(t, h.do(400, http.MethodPatch, "/promo-codes/"+flat.ID(), object{"discount_type": "percentage"}), "VALIDATION_ERROR", "amount")
	path := "/promo-codes/" + code.ID()
	used := func(want float64) {
		t.Helper()
		require.Equal(t, want, h.get(path)["used_count"])
	}
	first := h.submit("ada", object{"promo_code": "early"})
	require.Equal(t, []any{"pending_payment", 499.0, code.ID()}, []any{first["status"], first["fee_cents"], first["promo_code_id"]})
	draft := h.submit("joan", object{"promo_code": "EARLY", "status": "draft"})
	used(1)
	second := h.submit("grace", object{"promo_code": "EARLY", "paid": true})
	used(2)
	require.Equal(t, "promo_code", h.command("PROMO_CODE_USED_UP", "award-submit", entry("rita", object{"promo_code": "EARLY"}))["field"])
	h.command("PROMO_CODE_USED_UP", "award-submit", object{"submission_id": draft.ID()})
	h.command("", "award-submit", object{"submission_id": first.ID(), "status": "withdrawn"})
	used(1)
	h.do(200, http.MethodDelete, "/submissions/"+second.ID(), nil)
	used(0)
	h.command("", "award-submit", object{"submission_id": draft.ID()})
	h.submit("rita", object{"promo_code": "EARLY"})
	used(2)
	h.command("PROMO_CODE_USED_UP", "award-restore", object{"kind": "submission", "id": second.ID()})
	h.do(200, http.MethodPut, path, object{"max_uses": 3})
	h.command("", "award-restore", object{"kind": "submission", "id": second.ID()})
	used(3)
	require.Equal(t, []any{"submitted", 0.0}, func() []any {
		free := h.submit("vera", object{"promo_code": "all"})
		return []any{free["status"], free["fee_cents"]}
	}())
	for _, never := range []object{{"is_active": false}, {"is_active": true, "starts_at": "2096-01-01T00:00:00Z"},
		{"starts_at": nil, "expires_at": "2020-01-01T00:00:00Z"}} {
		h.do(200, http.MethodPut, path, it.Merged(never, object{"max_uses": nil}))
		require.Equal(t, "promo_code", h.command("VALIDATION_ERROR", "award-submit", entry("late", object{"promo_code": "EARLY"}))["field"])
	}
	h.confirm(path, "?force=true", "used", 3)
	h.make("/promo-codes", object{"code": "EARLY", "discount_type": "flat", "amount": 1})
	it.RequireError(t, h.do(409, http.MethodPatch, "/promo-codes/"+flat.ID(), object{"code": "early"}), "DUPLICATE_CODE", "code")
	h.command("DUPLICATE_CODE", "award-restore", object{"kind": "promo_code", "id": code.ID()})
}

// TestADraftKeepsItsCodeAndCategory also when both have ended: only a submission, or another code or category, needs them.
func TestADraftKeepsItsCodeAndCategory(t *testing.T) {
	h := startHouse(t, object{"payment": object{"collect": "on_submission", "base_fee_cents": 1000}})
	category := h.make("/categories", object{"name": "Software"}).ID()
	code := "/promo-codes/" + h.make("/promo-codes", object{"code": "A", "discount_type": "flat", "amount": 400, "max_uses": 1}).ID()
	draft := h.submit("ada", object{"status": "draft", "promo_code": "a", "category_id": category})
	of := func(more object) object { return it.Merged(object{"submission_id": draft.ID()}, more) }
	save := func(fee float64) {
		t.Helper()
		saved := h.command("", "award-submit", of(it.Merged(form, object{"status": "draft", "category_id": category})))
		require.Equal(t, []any{"draft", fee, draft["promo_code_id"], category},
			[]any{saved["status"], saved["fee_cents"], saved["promo_code_id"], saved["category_id"]})
	}
	h.submit("joan", object{"promo_code": "a"})
	save(600)
	h.command("", "award-submit", of(object{"status": "draft", "promo_code": "a"}))
	h.command("PROMO_CODE_USED_UP", "award-submit", entry("grace", object{"status": "draft", "promo_code": "a"}))
	h.do(200, http.MethodPut, code, object{"max_uses": nil, "expires_at": "2020-01-01T00:00:00Z"})
	save(600)
	require.Equal(t, "promo_code", h.command("VALIDATION_ERROR", "award-submit", of(nil))["field"])
	h.do(200, http.MethodDelete, code+"?force=true", nil)
	save(1000)
	require.Equal(t, "promo_code", h.command("VALIDATION_ERROR", "award-submit", of(nil))["field"])
	h.command("", "award-submit", of(object{"status": "draft", "promo_code": nil}))
	h.do(200, http.MethodDelete, "/categories/"+category+"?force=true", nil)
	h.command("", "award-submit", of(object{"status": "draft", "category_id": category}))
	require.Equal(t, "category_id", h.command("VALIDATION_ERROR", "award-submit", of(nil))["field"])
	require.Equal(t, "category_id", h.command("VALIDATION_ERROR", "award-submit", entry("grace", object{"status": "draft", "category_id": category}))["field"])
	require.Equal(t, "pending_payment", h.command("", "award-submit", of(object{"category_id": nil}))["status"])
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestNumbersOfSubmissions have no gap and no repeat in the organization.
func TestNumbersOfSubmissions(t *testing.T) {
	h := startHouse(t, nil)
	second := newHouse(h.Client, nil)
	year := time.Now().UTC().Year()
	for i, at := range []*house{h, second, h} {
		require.Equal(t, fmt.Sprintf("AWD-%d-%05d", year, i+1), at.submit("ada")["friendly_id"])
	}
	h.do(200, http.MethodDelete, "/submissions/"+h.list("/submissions")[1].ID(), nil)
	h.command("VALIDATION_ERROR", "award-submit", entry("ada", object{"category_id": uuid.NewString()}))
	require.Equal(t, fmt.Sprintf("AWD-%d-00004", year), second.submit("ada")["friendly_id"])
	other := newHouse(&it.Client{Stack: h.NewOrganization(t), T: t}, nil)
	require.Equal(t, fmt.Sprintf("AWD-%d-00001", year), other.submit("ada")["friendly_id"])
}
