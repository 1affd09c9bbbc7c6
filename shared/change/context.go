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

// WithActor returns a context with the actor and the source of its changes.
func WithActor(ctx context.Context, a Actor, source string) context.Context {
	o := from(ctx)
	o.actor, o.source = a, source
	return context.WithValue(ctx, originKey{}, o)
}

// WithRequest returns a context with the id of the request.
func WithRequest(ctx context.Context, id string) context.Context {
	o := from(ctx)
	o.request = id
	return context.WithValue(ctx, originKey{}, o)
}

// AsService returns a context for changes that the service makes by itself.
func AsService(ctx context.Context) context.Context {
	return WithActor(ctx, Actor{Type: ActorSystem}, SourceService)
}
