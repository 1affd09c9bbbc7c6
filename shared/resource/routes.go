package resource

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/page"
	"lectern/shared/ratelimit"
	"lectern/shared/record"
	"lectern/shared/write"
)

// Routes names the paths of a kind's records, with scopes and buckets.
type Routes struct {
	// Path is the path of the collection. Its prefix names the owner: an event, an organization,
	// or, without either, the organization of the token. A kind with several prefixes has Routes
	// for each. ID is the path's name of a record's id, for example ruleId, and Parent that of
	// the parent's id; empty without a parent. Within is the path's name of the record of a tree that the
	// records are below.
	Path, ID, Parent, Within string
	// One and Many are the names in operation ids, for example Rule and Rules.
	One, Many string
	// About describes the kind in Markdown for the document, Example is the body of a create.
	About, Example string
	// Refusals says in Markdown why a write of any operation is refused; empty for a kind without.
	Refusals string
	// Keeps says in Markdown which records cannot be deleted at all: a 422. It is empty for a kind without.
	Keeps       string
	Read, Write auth.Scopes
	// Reads and Writes are the buckets.
	Reads, Writes ratelimit.Bucket
	// Paged has the list answer in pages. Post adds the create as POST on the collection, and
	// Patch the update as PATCH. Restore adds the route that restores a deleted record, and Bulk
	// the route that does many operations. ReadOnly has the routes list and get alone.
	Paged, Post, Patch, Restore, Bulk, ReadOnly bool
	// NoList and NoGet leave out the route that lists or reads records, for a group with such a route of its own.
	NoList, NoGet bool
	// OwnLimit has About name the limit of records: Admit refuses a record before the Max of the kind does.
	OwnLimit bool
}

// Of returns the routes of a kind: list, create, get, update and delete, and the routes that r
// adds. store gives the store of the group's service.
func Of[S, R any, P Record[R], D Draft[P]](k *Kind[R, P, D], r Routes, store func(*S) Store) []api.Route[S] {
	type all = Collection[R, P, D]
	names := []api.Option{api.InPath("id", r.ID), api.InPath("parentId", r.Parent), api.InPath("withinId", r.Within)}
	says := func(bucket ratelimit.Bucket, text string) []api.Option {
		return append(names[:3:3], api.Limit(bucket), api.Describe(text))
	}
	writes := func(text string) []api.Option { return says(r.Writes, r.withRefusals(text)) }
	one := r.Path + "/{" + r.ID + "}"
	lists := r.lists(k.Above != nil)
	list := api.Get("list"+r.Many, r.Path, handler(k, store, all.list), r.Read, says(r.Reads, lists)...)
	if r.Paged {
		list = api.Get("list"+r.Many, r.Path, handler(k, store, all.page), r.Read, says(r.Reads, lists)...)
	}
	get := api.Get("get"+r.One, one, handler(k, store, all.get), r.Read, says(r.Reads, r.About)...)
	if r.ReadOnly {
		return []api.Route[S]{list, get}
	}
	create, creates := handler(k, store, all.create), says(r.Writes, r.creates(k.Max, k.Many))
	update := handler(k, store, all.update)
	removes := append(writes(r.deletes()), r.keeps()...)
	remove := api.Delete("delete"+r.One, one, handler(k, store, all.remove), r.Write, removes...)
	if k.Above != nil {
		remove = api.Delete("delete"+r.One, one, handler(k, store, all.cascade), r.Write, removes...)
	} else if k.MayDelete != nil {
		remove = api.Delete("delete"+r.One, one, handler(k, store, all.force), r.Write, removes...)
	}
	var routes []api.Route[S]
	if !r.NoList {
		routes = append(routes, list)
	}
	routes = append(routes, api.Post("create"+r.One, r.Path+"/create", create, r.Write, creates...))
	if !r.NoGet {
		routes = append(routes, get)
	}
	routes = append(routes, api.Put("update"+r.One, one, update, r.Write, writes(Updates)...), remove)
	if r.Post {
		routes = append(routes, api.Post("post"+r.One, r.Path, create, r.Write, creates...))
	}
	if r.Patch {
		routes = append(routes, api.Patch("patch"+r.One, one, update, r.Write, writes(Updates)...))
	}
	if r.Restore {
		restore := handler(k, store, all.restore)
		routes = append(routes, api.Post("restore"+r.One, one+"/restore", restore, r.Write, writes(restores)...))
	}
	if r.Bulk {
		options := append(writes(bulks), api.MaxBody(api.BulkBodyLimit))
		routes = append(routes, api.Post("bulk"+r.Many, r.Path+"/bulk", handler(k, store, all.bulk), r.Write, options...))
	}
	return routes
}

