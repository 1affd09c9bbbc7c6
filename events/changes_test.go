package events_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// matches reports whether a record of a stream matches a pattern, as Lambda decides for values
// of text.
func matches(pattern events.Pattern, record map[string]any) bool {
	for field, want := range pattern {
		switch want := want.(type) {
		case events.Pattern:
			inner, _ := record[field].(map[string]any)
			if !matches(want, inner) {
				return false
			}
		case []string:
			text, ok := record[field].(string)
			if !ok || !slices.Contains(want, text) {
				return false
			}
		}
	}
	return true
}

// streamed gives the record of a stream for an item, with the attributes of text.
func streamed(eventName string, item map[string]types.AttributeValue) map[string]any {
	image := map[string]any{}
	for name, value := range item {
		if text, ok := value.(*types.AttributeValueMemberS); ok {
			image[name] = map[string]any{"S": text.Value}
		}
	}
	return map[string]any{"eventName": eventName, "dynamodb": map[string]any{"NewImage": image}}
}

// stored gives every item of a region's table.
func stored(t *testing.T, s *stacktest.Stack) (all []map[string]types.AttributeValue) {
	t.Helper()
	url, name := s.Engine(t)
	client, err := table.Open(t.Context(), table.Config{Endpoint: url, Region: "us-east-1"})
	require.NoError(t, err)
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{TableName: &name})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		require.NoError(t, err)
		all = append(all, page.Items...)
	}
	return all
}

// feed matches the partitions of change records.
var feed = regexp.MustCompile(`^O#[0-9]+#H#[0-9]{10}#[0-7]$`)

// TestNewChangesAreTheChangeRecordsAlone: of all items that the service has written, the
// filter of the stream selects every change record and no other item. The whole change
// records beside people are other items.
func TestNewChangesAreTheChangeRecordsAlone(t *testing.T) {
	s := stacktest.Start(t)
	contact := s.Call(t, 200, http.MethodPost, s.EventPath("/contacts/create"), map[string]any{
		"first_name": "Ada", "last_name": "Quay", "email": "ada@example.org",
	}).JSON(t)
	session := s.Call(t, 200, http.MethodPost, s.EventPath("/sessions/create"), stacktest.WithHeaders(map[string]any{
		"title": "Harbours", "participants": []any{map[string]any{"contact_id": contact["id"], "core_role": "speaker"}},
	}, "Idempotency-Key", "once")).JSON(t)
	path := s.EventPath("/sessions/" + session["id"].(string))
	s.Call(t, 200, http.MethodPut, path, map[string]any{"title": "Ports"})
	s.Call(t, 200, http.MethodDelete, path, nil)
	s.Call(t, 200, http.MethodPost, s.EventPath("/rules/create"), map[string]any{"name": "Late", "type": "custom"})

	var changes, others int
	for _, item := range stored(t, s) {
		pk := item["PK"].(*types.AttributeValueMemberS).Value
		require.Equal(t, feed.MatchString(pk), matches(events.NewChanges, streamed("INSERT", item)), "%v", item)
		require.False(t, matches(events.NewChanges, streamed("MODIFY", item)))
		if feed.MatchString(pk) {
			changes++
		} else {
			others++
		}
	}
	require.GreaterOrEqual(t, changes, 5)
	require.Greater(t, others, 3*changes)
}
