package deploytest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/localstack/cloud/target"
	"lectern/localstack/test/stacktest"
	"lectern/shared/apierr"
	"lectern/shared/bus"
	"lectern/shared/delivery"
	"lectern/shared/table"
)

// The tests of this file need what a caller of the service cannot make: a dead letter, and a list of
// organizations that has to be mended. The emulator's administrator makes it, and the operator's
// function then works under its role. The emulator ignores the keys of the role's conditions, so it holds
// the function to its actions alone.

// TestTheOperatorMovesDeadLettersBack of every queue. Each letter names a thing that its worker passes
// over, or has done already.
func TestTheOperatorMovesDeadLettersBack(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	person := map[string]any{"requestType": "access", "identityType": "email", "identityValue": "nobody@example.org"}
	request := s.Call(t, 201, http.MethodPost, "/v1/gdpr/requests", person).JSON(t)["id"].(string)
	letters := map[string]any{
		events.Webhooks:   map[string]any{"detail": bus.Message{Change: "none", Org: s.Org, Kind: "session.updated"}},
		events.Deliveries: delivery.Task{Org: s.Org, Endpoint: "none", ID: "none", Attempt: 1},
		events.Work:       map[string]any{"detail": bus.Message{Org: s.Org, RecordID: request}},
	}
	region := deployed(t)
	config, err := region.Config(t.Context())
	require.NoError(t, err)
	client := sqs.NewFromConfig(config)
	for queue, letter := range letters {
		to, err := client.GetQueueUrl(t.Context(), &sqs.GetQueueUrlInput{QueueName: aws.String(region.Table + "-" + bus.Dead(queue))})
		require.NoError(t, err)
		body, err := json.Marshal(letter)
		require.NoError(t, err)
		_, err = client.SendMessage(t.Context(), &sqs.SendMessageInput{QueueUrl: to.QueueUrl, MessageBody: aws.String(string(body))})
		require.NoError(t, err)
		want := map[string]any{"queue": queue, "moved": 1.0, "left": 0.0}
		require.Equal(t, want, s.Operator(t, "redrive", map[string]any{"queue": queue}))
	}
}

// TestTheOperatorMendsTheListOfOrganizations: a line that is missing is put, and a line of no
// organization is deleted.
func TestTheOperatorMendsTheListOfOrganizations(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	region := deployed(t)
	config, err := region.Config(t.Context())
	require.NoError(t, err)
	client := dynamodb.NewFromConfig(config)
	const none = 777
	line := func(org int64) table.Key { return table.Key{PK: "R#org", SK: fmt.Sprintf("%019d", org)} }
	_, err = client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &region.Table, Key: map[string]types.AttributeValue{
		"PK": &types.AttributeValueMemberS{Value: line(s.Org).PK}, "SK": &types.AttributeValueMemberS{Value: line(s.Org).SK},
	}})
	require.NoError(t, err)
	require.NoError(t, table.New(client, region.Table).Transact(t.Context(), table.Put(table.Item{Key: line(none), Version: 1, Data: []byte("777")})))
	listed := func() bool {
		all := s.Operator(t, "organization-list", map[string]any{"after": s.Org - 1})["results"].([]any)
		return len(all) > 0 && all[0].(map[string]any)["id"] == float64(s.Org)
	}
	require.False(t, listed())
	for _, org := range []int64{none, s.Org} {
		done := s.Operator(t, "shard-repair", map[string]any{"org_id": org, "family": "list"})
		require.Len(t, done["mended"], 1)
	}
	require.True(t, listed())
}

// TestTheDeploymentHasNoHoldingSlides, since it is deployed without the option: the command says so.
func TestTheDeploymentHasNoHoldingSlides(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t)
	_, err := s.TryOperator(t, "holding-slides", map[string]any{"org_id": s.Org, "event_id": s.Event, "on": true})
	refused := (*apierr.Error)(nil)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "NO_HOLDING_SLIDES", refused.Code)
}

// deployed returns the region of a caller without InRegion.
func deployed(t *testing.T) target.Region {
	t.Helper()
	regions, err := target.Emulated()
	require.NoError(t, err)
	return regions["us"]
}
