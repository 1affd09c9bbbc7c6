package logs

import (
	"context"
	"maps"

	"lectern/shared/auth"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// names has the stored members and tokens of a page.
type names struct {
	org   int64
	items map[table.Key]table.Item
}

// addNames adds the present names of members and tokens, and makes the owner of its token the
// actor of a request. One batch reads all, a second the owners that only the tokens name. The
// names of a damaged record stay null.
func (r Reader) addNames(ctx context.Context, org int64, events []Event) error {
	n := names{org, map[table.Key]table.Item{}}
	if err := n.load(ctx, r.Table, events); err != nil {
		return err
	}
	for i := range events {
		n.addToken(&events[i])
	}
	if err := n.load(ctx, r.Table, events); err != nil {
		return err
	}
	for i := range events {
		n.addMember(&events[i])
	}
	return nil
}

// load reads the tokens and members of the events that were not looked for before. A missing
// record is stored as an empty item.
func (n names) load(ctx context.Context, t *table.Table, events []Event) error {
	missing := map[table.Key]table.Item{}
	for _, e := range events {
		for _, key := range []table.Key{n.token(e), n.member(e)} {
			if _, asked := n.items[key]; !asked && key.PK != "" {
				missing[key] = table.Item{}
			}
		}
	}
	keys := make([]table.Key, 0, len(missing))
	for key := range missing {
		keys = append(keys, key)
	}
	found, err := t.GetMany(ctx, keys)
	maps.Copy(n.items, missing)
	maps.Copy(n.items, found)
	return err
}

// token returns the key of the token of an event; the zero key without a token.
func (n names) token(e Event) (key table.Key) {
	if e.Token.ID != nil {
		key = table.Key{PK: tenancy.TokenPK(n.org, *e.Token.ID), SK: "-"}
	}
	return key
}

// member returns the key of the actor of an event; the zero key without an actor.
func (n names) member(e Event) (key table.Key) {
	if e.Actor.ID != nil {
		key = table.Key{PK: tenancy.MemberPK(n.org, *e.Actor.ID), SK: "-"}
	}
	return key
}

// addToken adds the name of the token, and to a request the owner. A request with a wrong secret
// may be of anybody.
func (n names) addToken(e *Event) {
	item := n.items[n.token(*e)]
	if item.PK == "" {
		return
	}
	token, err := tenancy.Tokens.Decode(item)
	if err != nil {
		return
	}
	e.Token.Name = &token.Name
	if forged := e.Reason != nil && *e.Reason == string(auth.ReasonWrongSecret); e.Stream == Requests && !forged {
		e.Actor.ID = &token.UserID
		if token.Kind == tenancy.KindOAuth {
			e.Actor.Type = byOAuth
		}
	}
}

// addMember adds the name and the address of the actor.
func (n names) addMember(e *Event) {
	item := n.items[n.member(*e)]
	if item.PK == "" {
		return
	}
	member, err := tenancy.Members.Decode(item)
	if err != nil {
		return
	}
	e.Actor.Name, e.Actor.Email = &member.Name, &member.Email
}
