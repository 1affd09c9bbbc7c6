package batteries_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/table"
)

// parting stands between the service and the engine. The first batch read that names
// a key of part is made in two, which the real table may do too: first the others,
// then, after between, those.
type parting struct {
	table.Client
	part    func(key string) bool
	between func()
	done    atomic.Bool
}

func (p *parting) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for name, asked := range in.RequestItems {
		var first, second []map[string]ddb.AttributeValue
		for _, key := range asked.Keys {
			pk, sk := key["PK"].(*ddb.AttributeValueMemberS).Value, key["SK"].(*ddb.AttributeValueMemberS).Value
			if p.part != nil && p.part(pk+" "+sk) {
				second = append(second, key)
			} else {
				first = append(first, key)
			}
		}
		if len(second) == 0 || !p.done.CompareAndSwap(false, true) {
			break
		}
		return p.read(ctx, in, name, first, second)
	}
	return p.Client.BatchGetItem(ctx, in, o...)
}

func (p *parting) read(ctx context.Context, in *dynamodb.BatchGetItemInput, name string, parts ...[]map[string]ddb.AttributeValue) (*dynamodb.BatchGetItemOutput, error) {
	all := &dynamodb.BatchGetItemOutput{Responses: map[string][]map[string]ddb.AttributeValue{}}
	for i, keys := range parts {
		if i > 0 {
			p.between()
		}
		if len(keys) == 0 {
			continue
		}
		one, asked := *in, in.RequestItems[name]
		asked.Keys = keys
		one.RequestItems = map[string]ddb.KeysAndAttributes{name: asked}
		out, err := p.Client.BatchGetItem(ctx, &one)
		if err != nil {
			return nil, err
		}
		all.Responses[name] = append(all.Responses[name], out.Responses[name]...)
	}
	return all, nil
}

func startParting(t *testing.T) (*it.Client, *parting) {
	t.Helper()
	p := &parting{}
	s := stacktest.Start(t, stacktest.AsAWS(), stacktest.WithClient(func(c table.Client) table.Client { p.Client = c; return p }))
	return &it.Client{Stack: s, T: t}, p
}

func contact(d *it.Client, status int, method, path string, body any) entity {
	d.T.Helper()
	return entity(d.Call(d.T, status, method, d.EventPath("/contacts"+path), body).JSON(d.T))
}

// TestTheSameMoveTwice sends one change of an address twice at once: the second finds
// the address taken by the contact itself, whose record it has read before.
func TestTheSameMoveTwice(t *testing.T) {
	d, p := startParting(t)
	id := contact(d, 200, http.MethodPost, "/create", object{"email": "a@example.org"}).ID()
	move := func() entity { return contact(d, 200, http.MethodPut, "/"+id, object{"email": "b@example.org"}) }
	p.between = func() { move() }
	p.part = func(key string) bool { return strings.Contains(key, "#Q#email#b@example.org") }
	require.Equal(t, "b@example.org", move()["email"])
	require.True(t, p.done.Load())
}

// TestAnAddressIsGivenUp creates a contact for an address while who has it moves away
// from it.
func TestAnAddressIsGivenUp(t *testing.T) {
	d, p := startParting(t)
	there := d.InNewEvent()
	holder := contact(there, 200, http.MethodPost, "/create", object{"email": "a@example.org"}).ID()
	p.between = func() { contact(there, 200, http.MethodPut, "/"+holder, object{"email": "moved@example.org"}) }
	p.part = func(key string) bool { return strings.HasSuffix(key, fmt.Sprintf("#C#%s E#%d", holder, d.Event)) }
	made := contact(d, 200, http.MethodPost, "/create", object{"email": "a@example.org"})
	require.True(t, p.done.Load())
	require.NotEqual(t, holder, made.ID())
	require.Equal(t, "moved@example.org", contact(there, 200, http.MethodGet, "/"+holder, nil)["email"])
}

// TestAContactIsReadWhole changes record and association in one write while a GET has
// read one of them.
func TestAContactIsReadWhole(t *testing.T) {
	for _, half := range []string{"B", "E#"} {
		t.Run(half, func(t *testing.T) {
			d, p := startParting(t)
			field := d.Call(t, 200, http.MethodPost, d.EventPath("/fields/create"), object{"name": "Size", "type": "text", "module_id": "contact"}).JSON(t)
			name := field["internal_name"].(string)
			values := func(v string) object { return object{"title": v, "custom_fields": object{name: v}} }
			id := contact(d, 200, http.MethodPost, "/create", it.Merged(values("old"), object{"email": "a@example.org"})).ID()
			p.between = func() { contact(d, 200, http.MethodPut, "/"+id, values("new")) }
			p.part = func(key string) bool { return strings.Contains(key, "#C#"+id+" "+half) }
			shown := contact(d, 200, http.MethodGet, "/"+id, nil)
			require.True(t, p.done.Load())
			require.Equal(t, "new", shown["title"])
			require.Equal(t, "new", shown.List("custom_fields")[0]["value"])
		})
	}
}

// TestAnAddressMovesDuringASearch for it: nobody is found who does not have it.
func TestAnAddressMovesDuringASearch(t *testing.T) {
	for _, bad := range []bool{false, true} {
		t.Run(fmt.Sprint(bad), func(t *testing.T) {
			d, p := startParting(t)
			s := it.NewPeople(d, "Ann")
			if bad {
				it.WithDamagedRows(d)
			}
			s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}})
			at, reads := &it.Client{Stack: d.Instance(t), T: t}, atomic.Int64{}
			p.between = func() { contact(d, 200, http.MethodPut, "/"+s.IDs["Ann"], object{"email": "other@example.org"}) }
			p.part = func(key string) bool {
				return strings.HasSuffix(key, "#C#"+s.IDs["Ann"]+" B") && reads.Add(1) == 2 // After whom the address belongs to.
			}
			body := object{"filters": object{"email": it.EmailOf("Ann")}}
			answer := stacktest.Call[it.Page](at.Stack, 200, http.MethodPost, at.EventPath("/participants"), body)
			require.True(t, p.done.Load())
			require.Empty(t, answer.Results)
			require.Zero(t, answer.Pagination.TotalResults)
		})
	}
}
