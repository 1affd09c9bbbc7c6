package job_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/shared/change"
	"lectern/shared/job"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// sluggish is an empty table with the slowest possible writes: it refuses all tries except the
// last try, and answers the last try late.
type sluggish struct {
	table.Client
	slow  bool
	began time.Time
}

func (s *sluggish) serve() error {
	if !s.slow {
		return nil
	}
	if s.began.IsZero() {
		s.began = time.Now()
	}
	if time.Since(s.began) < 4990*time.Millisecond {
		return &types.ProvisionedThroughputExceededException{}
	}
	time.Sleep(3990 * time.Millisecond)
	s.began = time.Time{}
	return nil
}

func (s *sluggish) GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return &dynamodb.GetItemOutput{}, nil
}

func (s *sluggish) UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return &dynamodb.UpdateItemOutput{}, s.serve()
}

func (s *sluggish) TransactWriteItems(
	context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options),
) (*dynamodb.TransactWriteItemsOutput, error) {
	return &dynamodb.TransactWriteItemsOutput{}, s.serve()
}

// TestAPartEndsWithinTheLease: the part begins as late as allowed, its writes take the longest
// time, and its change records cross the border of an hour.
func TestAPartEndsWithinTheLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &sluggish{}
		j := &job.Job{Table: table.New(client, "none"), Now: time.Now, PK: "job"}
		claimed := time.Now()
		require.NoError(t, j.Claim(t.Context()))
		var part table.Write
		for {
			w, err := j.Done("a", nil)
			if err != nil {
				require.ErrorIs(t, err, job.ErrLost)
				break
			}
			part = w
			time.Sleep(100 * time.Millisecond)
		}
		require.Greater(t, time.Since(claimed), 28*time.Second, "a Lambda may begin parts to its end")
		client.slow = true
		writes := []table.Write{part}
		for _, at := range []time.Time{time.Now(), time.Now().Add(time.Hour)} {
			writes = append(writes, change.New(t.Context(), change.Record{At: wire.At(at), Org: 1, Type: "session", RecordID: "a"}).Write())
		}
		began := time.Now()
		require.NoError(t, change.Commit(t.Context(), j.Table, writes...))
		require.Greater(t, time.Since(began), 26*time.Second)
		require.Less(t, time.Since(claimed), job.Lease)
	})
}
