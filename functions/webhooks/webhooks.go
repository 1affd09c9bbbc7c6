// Package webhooks is the Webhooks tag group: the endpoints of an organization, their
// deliveries, and the kinds of change. The contract has no operations for webhooks (gaps.md
// section 10). Read webhooks.go, ping.go, deliveries.go, types.go.
package webhooks

import (
	"context"
	"slices"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/delivery"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/webhook"
	"lectern/shared/wire"
	"lectern/shared/write"
)

const (
	path       = "/v1/webhooks"
	one        = path + "/{webhookId}"
	deliveries = one + "/deliveries"
	attempt    = deliveries + "/{deliveryId}"
)

// Group declares every route of the tag group.
var Group = api.NewGroup("Webhooks", start, slices.Concat(
	[]api.Route[service]{
		api.Get("listWebhooks", path, (*service).list, reads, says(aboutList)),
		api.Post("createWebhook", path+"/create", (*service).create, writes, limit, says(aboutCreate)),
		api.Get("getWebhook", one, (*service).get, reads, says(aboutGet)),
		api.Put("updateWebhook", one, (*service).update, writes, limit, says(aboutUpdate)),
		api.Delete("deleteWebhook", one, (*service).remove, writes, limit, says(aboutDelete)),
		api.Post("testWebhook", one+"/test", (*service).test, writes, limit, api.Repeatable, says(aboutTest)),
		api.Post("rotateWebhookSecret", one+"/rotate-secret", (*service).rotate, writes, limit, says(aboutRotate)),
	},
	[]api.Route[service]{
		api.Get("listWebhookDeliveries", deliveries, (*service).deliveries, reads, says(aboutDeliveries)),
		api.Post("redeliverWebhook", attempt+"/redeliver", (*service).redeliver, writes, limit, api.Repeatable, says(aboutRedeliver)),
		api.Post("replayWebhooks", deliveries+"/replay", (*service).replay, writes, limit, api.Repeatable, says(aboutReplay)),
		api.Post("cancelWebhookDelivery", attempt+"/cancel", (*service).cancel, writes, limit, api.Repeatable, says(aboutCancel)),
		api.Get("listWebhookEventTypes", "/v1/webhook-event-types", (*service).types, reads, says(aboutTypes)),
	},
))

var (
	reads  = auth.Scopes{auth.ReadEvents}
	writes = auth.Scopes{auth.WriteEvents}
	limit  = api.Limit(ratelimit.EventManagementWrites)
)

// says describes an operation as one beyond the contract.
func says(markdown string) api.Option {
	return api.Describe("An extension of this service. " + markdown)
}

const (
	aboutList = "Lists the webhook endpoints of the organization in the order of their creation. " +
		"A token that is limited to events lists the endpoints that it wrote, and those of its events alone."
	aboutGet = "Shows an endpoint. Header values read `***`, and the secret is never shown again. " +
		"`paused_reason` says why an enabled endpoint gets nothing, or which part it does not get: an endpoint gets what the token " +
		"that wrote it last may read, while its member is active and the token neither revoked nor expired."
	aboutCreate = "Creates an endpoint. There may be 20; one more is a 409 `LIMIT_REACHED`. " +
		"The token needs a read scope of each kind in `events`, otherwise the answer is a 403 `INSUFFICIENT_SCOPE` that names the entry.\n\n" +
		"The answer shows the `secret`, once: each delivery is signed with it by the scheme Standard Webhooks. " +
		"A request that is repeated under its Idempotency-Key gets the endpoint without the secret; `rotate-secret` gives a new one.\n\n" +
		"Deliveries come at least once and in no order: drop those with a `webhook-id` that was seen before, and those with a " +
		"`metadata.sequence` that is not higher than that of the same record before. For example:\n\n" +
		"```json\n" + `{"url": "https://hooks.example.org/lectern", "events": ["session.updated", "session.deleted"], ` +
		`"headers": {"X-Receiver-Key": "a long key"}, "description": "Our agenda"}` + "\n```"
	aboutUpdate = "Changes the properties that are sent; the others stay. What a read shows can be sent back: a header value of `***` keeps " +
		"the stored value. Afterwards the endpoint gets what the token of the update may read, so the token needs a read scope of each kind: " +
		"otherwise the answer is a 403 `INSUFFICIENT_SCOPE`. An update with `enabled: true` enables an endpoint that the service has disabled. " +
		"A stale `updated_at` or `If-Match` is a 409. For example:\n\n```json\n" + `{"enabled": false}` + "\n```"
	aboutDelete = "Answers the endpoint with `deleted_at`. Afterwards the endpoint is not found and gets nothing; " +
		"its secret and headers are forgotten at once."
	aboutTest = "Sends the kind `webhook.ping` to the endpoint, also to one that is disabled or paused, once and without retries. " +
		"The answer shows what the receiver has answered within 15 seconds, and what was signed. " +
		"A receiver that fails is no error of the operation: `delivered` is false."
	aboutRotate = "Gives the endpoint a new secret, which the answer shows, once. For 24 hours the former secret signs beside the new one. " +
		"A request that is repeated under its Idempotency-Key gets the endpoint without the secret."
)

