package awards_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/functions/awards"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/purge"
	"lectern/shared/table"
)

// TestAProgramBeginsWithARound that cannot be deleted.
func TestAProgramBeginsWithARound(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	program := h.get("")
	require.Equal(t, programShape, it.KeysOf(program))
	require.Equal(t, object{
		"type": "awards", "status": "open", "description": nil, "blind_review": false, "submission_count": 0.0, "admin_url": nil,
		"labels":  object{"submitter": "Submitter", "entry": "Entry", "action": "Submit"},
		"payment": object{"collect": "none", "base_fee_cents": 0.0, "currency": "USD"},
	}, it.Pick(program, "type", "status", "description", "blind_review", "submission_count", "admin_url", "labels", "payment"))
	rounds := h.list("/rounds")
	require.Len(t, rounds, 1)
	require.Equal(t, roundShape, it.KeysOf(rounds[0]))
	require.Equal(t, object{
		"name": "Submissions and Review", "type": "submission_review", "is_default": true, "status": "active", "order": 1.0,
		"program_id": h.id, "scorecard": []any{}, "reviewer_count": 0.0, "submission_count": 0.0,
	}, it.Pick(rounds[0], "name", "type", "is_default", "status", "order", "program_id", "scorecard", "reviewer_count", "submission_count"))
	for _, query := range []string{"", "?force=true"} {
		require.Equal(t, "DEFAULT_ROUND", h.do(422, http.MethodDelete, "/rounds/"+h.round+query, nil)["code"])
	}
	changed := h.do(200, http.MethodPatch, "", object{"labels": object{"entry": "Film"}, "payment": object{"base_fee_cents": 5}})
	require.Equal(t, object{"submitter": "Submitter", "entry": "Film", "action": "Submit"}, changed["labels"])
	require.Equal(t, object{"collect": "none", "base_fee_cents": 5.0, "currency": "USD"}, changed["payment"])
	h.do(200, http.MethodPut, "", object{"opens_at": "2027-05-10T09:00:00Z", "closes_at": "2027-05-11T09:00:00Z"})
	it.RequireError(t, h.do(400, http.MethodPut, "", object{"opens_at": "2027-05-12T09:00:00Z"}), "VALIDATION_ERROR", "opens_at")
}

// TestThePlanLimitsThePrograms, exactly, also those that are made at one time and those that come back.
func TestThePlanLimitsThePrograms(t *testing.T) {
	h := startHouse(t, nil)
	made := object{"name": "Another"}
	statuses := make([]int, 16)
	it.Concurrently(16, func(i int) {
		answer, err := h.Send(t, http.MethodPost, h.programs()+"/create", made)
		if err != nil {
			t.Error(err)
		}
		statuses[i] = answer.Status
	})
	counts := map[int]int{}
	for _, status := range statuses {
		counts[status]++
	}
	require.Equal(t, map[int]int{200: 9, 403: 7}, counts)
	refusal := h.at(403, http.MethodPost, h.programs(), made)
	require.Equal(t, "PLAN_LIMIT_REACHED", refusal["code"])
	require.Equal(t, 10.0, refusal.At("details.maximum"))
	h.do(200, http.MethodDelete, "", nil)
	h.at(200, http.MethodPost, h.programs(), made)
	h.command("PLAN_LIMIT_REACHED", "award-restore", object{"kind": "program"})
	limit := func(most any) {
		_, err := h.TryOperator(t, "organization-update", object{"org_id": h.Org, "award_programs": most})
		require.NoError(t, err)
	}
	limit(11)
	require.Equal(t, h.id, h.command("", "award-restore", object{"kind": "program"}).ID())
	h.at(403, http.MethodPost, h.programs(), made)
	limit(nil)
	h.at(403, http.MethodPost, h.programs(), made)
	h.do(200, http.MethodPut, "", object{"name": "A change is no new program"})
	limit(0)
	other := &house{Client: &it.Client{Stack: h.NewOrganization(t), T: t}}
	other.at(200, http.MethodPost, other.programs(), made)
	it.EngineOf(t, h.Stack).RequireWhole(t)
}

// TestForeignAwardsAreUnknown: another organization is a 404, as is a record of another program.
func TestForeignAwardsAreUnknown(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	other := newHouse(&it.Client{Stack: h.NewOrganization(t), T: t}, nil)
	second := newHouse(h.Client, nil)
	category := second.make("/categories", object{"name": "Software"}).ID()
	submission := second.submit("ada")
	review := second.assign("", submission.ID(), second.round, "grace")
	for _, path := range []string{
		"", "/categories", "/rounds", "/promo-codes", "/submissions", "/reviews", "/categories/" + category + "/subcategories",
		"/submissions/" + submission.ID(), "/reviews/" + review.ID(),
	} {
		h.at(404, http.MethodGet, other.program+path, nil)
		foreign := fmt.Sprintf("/v1/organization/%d/awards/programs/%s%s", h.Org, other.id, path)
		require.Equal(t, "Award program not found", h.at(404, http.MethodGet, foreign, nil)["message"], path)
	}
	require.Equal(t, "Submission not found", h.do(404, http.MethodGet, "/submissions/"+submission.ID(), nil)["message"])
	require.Equal(t, "Review not found", h.do(404, http.MethodGet, "/reviews/"+review.ID(), nil)["message"])
	reviewer := review.At("reviewer.id").(string)
	for _, id := range []string{reviewer, uuid.NewString()} {
		require.Equal(t, "Reviewer not found", h.do(404, http.MethodDelete, "/reviewers/"+id, nil)["message"])
	}
	h.command("NOT_FOUND", "award-assign", object{
		"submission_id": submission.ID(), "round_id": h.round, "reviewer": object{"name": "A", "email": "a@jury.example"},
	})
	h.command("NOT_FOUND", "award-review", object{"review_id": review.ID(), "scores": []any{}})
	require.Equal(t, "category_id", h.command("VALIDATION_ERROR", "award-submit", entry("ada", object{"category_id": category}))["field"])
}

