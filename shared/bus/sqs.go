package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"lectern/shared/table"
)

// Limits of a call of SQS.
const (
	// maxBytes limits the bodies of the messages of a call.
	maxBytes = 1 << 20
	// sendTries is the number of calls for messages that SQS does not take.
	sendTries = 4
)

// SQS is a queue of SQS.
type SQS struct {
	client *sqs.Client
	url    string
}

// Send sends all posts, in calls of up to ten. It sends the posts that SQS did not take again, and
// returns an error if SQS refuses a post for good.
func (q *SQS) Send(ctx context.Context, posts ...Post) error {
	for len(posts) > 0 {
		n := fitting(posts)
		if err := q.send(ctx, posts[:n]); err != nil {
			return err
		}
		posts = posts[n:]
	}
	return nil
}

// fitting returns the number of posts that fit into a call, at least one.
func fitting(posts []Post) int {
	bytes := 0
	for n, p := range posts {
		if bytes += len(p.Body); n == maxEntries || n > 0 && bytes > maxBytes {
			return n
		}
	}
	return len(posts)
}

// send sends the posts of a call until SQS has taken each post.
func (q *SQS) send(ctx context.Context, posts []Post) error {
	left := make([]types.SendMessageBatchRequestEntry, len(posts))
	for i, p := range posts {
		left[i] = entry(strconv.Itoa(i), p)
	}
	var refused error
	for _, ended := range (table.Retry{Tries: sendTries, First: 100 * time.Millisecond, Max: time.Second}).Each(ctx) {
		if ended != nil {
			return fmt.Errorf("bus: send messages: %w", errors.Join(ended, refused))
		}
		answer, err := q.client.SendMessageBatch(ctx, &sqs.SendMessageBatchInput{QueueUrl: &q.url, Entries: left})
		if err != nil {
			return fmt.Errorf("bus: send messages: %w", err)
		}
		if left, refused = unsent(left, answer.Failed); len(left) == 0 {
			return nil
		}
		if errors.Is(refused, ErrPermanent) {
			break
		}
	}
	return refused
}

// entry returns a post as an entry of a call.
func entry(id string, p Post) types.SendMessageBatchRequestEntry {
	e := types.SendMessageBatchRequestEntry{
		Id: &id, MessageBody: aws.String(string(p.Body)), DelaySeconds: int32(min(p.Delay, MaxDelay) / time.Second), //nolint:gosec // at most 900
	}
	if p.Group != "" {
		e.MessageGroupId = &p.Group
	}
	return e
}

// unsent returns the entries that SQS has not taken, and the reason.
func unsent(sent []types.SendMessageBatchRequestEntry, failed []types.BatchResultErrorEntry) (
	left []types.SendMessageBatchRequestEntry, err error) {
	for _, f := range failed {
		for _, e := range sent {
			if aws.ToString(e.Id) == aws.ToString(f.Id) {
				left = append(left, e)
			}
		}
		reason := fmt.Errorf("bus: a message is refused: %s: %s", aws.ToString(f.Code), aws.ToString(f.Message))
		if f.SenderFault {
			reason = fmt.Errorf("%w: %w", ErrPermanent, reason)
		}
		err = errors.Join(err, reason)
	}
	return left, err
}

// Received is a message that a queue has handed out. Delete removes the message for good.
type Received struct {
	Post
	receipt string
}

// Receive hands out up to most messages, and at most ten, without a wait. A message that is not
// deleted is handed out again later.
func (q *SQS) Receive(ctx context.Context, most int) ([]Received, error) {
	answer, err := q.client.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl: &q.url, MaxNumberOfMessages: int32(min(most, maxEntries)), //nolint:gosec // at most ten
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{types.MessageSystemAttributeNameMessageGroupId},
	})
	if err != nil {
		return nil, fmt.Errorf("bus: receive messages: %w", err)
	}
	all := make([]Received, len(answer.Messages))
	for i, m := range answer.Messages {
		all[i] = Received{
			Post{Body: []byte(aws.ToString(m.Body)), Group: m.Attributes[string(types.MessageSystemAttributeNameMessageGroupId)]},
			aws.ToString(m.ReceiptHandle),
		}
	}
	return all, nil
}

// Delete removes up to ten received messages.
func (q *SQS) Delete(ctx context.Context, messages []Received) error {
	entries := make([]types.DeleteMessageBatchRequestEntry, len(messages))
	for i, m := range messages {
		entries[i] = types.DeleteMessageBatchRequestEntry{Id: aws.String(strconv.Itoa(i)), ReceiptHandle: &m.receipt}
	}
	answer, err := q.client.DeleteMessageBatch(ctx, &sqs.DeleteMessageBatchInput{QueueUrl: &q.url, Entries: entries})
	if err != nil {
		return fmt.Errorf("bus: delete messages: %w", err)
	}
	for _, f := range answer.Failed {
		err = errors.Join(err, fmt.Errorf("bus: a message is not deleted: %s: %s", aws.ToString(f.Code), aws.ToString(f.Message)))
	}
	return err
}

// Waiting returns the approximate number of messages that the queue can hand out.
func (q *SQS) Waiting(ctx context.Context) (int, error) {
	name := types.QueueAttributeNameApproximateNumberOfMessages
	answer, err := q.client.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: &q.url, AttributeNames: []types.QueueAttributeName{name},
	})
	if err != nil {
		return 0, fmt.Errorf("bus: count messages: %w", err)
	}
	n, err := strconv.Atoi(answer.Attributes[string(name)])
	if err != nil {
		return 0, fmt.Errorf("bus: count messages: %w", err)
	}
	return n, nil
}