// Descriptions of the operations that say the same of every kind.
const (
	Lists   = "Lists all records that are not deleted, by their `order`, if they have one, and in the order of their creation."
	tops    = " A result is at the top and has the records below."
	belows  = "Lists the records directly below, by their `order`. Each has the records below."
	Updates = "Changes the properties that are sent; the others stay. What a read shows can be sent back. " +
		"A stale `updated_at` or `If-Match` is a 409."
	Deletes  = "Answers the record with `deleted_at`. Afterwards the record is not found."
	restores = "Brings a deleted record back, within 30 days of its deletion."
	bulks    = "Does up to 100 operations in their order. Each succeeds or fails alone, and sees what earlier ones did to the same record."
)

// lists returns the description of the list.
func (r Routes) lists(tree bool) string {
	switch {
	case r.Within != "":
		return belows
	case tree:
		return Lists + tops
	}
	return Lists
}

// creates returns the description of the create.
func (r Routes) creates(most int, many string) string {
	limit := fmt.Sprintf("There may be %d %s; one more is a 409 `LIMIT_REACHED`. ", most, many)
	if r.OwnLimit {
		limit = ""
	}
	return fmt.Sprintf("%s\n\n%sFor example:\n\n```json\n%s\n```", r.withRefusals(r.About), limit, r.Example)
}

// deletes returns the description of the delete.
func (r Routes) deletes() string { return strings.TrimSpace(Deletes + " " + r.Keeps) }

// keeps declares the 422 of a delete.
func (r Routes) keeps() []api.Option {
	if r.Keeps == "" {
		return nil
	}
	return []api.Option{api.Refuses(http.StatusUnprocessableEntity)}
}

// withRefusals returns the description of a write with the refusals.
func (r Routes) withRefusals(text string) string { return strings.TrimSpace(text + " " + r.Refusals) }

// located is the pointer to an input that names an owner.
type located[I any] interface {
	*I
	Owner(*auth.Caller) (Owner, error)
}

// handler returns the handler that calls do on the records of the owner in the path.
func handler[S, I, O, R any, L located[I], P Record[R], D Draft[P]](
	k *Kind[R, P, D], store func(*S) Store, do func(Collection[R, P, D], context.Context, L) (*O, error),
) api.Handler[S, I, O] {
	return func(s *S, ctx context.Context, in *I) (*O, error) {
		o, err := L(in).Owner(auth.From(ctx))
		if err != nil {
			return nil, err
		}
		return do(k.Of(store(s), o), ctx, L(in))
	}
}

func (c Collection[R, P, D]) list(ctx context.Context, _ *listInput) (*[]P, error) {
	all, err := c.List(ctx)
	return &all, err
}

func (c Collection[R, P, D]) page(ctx context.Context, in *pageInput) (*page.Of[P], error) {
	return c.Page(ctx, in.Query, nil)
}

func (c Collection[R, P, D]) get(ctx context.Context, in *getInput) (*R, error) {
	return c.Get(ctx, in.ID)
}

func (c Collection[R, P, D]) create(ctx context.Context, in *createInput[D]) (*R, error) {
	return c.Create(ctx, in.Body.Draft)
}

func (c Collection[R, P, D]) update(ctx context.Context, in *updateInput[D]) (*R, error) {
	return c.Change(ctx, in.ID, Change[D]{Verb: record.Updated, Draft: &in.Body.Draft, Guard: in.guard()})
}

func (c Collection[R, P, D]) remove(ctx context.Context, in *removeInput) (*R, error) {
	return c.Change(ctx, in.ID, Change[D]{Verb: record.Deleted, Guard: write.Guard{IfMatch: in.IfMatch}})
}

func (c Collection[R, P, D]) force(ctx context.Context, in *forceInput) (*R, error) {
	return c.Change(ctx, in.ID, Change[D]{Verb: record.Deleted, Guard: write.Guard{IfMatch: in.IfMatch}, Force: in.Force})
}

func (c Collection[R, P, D]) restore(ctx context.Context, in *removeInput) (*R, error) {
	return c.Change(ctx, in.ID, Change[D]{Verb: record.Restored, Guard: write.Guard{IfMatch: in.IfMatch}})
}