// TestWhoMayUseAwards: a token needs the scope, and no limit to events.
func TestWhoMayUseAwards(t *testing.T) {
	stacktest.Everywhere(t)
	h := startHouse(t, nil)
	reader := &house{Client: h.WithToken(h.NewToken(t, "read:awards"))}
	reader.at(200, http.MethodGet, h.program, nil)
	require.Equal(t, "INSUFFICIENT_SCOPE", reader.at(403, http.MethodDelete, h.program, nil)["code"])
	events := &house{Client: h.WithToken(h.NewToken(t, "read:events", "write:events"))}
	events.at(403, http.MethodGet, h.programs(), nil)
	limited := &house{Client: h.WithToken(h.TokenWith(t, object{"scopes": []any{"read:awards", "write:awards"}, "event_ids": []any{h.Event}}))}
	for _, path := range []string{"", "/submissions", "/reviews", "/rounds"} {
		limited.at(403, http.MethodGet, h.program+path, nil)
	}
	limited.at(403, http.MethodPost, h.programs(), object{"name": "Mine"})
}

// TestTheAddressOfAProgram in the admin application, where one is configured.
func TestTheAddressOfAProgram(t *testing.T) {
	h := startHouse(t, nil)
	at := h.ServeGroup(awards.Group, func(env *api.Env) { env.AdminURL = "https://admin.example.org" })
	want := fmt.Sprintf("https://admin.example.org/organization/%d/awards/programs/%s", h.Org, h.id)
	require.Equal(t, want, entity(at.Call(t, 200, http.MethodGet, h.program, nil).JSON(t))["admin_url"])
	require.Nil(t, h.get("")["admin_url"], "the address is not stored")
}

// TestAPurgeLeavesWholeNumbers, of a category with submissions, of a submission with reviews, and of the program.
func TestAPurgeLeavesWholeNumbers(t *testing.T) {
	h := startHouse(t, nil)
	top, _, low := tree(h)
	kept := h.submit("ada", object{"category_id": low}).ID()
	gone := h.submit("joan", object{"category_id": low}).ID()
	for _, submission := range []string{kept, gone} {
		h.score("", h.assign("", submission, h.round, "grace").ID())
	}
	h.do(200, http.MethodDelete, "/submissions/"+gone, nil)
	h.do(200, http.MethodDelete, "/categories/"+top+"?force=true&cascade=true", nil)
	require.Equal(t, int64(4), h.Maintain(31).Records)
	it.EngineOf(t, h.Stack).RequireWhole(t)
	h.command("NOT_FOUND", "award-restore", object{"kind": "submission", "id": gone})
	h.do(200, http.MethodDelete, "/submissions/"+kept, nil)
	h.command("PARENT_DELETED", "award-restore", object{"kind": "submission", "id": kept})
	require.Equal(t, "has_reviewer_assignments", func() any {
		finals := h.make("/rounds", object{"name": "Finals", "type": "review_only"}).ID()
		h.assign("", h.submit("vera").ID(), finals, "rita")
		return h.do(409, http.MethodDelete, "/rounds/"+finals, nil).At("details.reason")
	}())
	h.do(200, http.MethodDelete, "?force=true", nil)
	require.Positive(t, h.Maintain(31).Records)
	it.EngineOf(t, h.Stack).RequireWhole(t)
	h.command("NOT_FOUND", "award-restore", object{"kind": "program"})
}

// onePage is a client of the table that reads one page of a partition.
type onePage struct {
	table.Client
	partition string
}

func (c onePage) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	pk, _ := in.ExpressionAttributeValues[":pk"].(*types.AttributeValueMemberS)
	if pk.Value == c.partition && len(in.ExclusiveStartKey) > 0 {
		return nil, it.ErrEnded
	}
	return c.Client.Query(ctx, in, o...)
}

// TestAPurgeOfALargeProgram removes the records of a page before it reads the next one.
func TestAPurgeOfALargeProgram(t *testing.T) {
	h := startHouse(t, nil)
	key := h.owner().Key("award_submission", h.submit("ada").ID())
	stored, err := h.Table(t).Get(t.Context(), key)
	require.NoError(t, err)
	for range 150 {
		id, noise := uuid.NewString(), make([]byte, 10_000)
		_, _ = rand.Read(noise)
		data := strings.ReplaceAll(string(stored.Data), stored.SK[len(stored.SK)-len(id):], id)
		data = strings.TrimSuffix(data, "}") + fmt.Sprintf(`,"noise":"%x"}`, noise)
		item := table.Item{Key: h.owner().Key("award_submission", id), Version: 1, Data: []byte(data)}
		require.NoError(t, h.Table(t).Transact(t.Context(), table.Insert(item)))
	}
	h.do(200, http.MethodDelete, "?force=true", nil)
	engine, counts := it.EngineOf(t, h.Stack), purge.Counts{}
	later := time.Now().Add(31 * 24 * time.Hour)
	store := purge.Store{Now: func() time.Time { return later }, Until: later, Counts: &counts}
	store.Table = table.New(onePage{engine.Client, h.owner().Partition()}, engine.Table)
	require.ErrorIs(t, store.Records(t.Context(), h.Org, 0), it.ErrEnded)
	require.Positive(t, counts.Records)
	store.Table = h.Table(t)
	require.NoError(t, store.Records(t.Context(), h.Org, 0))
	require.Equal(t, int64(153), counts.Records, "the submissions, the round and the program")
	require.Empty(t, engine.Dump(t).Below(h.owner().Partition()))
}
