package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/shared/table"
)

// Result is how one operation of a bulk came out.
type Result struct {
	Index int `json:"index"`
	// ID is the record's.
	ID string `json:"id,omitempty"`
	// Answer is what the operation answered; absent where it was too long, so
	// that it is rendered again.
	Answer json.RawMessage `json:"answer,omitempty"`
	// Error is what a refused operation answered.
	Error json.RawMessage `json:"error,omitempty"`
}

// Claim takes the key for a bulk, before its first write, for 60 seconds. It is
// the 409 of Begin while another request holds it.
func (k *Key) Claim(ctx context.Context) error {
	if k.was.Done {
		return nil
	}
	next := state{Body: k.body, Claim: k.was.Claim, Lease: k.store.Now().Add(lease).UnixMilli()}
	if err := k.replace(ctx, next); errors.Is(err, ErrRaced) {
		k.was.Lease = next.Lease
		return k.inUse()
	} else if err != nil {
		return err
	}
	k.claimed = true
	return nil
}

// replace stores the next state of the key's item over the one it was found in.
// It is ErrRaced if that has changed.
func (k *Key) replace(ctx context.Context, next state) error {
	item, err := k.stored(next, k.version+1)
	if err != nil {
		return err
	}
	w := table.Replace(item, k.version)
	if k.version == 0 {
		w = table.Insert(item)
	}
	if err := k.store.Table.Transact(ctx, w.Or(ErrRaced)); err != nil {
		return err
	}
	k.was, k.version = next, k.version+1
	return nil
}

// ID is the id of the record that the operation at index of a bulk creates, the
// same in every request that takes up the claim; index -1 is the bulk's own.
func (k *Key) ID(index int) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%s|%d|%d", k.pk, k.was.Claim, index))
	u[6] = u[6]&0x0f | 0x80 // version 8: a UUID of a make of one's own
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// Done gives, by index, what is settled already: every operation of an answered
// bulk, or those that an earlier try has written.
func (k *Key) Done(ctx context.Context) (map[int]Result, error) {
	done := map[int]Result{}
	for _, r := range k.was.Results {
		done[r.Index] = r
	}
	if k.was.Done {
		return done, nil
	}
	for item, err := range k.store.Table.Between(ctx, k.pk, k.part(0), k.part(maxIndex)) {
		var results []Result
		if err == nil {
			err = json.Unmarshal(item.Data, &results)
		}
		if err != nil {
			return nil, fmt.Errorf("idempotency: results of %s: %w", k.pk, err)
		}
		for _, r := range results {
			done[r.Index] = r
		}
	}
	return done, nil
}

// maxIndex is above every index of a bulk.
const maxIndex = 9999

// part is the sort key of the results whose first index it is.
func (k *Key) part(index int) string { return fmt.Sprintf("P#%d#%04d", k.was.Claim, index) }

// Pack is what a bulk puts into the transaction of a pack: its results, without
// their answers where these are over 300 KB together. results is not empty. The
// transaction fails with ErrRaced if the pack was written before; and near the
// end of the lease Pack does, so that a request that was held up writes nothing
// after another has taken over. A condition on the claim itself would make the
// packs of one bulk conflict with each other.
func (k *Key) Pack(results []Result) (table.Write, error) {
	if k.store.Now().Add(leaseMargin).UnixMilli() > k.was.Lease {
		return table.Write{}, ErrRaced
	}
	item, err := k.dated(table.Key{PK: k.pk, SK: k.part(results[0].Index)}, results, 1)
	if err == nil && len(item.Data) > maxAnswer {
		item, err = k.dated(item.Key, withoutAnswers(results), 1)
	}
	return table.Insert(item).Or(ErrRaced), err
}

func withoutAnswers(results []Result) []Result {
	short := make([]Result, len(results))
	for i, r := range results {
		r.Answer = nil
		short[i] = r
	}
	return short
}

// Settle notes all results of a bulk, for Finish.
func (k *Key) Settle(results []Result) { k.settled = results }

// releaseTime is how long Release may take, also when the request's own time is
// over.
const releaseTime = 2 * time.Second

// Release gives up the claim of a bulk that could not do all of its operations,
// so that a repetition can do what is missing at once. It does nothing for a key
// that was not claimed.
func (k *Key) Release(ctx context.Context) error {
	if !k.claimed {
		return nil
	}
	k.claimed = false
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	return k.replace(ctx, state{Body: k.body, Claim: k.was.Claim})
}

// Leave gives up the claim when its lease ends, and not before. Nothing more is
// kept under the key until then.
func (k *Key) Leave() { k.claimed = false }

// Finish stores what a bulk was answered with, or, where that is over 300 KB, its
// results without their answers. It does nothing for a key that was not claimed
// or was given up.
func (k *Key) Finish(ctx context.Context, version int64, body []byte) error {
	if !k.claimed {
		return nil
	}
	next := state{Body: k.body, Claim: k.was.Claim, Done: true, Version: version, Answer: body}
	if len(body) > maxAnswer {
		next.Answer, next.Results = nil, withoutAnswers(k.settled)
	}
	return k.replace(ctx, next)
}
