package change

import "context"

type origin struct {
	actor   Actor
	source  string
	request string
}

type originKey struct{}

func from(ctx context.Context) origin {
	o, _ := ctx.Value(originKey{}).(origin)
	return o
}

// WithActor notes who acts under the context, and through what: one of the
// Source constants.
func WithActor(ctx context.Context, a Actor, source string) context.Context {
	o := from(ctx)
	o.actor, o.source = a, source
	return context.WithValue(ctx, originKey{}, o)
}

// WithRequest notes the id of the request that is served under the context.
func WithRequest(ctx context.Context, id string) context.Context {
	o := from(ctx)
	o.request = id
	return context.WithValue(ctx, originKey{}, o)
}
