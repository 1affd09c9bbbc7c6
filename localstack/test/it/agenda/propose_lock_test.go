package agenda_test

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// lockClient is a client of a proposal. It counts the transactions that write the draft: the lock, then its removal.
// answer returns the error of the transaction of a number, and does the transaction or not.
type lockClient struct {
	table.Client
	writes int
	answer func(ctx context.Context, number int, do func() error) error
}

// TransactWriteItems does a transaction, or has answer do it.
func (c *lockClient) TransactWriteItems(
	ctx context.Context, in *dynamodb.TransactWriteItemsInput, o ...func(*dynamodb.Options),
) (out *dynamodb.TransactWriteItemsOutput, err error) {
	do := func() error {
		out, err = c.Client.TransactWriteItems(ctx, in, o...)
		return err
	}
	for _, item := range in.TransactItems {
		if item.Update != nil && strings.Contains(it.StringsOf(item.Update.Key), "agenda_draft#") {
			c.writes++
			err = c.answer(ctx, c.writes, do)
			return out, err
		}
	}
	err = do()
	return out, err
}

// errLost is the error of a transaction whose answer is lost.
var errLost = errors.New("lost")

// behind serves the group by a process behind a lockClient.
func (p *proposing) behind(answer func(ctx context.Context, number int, do func() error) error) *it.Client {
	p.T.Helper()
	process, at := p.through(math.MaxInt64, nil)
	process.Client = &lockClient{Client: process.Client, answer: answer}
	return at
}

// endWithLock has a proposal whose process ends when it has locked the draft. The outcome is INTERNAL_ERROR,
// or DRAFT_BUSY without the lock.
func (p *proposing) endWithLock() string {
	p.T.Helper()
	at := p.behind(func(_ context.Context, number int, do func() error) error {
		if number == 1 {
			return errors.Join(errLost, do())
		}
		return errLost
	})
	return outcome(p.T, p.proposeOn(at, onSecond))
}

// requireBusy checks that a request is refused for a lock, and says for how long at most.
func (p *proposing) requireBusy(answer stacktest.Answer) {
	p.T.Helper()
	require.Equal(p.T, "DRAFT_BUSY", outcome(p.T, answer))
	wait, err := strconv.Atoi(answer.Header.Get("Retry-After"))
	require.NoError(p.T, err)
	require.InDelta(p.T, 60, wait, 5, "a request of a test has no end, so the lock holds for a minute")
	require.Contains(p.T, string(answer.Body), strconv.Itoa(wait)+" seconds")
}

// TestABulkDuringAProposalIsRepeated under its Idempotency-Key: after the lock, the repetition does the operations.
func TestABulkDuringAProposalIsRepeated(t *testing.T) {
	p := newProposing(t)
	p.renew()
	require.Equal(t, "INTERNAL_ERROR", p.endWithLock())
	last := p.last().ID()
	bulk := func() entity {
		body := object{"operations": []object{
			{"action": "update", "id": last, "data": object{"room_id": nil}}, {"action": "delete", "id": it.UnknownID},
		}}
		return p.Do(200, http.MethodPost, p.draft+"/sessions/bulk", body, it.KeyHeader, "k-1")
	}
	refused := bulk().List("results")[0]
	require.Equal(t, "DRAFT_BUSY", refused.At("error.code"))
	require.Contains(t, refused.At("error.message"), " seconds.")
	require.Equal(t, "ok", outcome(t, p.proposeOn(p.past, onSecond)), "another proposal replaces and ends the lock")
	done := bulk()
	require.Equal(t, 1.0, done.At("stats.succeeded"), "%v", done)
	room := func() any { return p.planner.placed(p.draft)[p.last().Text("session_id")]["room_id"] }
	require.Nil(t, room())
	p.Do(200, http.MethodPut, p.draft+"/sessions/"+last, object{"room_id": p.rooms["Big"]})
	require.Equal(t, 1.0, bulk().At("stats.succeeded"))
	require.Equal(t, p.rooms["Big"], room(), "a success is not repeated")
}

// TestALockSaysHowLong it holds at most, to each request that it refuses.
func TestALockSaysHowLong(t *testing.T) {
	p := newProposing(t)
	p.renew()
	require.Equal(t, "INTERNAL_ERROR", p.endWithLock())
	path := p.EventPath(p.draft + "/sessions/" + p.last().ID())
	p.requireBusy(p.commit(p.Client))
	p.requireBusy(p.proposeOn(p.Client, onFirst))
	p.requireBusy(p.TrySend(t, http.MethodPut, path, object{"room_id": nil}))
	p.requireBusy(p.TrySend(t, http.MethodDelete, path, nil))
}

// TestAReleaseThatHangs delays the answer of a proposal by two seconds.
func TestAReleaseThatHangs(t *testing.T) {
	p := newProposing(t)
	p.renew()
	at := p.behind(func(ctx context.Context, number int, do func() error) error {
		if number == 1 {
			return do()
		}
		<-ctx.Done()
		return ctx.Err()
	})
	start := time.Now()
	require.Equal(t, "ok", outcome(t, p.proposeOn(at, onFirst)))
	require.Less(t, time.Since(start), 3500*time.Millisecond)
	p.requireBusy(p.commit(p.Client))
}

// TestALockWhoseAnswerIsLost is released at once.
func TestALockWhoseAnswerIsLost(t *testing.T) {
	p := newProposing(t)
	p.renew()
	at := p.behind(func(_ context.Context, number int, do func() error) error {
		if err := do(); number > 1 {
			return err
		}
		return errLost
	})
	require.Equal(t, 500, p.proposeOn(at, onFirst).Status)
	require.Equal(t, "ok", outcome(t, p.commit(p.Client)))
	require.Equal(t, "before, before", p.days())
}

// TestAProposalLeavesTheLockOfAnother, whose process ends when it has locked the draft, at any call of the proposal.
func TestAProposalLeavesTheLockOfAnother(t *testing.T) {
	p := newProposing(t)
	outcomes := map[string]bool{}
	it.UntilDone(func(calls int64) int {
		p.renew()
		var other string
		process, at := p.through(calls, func() { other = p.endWithLock() })
		first := outcome(t, p.proposeOn(at, onFirst))
		if process.Left() > 0 {
			return 0
		}
		outcomes[other+", "+first+", "+outcome(t, p.commit(p.Client))+": "+p.days()] = true
		return 1
	})
	require.Equal(t, map[string]bool{
		"INTERNAL_ERROR, DRAFT_BUSY, DRAFT_BUSY: before, before": true, "DRAFT_BUSY, ok, ok: first, first": true,
	}, outcomes)
}