type service struct {
	api.Env
	endpoints *webhook.Store
	sender    *webhook.Sender
	store     delivery.Store
}

func start(env api.Env) *service {
	store := delivery.Store{Table: env.Table, Now: env.Now}
	return &service{Env: env, endpoints: webhook.NewStore(env), sender: webhook.NewSender(env), store: store}
}

// In names an endpoint.
type In struct {
	ID string `path:"webhookId" format:"uuid" doc:"The endpoint's id."`
}

type createInput struct {
	Body wire.Create[webhook.Draft]
}

type updateInput struct {
	In
	api.Revision
	Body wire.Update[webhook.Draft]
}

type changeInput struct {
	In
	api.Revision
}

// Issued is an endpoint with a secret that is shown once.
type Issued struct {
	webhook.Endpoint
	Secret string `json:"secret,omitempty" example:"whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" doc:"The secret that signs each delivery. It is not shown again, and absent when the request is repeated under its Idempotency-Key."`
}

// issued returns the answer with an endpoint and its new secret.
func issued(e *webhook.Endpoint, secret string, err error) (*Issued, error) {
	if err != nil {
		return nil, err
	}
	return &Issued{*e, secret}, nil
}

func (s *service) list(ctx context.Context, in *page.ListQuery) (*page.Of[*webhook.Endpoint], error) {
	all, err := s.endpoints.List(ctx)
	if err != nil {
		return nil, err
	}
	return page.Slice(in.Query(), all), nil
}

func (s *service) create(ctx context.Context, in *createInput) (*Issued, error) {
	return issued(s.endpoints.Create(ctx, in.Body.Draft))
}

func (s *service) get(ctx context.Context, in *In) (*webhook.Endpoint, error) {
	return s.endpoints.Get(ctx, in.ID)
}

// update changes an endpoint. What the deliverers know of the endpoint is not true of an address that is
// new, or of an endpoint that is enabled again.
func (s *service) update(ctx context.Context, in *updateInput) (*webhook.Endpoint, error) {
	before, missing := s.endpoints.Get(ctx, in.ID) // The update says why, after it has checked the body.
	e, err := s.endpoints.Update(ctx, in.ID, in.Body.Draft, write.Guard{UpdatedAt: in.Body.UpdatedAt, IfMatch: in.IfMatch})
	if err != nil || missing == nil && e.URL == before.URL && (before.Enabled || !e.Enabled) {
		return e, err
	}
	if err := s.store.ForgetStreak(ctx, auth.From(ctx).Org.ID, in.ID); err != nil { // It is advice alone.
		s.Log.ErrorContext(ctx, "the state of an endpoint was not removed", "endpoint", in.ID, "error", err)
	}
	return e, nil
}

func (s *service) remove(ctx context.Context, in *changeInput) (*webhook.Endpoint, error) {
	return s.endpoints.Delete(ctx, in.ID, write.Guard{IfMatch: in.IfMatch})
}

func (s *service) rotate(ctx context.Context, in *changeInput) (*Issued, error) {
	return issued(s.endpoints.Rotate(ctx, in.ID, write.Guard{IfMatch: in.IfMatch}))
}
