package idempotency

import (
	"encoding/json"
	"fmt"

	"lectern/shared/apierr"
)

// former is the content of a key of releases before decision 14: the answer of a request, or
// the results of a bulk. It is read until all such keys have expired, a day after the last of
// the releases.
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

// formerError returns the error of an answer in the form of Result.Error. The answer for a
// contact shows only the message.
func formerError(shown json.RawMessage) (json.RawMessage, error) {
	refused := &apierr.Error{}
	if json.Unmarshal(shown, &refused.Message) != nil {
		if err := json.Unmarshal(shown, refused); err != nil {
			return nil, fmt.Errorf("idempotency: decode a kept error: %w", err)
		}
	}
	return EncodeError(refused)
}
