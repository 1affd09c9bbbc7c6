package idempotency

import (
	"encoding/json"
	"fmt"

	"lectern/shared/apierr"
)

// former is what releases before decision 14 kept of a request that was done: its answer,
// or of a bulk the results. It is read until their keys have ended, a day after the last
// of these releases.
type former struct {
	Answer  json.RawMessage `json:"answer,omitempty"`
	Results []Result        `json:"results,omitempty"`
}

// adopt takes the ids of the records out of an answer that was kept.
func (k *kept) adopt() error {
	if k.Answer == nil {
		return nil
	}
	var answer struct {
		ID      string `json:"id"`
		Results []struct {
			Result
			Status string `json:"status"`
		} `json:"results"`
	}
	if err := json.Unmarshal(k.Answer, &answer); err != nil {
		return fmt.Errorf("idempotency: decode a kept answer: %w", err)
	}
	k.Ref = answer.ID
	for _, r := range answer.Results {
		var err error
		if r.Status == "error" {
			r.Error, err = formerError(r.Error)
		}
		if err != nil {
			return err
		}
		k.Results = append(k.Results, r.Result)
	}
	return nil
}

// formerError returns an error as an answer shows it, of which that of a contact is its
// message alone, as Result.Error has it.
func formerError(shown json.RawMessage) (json.RawMessage, error) {
	refused := &apierr.Error{}
	if json.Unmarshal(shown, &refused.Message) != nil {
		if err := json.Unmarshal(shown, refused); err != nil {
			return nil, fmt.Errorf("idempotency: decode a kept error: %w", err)
		}
	}
	return EncodeError(refused)
}
