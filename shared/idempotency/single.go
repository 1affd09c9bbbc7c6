package idempotency

import (
	"encoding/json"
	"fmt"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// Ref is the id of the record that an earlier request under the key wrote, if
// its answer was too long to keep; otherwise empty. The write must then not be
// made again, but its answer be rendered again.
func (k *Key) Ref() string { return k.was.Ref }

// Replays is whether the request was answered before, in this or another form:
// nothing is done any more.
func (k *Key) Replays() bool { return k.was.Done }

// Write is what a single write puts into its transaction: the key's item with
// the answer, or with the answer's id where it is over 300 KB. The transaction
// fails with ErrRaced if the key was used meanwhile.
func (k *Key) Write(answer any) (table.Write, error) {
	body, err := wire.Encode(answer)
	if err != nil {
		return table.Write{}, fmt.Errorf("idempotency: encode answer: %w", err)
	}
	s := state{Body: k.body, Done: true, Answer: body}
	if r, ok := answer.(interface{ Revision() int64 }); ok {
		s.Version = r.Revision()
	}
	if len(body) > maxAnswer {
		s.Answer = nil
		if s.Ref, err = idOf(body); err != nil {
			return table.Write{}, err
		}
	}
	item, err := k.stored(s, 1)
	return table.Insert(item).Or(ErrRaced), err
}

// idOf reads the id out of an answer that shows one record.
func idOf(body []byte) (string, error) {
	var record struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal(body, &record); err != nil || record.ID == "" {
		return "", fmt.Errorf("idempotency: an answer over %d bytes has no id to render it by: %w", maxAnswer, err)
	}
	return record.ID, nil
}

// item is where the key's item stands.
func (k *Key) item() table.Key { return table.Key{PK: k.pk, SK: "-"} }

func (k *Key) stored(s state, version int64) (table.Item, error) {
	return k.dated(k.item(), s, version)
}

// dated is an item of the key. An answer lives as long as answers are kept; what a
// claim has until then, its item and the results of its parts, ends at one time
// however often the claim is taken up: a claim must not outlive its results.
func (k *Key) dated(key table.Key, data any, version int64) (table.Item, error) {
	text, err := wire.Encode(data)
	if err != nil {
		return table.Item{}, fmt.Errorf("idempotency: encode %s: %w", key.PK, err)
	}
	expires := k.store.Now().Add(keep)
	if s, _ := data.(state); k.was.Claim != 0 && !s.Done {
		expires = k.ends()
	}
	return table.Item{Key: key, Version: version, Data: text, Expires: expires.Unix()}, nil
}
