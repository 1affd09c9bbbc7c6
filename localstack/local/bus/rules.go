package bus

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"lectern/events"
)

// entry is an event in a call of PutEvents.
type entry struct {
	Source       string
	DetailType   string
	Detail       string
	EventBusName string
	// Time is in seconds.
	Time float64
}

// put is the answer for an entry.
type put struct {
	EventID      string `json:"EventId,omitempty"`
	ErrorCode    string `json:",omitempty"`
	ErrorMessage string `json:",omitempty"`
}

func (b *Bus) putEvents(in struct{ Entries []entry }) (any, error) {
	if n := len(in.Entries); n == 0 || n > maxEntries {
		return nil, invalid("ValidationException", "a call has one to ten entries")
	}
	answer := struct {
		FailedEntryCount int
		Entries          []put
	}{}
	for _, e := range in.Entries {
		p, err := b.putEvent(e)
		if err != nil {
			return nil, err
		}
		if p.ErrorCode != "" {
			answer.FailedEntryCount++
		}
		answer.Entries = append(answer.Entries, p)
	}
	return answer, nil
}

// putEvent sends an event to the queues of the rules that match, or refuses the event.
func (b *Bus) putEvent(e entry) (put, error) {
	detail := object(e.Detail)
	switch {
	case e.EventBusName != b.config.prefix():
		return put{ErrorCode: "InvalidArgument", ErrorMessage: fmt.Sprintf("there is no bus %q", e.EventBusName)}, nil
	case e.Source == "" || e.DetailType == "":
		return put{ErrorCode: "InvalidArgument", ErrorMessage: "an event needs a source and a detail-type"}, nil
	case detail == nil:
		return put{ErrorCode: "MalformedDetail", ErrorMessage: "the detail is no JSON object"}, nil
	}
	at := b.config.Now()
	if seconds, part := math.Modf(e.Time); e.Time > 0 {
		at = time.Unix(int64(seconds), int64(part*float64(time.Second)))
	}
	event := b.event(e, at, detail)
	return put{EventID: event["id"].(string)}, b.route(event, e.Detail, false)
}

// event returns an event as EventBridge sends it.
func (b *Bus) event(e entry, at time.Time, detail map[string]any) map[string]any {
	return map[string]any{
		"version": "0", "id": uuid.NewString(), "detail-type": e.DetailType, "source": e.Source, "account": "000000000000",
		"time": at.UTC().Format(time.RFC3339), "region": b.config.AWSRegion, "resources": []any{}, "detail": detail,
	}
}

// Emit sends an event of AWS, which is on the default bus of the account, to the queues of the rules that
// match.
func (b *Bus) Emit(source, detailType string, detail any) error {
	text, err := json.Marshal(detail)
	if err != nil {
		return fmt.Errorf("bus: encode an event: %w", err)
	}
	return b.route(b.event(entry{Source: source, DetailType: detailType}, b.config.Now(), object(string(text))), string(text), true)
}

// object returns a JSON object; nil for any other text.
func object(text string) (decoded map[string]any) {
	if json.Unmarshal([]byte(text), &decoded) != nil {
		return nil
	}
	return decoded
}

// route sends an event to the queue of each rule of its bus that matches: of AWS on the default bus, or of
// the region's bus. detail is the detail as it was sent, so that its numbers keep all of their digits.
func (b *Bus) route(event map[string]any, detail string, ofAWS bool) error {
	var to []*queue
	for _, r := range b.config.Rules {
		if r.OfAWS == ofAWS && matches(r.Pattern, event) {
			to = append(to, b.queues.byName[r.Queue])
		}
	}
	event["detail"] = json.RawMessage(detail)
	body, err := json.Marshal(event)
	if err != nil {
		return fmt.Errorf("bus: encode an event: %w", err)
	}
	for _, q := range to {
		if err := b.queues.send(q, newMessage(string(body), "", b.config.Now(), 0)); err != nil {
			return err
		}
	}
	return nil
}

// matches reports whether an event matches a pattern, as EventBridge decides for lists of texts: a
// field matches if its text, or an element of its list, is in the pattern's list.
func matches(pattern events.Pattern, event map[string]any) bool {
	for field, want := range pattern {
		switch want := want.(type) {
		case events.Pattern:
			inner, ok := event[field].(map[string]any)
			if !ok || !matches(want, inner) {
				return false
			}
		case []string:
			if !anyOf(event[field], want) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// anyOf reports whether a value is one of the texts, or a list with one of the texts.
func anyOf(value any, texts []string) bool {
	switch value := value.(type) {
	case string:
		return slices.Contains(texts, value)
	case []any:
		return slices.ContainsFunc(value, func(v any) bool { return anyOf(v, texts) })
	}
	return false
}
