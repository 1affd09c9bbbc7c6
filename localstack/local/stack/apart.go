package stack

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lectern/functions"
	"lectern/functions/operator"
	"lectern/localstack/local/bus"
	"lectern/shared/api"
	"lectern/shared/secret"
	"lectern/shared/table"
)

// inProcess runs the functions of an instance in this process.
type inProcess struct {
	stack *Stack
	env   api.Env
}

// group returns the function of a group.
func (p inProcess) group(g api.Group) function {
	handler := g.Handler(p.envOf(g.Name))
	return function{invoke: api.Proxy(handler), stream: handler}
}

// operator does commands like the operator's own function.
func (p inProcess) operator() func(context.Context, string, json.RawMessage) (any, error) {
	env := p.envOf(functions.Operator)
	env.Places = p.stack.places(functions.Operator)
	return operator.New(env).Do
}

// envOf returns the environment of a function. With Config.Apart, functions share neither
// memory nor client, as on Lambda.
func (p inProcess) envOf(name string) api.Env {
	if !p.stack.config.Apart {
		return p.env
	}
	env := p.env
	env.Table, env.Memory = table.New(p.stack.clientOf(name), p.stack.config.Table), &api.Memory{}
	env.Table.Log, env.Keys, env.Blobs = env.Log, p.stack.keysOf(name), p.stack.BlobsOf(name)
	return env
}

// keysOf returns the keys of a function of its own. With a recorder and a local bus, the function
// loads the master key from the bus, as its own binary does, so that the recorder sees the call.
func (s *Stack) keysOf(name string) *secret.Keys {
	if s.record == nil || s.bus == nil {
		return &secret.Keys{Load: s.key.load}
	}
	at := secretsAt{s.busAddress(name), Regions[s.config.Region]}
	return &secret.Keys{Load: (&secret.Manager{Secret: bus.Secret(s.config.Region), Config: at.config}).Load}
}

// secretsAt is an address in place of Secrets Manager, with its AWS region.
type secretsAt struct{ address, region string }

func (a secretsAt) config(context.Context) (aws.Config, error) {
	return aws.Config{
		Region: a.region, BaseEndpoint: &a.address, HTTPClient: table.HTTPClient(nil),
		Credentials: credentials.NewStaticCredentialsProvider("local", "local", ""),
	}, nil
}

// clientOf returns the table client of a function of its own: with a recorder, the calls go to the
// function's address there.
func (s *Stack) clientOf(name string) table.Client {
	if s.record == nil {
		return s.client
	}
	return routed{s.client, s.record.Address(name)}
}

// routed is the table client of a function that sends calls to the function's address at the
// recorder. It stands before the door of Config.Wrap, so that the recorder sees the calls
// that reach the engine, and under the function's name.
type routed struct {
	inner   table.Client
	address string
}

// options returns the options of a call, with the address.
func (c routed) options(o []func(*dynamodb.Options)) []func(*dynamodb.Options) {
	return append(slices.Clip(o), c.direct)
}

// direct sends a call to the address.
func (c routed) direct(o *dynamodb.Options) { o.BaseEndpoint = &c.address }

// GetItem forwards the call.
func (c routed) GetItem(ctx context.Context, in *dynamodb.GetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return c.inner.GetItem(ctx, in, c.options(o)...)
}

// BatchGetItem forwards the call.
func (c routed) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return c.inner.BatchGetItem(ctx, in, c.options(o)...)
}

// Query forwards the call.
func (c routed) Query(ctx context.Context, in *dynamodb.QueryInput,
	o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return c.inner.Query(ctx, in, c.options(o)...)
}

// UpdateItem forwards the call.
func (c routed) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return c.inner.UpdateItem(ctx, in, c.options(o)...)
}

// TransactGetItems forwards the call.
func (c routed) TransactGetItems(ctx context.Context, in *dynamodb.TransactGetItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactGetItemsOutput, error) {
	return c.inner.TransactGetItems(ctx, in, c.options(o)...)
}

// TransactWriteItems forwards the call.
func (c routed) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return c.inner.TransactWriteItems(ctx, in, c.options(o)...)
}
