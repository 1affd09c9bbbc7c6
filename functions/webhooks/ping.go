package webhooks

import (
	"context"

	"lectern/events/schemas"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/webhook"
	"lectern/shared/wire"
)

// Outcome is what the receiver of a ping did.
type Outcome struct {
	ID        string  `json:"id" format:"uuid" doc:"The webhook-id of the ping."`
	Delivered bool    `json:"delivered" doc:"Whether the status of the answer is 200 to 299."`
	Status    *int    `json:"status" doc:"The status of the answer; null without an answer."`
	LatencyMS int64   `json:"latency_ms"`
	Error     *string `json:"error" doc:"Why there is no answer; null with one."`
	Response  *string `json:"response" doc:"The first 2 KB of the answer; null without an answer."`
	Signed    string  `json:"signed" doc:"The text that was signed: id, timestamp and body, with full stops between."`
}

// test sends a ping to an endpoint.
func (s *service) test(ctx context.Context, in *In) (*Outcome, error) {
	e, err := s.endpoints.Get(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	caller := auth.From(ctx)
	ping := schemas.Ping{
		Data: schemas.PingData{ID: e.ID, Message: "This is a test."},
		Metadata: schemas.Metadata{
			ID: s.NewID(), Action: webhook.Ping, ActorID: &caller.Member.ID, OrgID: caller.Org.ID,
			ResourceURL: api.BasePath(ctx) + path + "/" + e.ID, Version: schemas.Version, DateTime: wire.At(s.Now()), Changed: []string{},
		},
	}
	body, err := wire.Encode(ping)
	if err != nil {
		return nil, err
	}
	a, err := s.sender.Send(ctx, webhook.Request{
		Org: caller.Org.ID, Endpoint: e, ID: ping.Metadata.ID, Kind: webhook.Ping, Attempt: 1, Body: body,
	})
	if err != nil {
		return nil, err
	}
	out := &Outcome{ID: ping.Metadata.ID, LatencyMS: a.Latency.Milliseconds(), Signed: a.Signed + string(body)}
	if a.Error != "" {
		out.Error = &a.Error
		return out, nil
	}
	out.Status, out.Response, out.Delivered = &a.Status, &a.Body, a.Status >= 200 && a.Status < 300
	return out, nil
}
