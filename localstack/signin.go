package main

import (
	"context"
	"errors"
	"fmt"

	"lectern/localstack/content/seed"
	"lectern/localstack/local/idp"
)

// openSignIn serves an identity provider on a free port, and lets the people of the demo sign in there to all regions, without a password.
func openSignIn(ctx context.Context, all []*server) (*idp.Provider, error) {
	provider, err := idp.Start("127.0.0.1:0", people)
	if err != nil {
		return nil, err
	}
	at := seed.SignIn{Issuer: provider.URL, ClientID: idp.ClientID, ClientSecret: idp.ClientSecret}
	for _, s := range all {
		if err := s.seed.AllowSignIn(ctx, s.Seed, at); err != nil {
			return nil, errors.Join(fmt.Errorf("region %s: %w", s.seed.Name, err), provider.Stop())
		}
	}
	return provider, nil
}

// people lists who can sign in.
func people(context.Context) (all []idp.Person, _ error) {
	for _, p := range seed.People {
		all = append(all, idp.Person(p))
	}
	return all, nil
}
