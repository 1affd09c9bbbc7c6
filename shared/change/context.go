package change

import "context"

// Origin says who makes the changes of a context, through what, and in which request.
type Origin struct {
	Actor Actor `json:"actor"`
	// Source is one of the Source constants.
	Source  string `json:"source"`
	Request string `json:"request_id,omitempty"`
}

type originKey struct{}

// OriginOf returns the origin of the changes of a context.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}

// WithOrigin returns a context for changes of an origin, for a worker that goes on with a request.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// WithActor returns a context with the actor and the source of its changes.
func WithActor(ctx context.Context, a Actor, source string) context.Context {
	o := OriginOf(ctx)
	o.Actor, o.Source = a, source
	return WithOrigin(ctx, o)
}

// WithRequest returns a context with the id of the request.
func WithRequest(ctx context.Context, id string) context.Context {
	o := OriginOf(ctx)
	o.Request = id
	return WithOrigin(ctx, o)
}

// AsService returns a context for changes that the service makes by itself.
func AsService(ctx context.Context) context.Context {
	return WithActor(ctx, Actor{Type: ActorSystem}, SourceService)
}
