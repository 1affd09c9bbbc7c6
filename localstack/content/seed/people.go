package seed

import (
	"context"
	"maps"

	"lectern/shared/tenancy"
)

// Person is a member who can sign in to the demo. Note says what the member may do.
type Person struct{ Name, Email, Note string }

// domain is that of the addresses of the demo's members.
const domain = "demo.example"

// People lists the members of the demo who can sign in.
var People = []Person{
	{"Demo admin", "admin@" + domain, "sees all events"},
	{"Demo member of one event", "event@" + domain, "sees one event"},
	{"Demo member without AI Access", "member@" + domain, "may not connect applications"},
}

// of returns the properties of a member of the demo.
func (p Person) of(s Seed) input {
	switch p {
	case People[0]:
		return input{"role": tenancy.RoleAdmin, "ai_access": true}
	case People[1]:
		return input{"role": tenancy.RoleEventOnly, "event_ids": []int64{s.Event}, "ai_access": true}
	}
	return input{}
}

// SignIn describes the identity provider of the demo.
type SignIn struct{ Issuer, ClientID, ClientSecret string }

// AllowSignIn lets People sign in at the provider and connect applications. What is missing is created.
func (r Region) AllowSignIn(ctx context.Context, s Seed, at SignIn) error {
	org := input{"org_id": s.Organization}
	if err := r.do(ctx, "organization-update", with(org, input{"ai_enabled": true}), nil); err != nil {
		return err
	}
	if err := r.ensurePeople(ctx, s, org); err != nil {
		return err
	}
	var stored struct{ Results []struct{ ID int64 } }
	if err := r.do(ctx, "identity-provider-list", org, &stored); err != nil {
		return err
	}
	provider := with(org, input{
		"name": "Demo sign-in", "issuer": at.Issuer, "client_id": at.ClientID, "client_secret": at.ClientSecret, "domains": []string{domain},
	})
	if len(stored.Results) == 0 {
		return r.do(ctx, "identity-provider-create", provider, nil)
	}
	return r.do(ctx, "identity-provider-update", with(provider, input{"provider_id": stored.Results[0].ID}), nil)
}

// ensurePeople creates the members of People, and gives existing ones their properties again.
func (r Region) ensurePeople(ctx context.Context, s Seed, org input) error {
	var stored struct {
		Results []struct {
			ID    int64
			Email string
		}
	}
	if err := r.do(ctx, "member-list", org, &stored); err != nil {
		return err
	}
	ids := map[string]int64{}
	for _, member := range stored.Results {
		ids[member.Email] = member.ID
	}
	for _, p := range People {
		in := with(org, p.of(s))
		in["name"], in["email"] = p.Name, p.Email
		command := "member-create"
		if id, known := ids[p.Email]; known {
			command, in["user_id"] = "member-update", id
		}
		if err := r.do(ctx, command, in, nil); err != nil {
			return err
		}
	}
	return nil
}

// with returns the input with more.
func with(in, more input) input {
	all := maps.Clone(in)
	maps.Copy(all, more)
	return all
}
