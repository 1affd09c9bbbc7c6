package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"lectern/shared/table"
)

// Result is the result of an operation of a bulk.
type Result struct {
	Index int `json:"index"`
	// ID and Version are the record's after the operation. As stored, an ID that follows
	// from the key (RecordID) is left out, and so is an unknown Version.
	ID      string `json:"id,omitempty"`
	Version int64  `json:"version,omitempty"`
	// Error is the reason of a refusal, by EncodeError. A refused operation has no ID.
	Error json.RawMessage `json:"error,omitempty"`
}

// Claim takes the key for a bulk, before its first write. It returns the 409 of Begin
// while another request has the claim.
func (k *Key) Claim(ctx context.Context) error {
	if k.Replays() {
		return nil
	}
	return k.refused(k.job.Claim(ctx))
}

// ID returns the id of the record that the operation at index of a bulk creates, the
// same in every request that takes up the claim; index -1 is the bulk's own.
func (k *Key) ID(index int) string { return RecordID(k.job.PK, k.job.Begun(), index) }

// RecordID returns the ID for the partition and claim of a key.
func RecordID(pk string, claim int64, index int) string {
	u := sha256.Sum256(fmt.Appendf(nil, "%s|%d|%d", pk, claim, index))
	u[6] = u[6]&0x0f | 0x80 // version 8: a UUID with a layout of our own
	u[8] = u[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[0:4], u[4:6], u[6:8], u[8:10], u[10:16])
}

// Done returns, by index, the results of a finished bulk, or of the operations that an earlier
// try has written.
func (k *Key) Done(ctx context.Context) (map[int]Result, error) {
	done := map[int]Result{}
	if k.kept.Done {
		k.note(done, k.kept.Results)
		return done, nil
	}
	parts, err := k.job.Parts(ctx)
	if err != nil {
		return nil, err
	}
	for name, data := range parts {
		var results []Result
		if err := json.Unmarshal(data, &results); err != nil {
			return nil, fmt.Errorf("idempotency: decode part %s of %s: %w", name, k.job.PK, err)
		}
		k.note(done, results)
	}
	if k.job.Finished() {
		var results []Result
		if err := k.job.Result(&results); err != nil {
			return nil, err
		}
		k.note(done, results)
	}
	return done, nil
}

func (k *Key) note(done map[int]Result, results []Result) {
	for _, r := range results {
		if r.ID == "" && r.Error == nil {
			r.ID = k.ID(r.Index)
		}
		done[r.Index] = r
	}
}

// Pack returns the write of a pack's results, at least one result, for the transaction of the
// pack. The transaction fails with ErrRaced if the pack was written before; near the end
// of the lease Pack does. An id that follows from the key is left out.
func (k *Key) Pack(results []Result) (table.Write, error) {
	w, err := k.job.Done(fmt.Sprintf("%04d", results[0].Index), k.short(results))
	return w.Or(ErrRaced), k.refused(err)
}

func (k *Key) short(results []Result) []Result {
	short := make([]Result, len(results))
	for i, r := range results {
		if r.ID == k.ID(r.Index) {
			r.ID = ""
		}
		short[i] = r
	}
	return short
}

// Finish notes that a bulk is done, with the results that stand in no pack.
func (k *Key) Finish(ctx context.Context, results []Result) error {
	return k.refused(k.job.Finish(ctx, k.short(results)))
}

// Release gives up the claim of a bulk that could not do all of its operations, so that
// a repetition can do the missing operations at once.
func (k *Key) Release(ctx context.Context) error { return k.job.Release(ctx) }

// Leave gives up the claim at the end of the lease, and not before.
func (k *Key) Leave() { k.job.Leave() }
