package operator

import (
	"cmp"
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

type tokenCreate struct {
	InMember
	Name string       `json:"name"`
	Kind tenancy.Kind `json:"kind,omitempty" enum:"api,legacy,log_export"`
	TokenOptions
}

// TokenOptions has the properties that create and update of a token share. A null takes a
// limit away: of events, of requests, of time.
type TokenOptions struct {
	Scopes    wire.Opt[[]tenancy.Scope] `json:"scopes,omitzero" nullable:"false" uniqueItems:"true"`
	EventIDs  wire.Opt[[]int64]         `json:"event_ids,omitzero" minItems:"1" uniqueItems:"true"`
	Limit     wire.Opt[int64]           `json:"limit,omitzero" minimum:"1"`
	ExpiresAt wire.Opt[wire.Time]       `json:"expires_at,omitzero"`
	// ObfuscatePII has queries mask personal data for the token.
	ObfuscatePII wire.Opt[bool] `json:"obfuscate_pii,omitzero" nullable:"false"`
}

// newToken is a token's record with the token itself, which no later answer shows.
type newToken struct {
	*tenancy.Token
	Value string `json:"token"`
}

func (s *Service) createToken(ctx context.Context, in *tokenCreate) (*newToken, error) {
	if err := s.checkToken(ctx, in.OrgID, in.TokenOptions); err != nil {
		return nil, err
	}
	text := auth.Text{Region: s.env.Region, Org: in.OrgID, User: in.UserID, Secret: auth.NewSecret()}
	t := &tenancy.Token{OrgID: in.OrgID, UserID: in.UserID, Name: in.Name, Kind: in.kind(),
		Scopes: []tenancy.Scope{}, EventIDs: []int64{}, SecretHash: text.Hash()}
	if t.Kind == tenancy.KindLogExport {
		t.Scopes = []tenancy.Scope{tenancy.ReadAuditLogs}
	}
	in.apply(t)
	if err := s.tenancy.CreateToken(ctx, t); err != nil {
		return nil, err
	}
	text.ID = t.ID
	return &newToken{Token: t.WithoutSecret(), Value: text.String()}, nil
}

// kind returns the kind of the input, without a kind that of the scopes.
func (in *tokenCreate) kind() tenancy.Kind {
	switch {
	case in.Kind != "" || !in.Scopes.Sent:
		return cmp.Or(in.Kind, tenancy.KindAPI)
	case len(in.Scopes.Value) == 0:
		return tenancy.KindLegacy
	case slices.Equal(in.Scopes.Value, []tenancy.Scope{tenancy.ReadAuditLogs}):
		return tenancy.KindLogExport
	}
	return tenancy.KindAPI
}

// InToken names a token.
type InToken struct {
	InOrganization
	TokenID int64 `json:"token_id"`
}

type tokenUpdate struct {
	InToken
	Name wire.Opt[string] `json:"name,omitzero" nullable:"false"`
	TokenOptions
}

func (s *Service) updateToken(ctx context.Context, in *tokenUpdate) (*tenancy.Token, error) {
	if err := s.checkToken(ctx, in.OrgID, in.TokenOptions); err != nil {
		return nil, err
	}
	return s.editToken(ctx, in.InToken, in.edit)
}

func (in *tokenUpdate) edit(t *tenancy.Token) error {
	if t.RevokedAt != nil {
		return apierr.Conflict("TOKEN_REVOKED", "The token is revoked.")
	}
	if t.Kind == tenancy.KindOAuth {
		for _, option := range []struct {
			name string
			sent bool
		}{
			{"scopes", in.Scopes.Sent}, {"event_ids", in.EventIDs.Sent}, {"expires_at", in.ExpiresAt.Sent}, {"obfuscate_pii", in.ObfuscatePII.Sent},
		} {
			if option.sent {
				return apierr.Invalid(option.name, "%s of the connection of an application cannot change, only name and limit.", option.name)
			}
		}
	}
	in.Name.Into(&t.Name)
	in.apply(t)
	if t.Kind == tenancy.KindLegacy && len(t.Scopes) > 0 {
		t.Kind = tenancy.KindAPI
	}
	return nil
}

func (s *Service) revokeToken(ctx context.Context, in *InToken) (*tenancy.Token, error) {
	return s.editToken(ctx, *in, end{wire.At(s.env.Now())}.revokeToken)
}

func (e end) revokeToken(t *tenancy.Token) error {
	if t.RevokedAt == nil {
		t.RevokedAt = &e.at
	}
	return nil
}

func (s *Service) editToken(ctx context.Context, in InToken, edit func(*tenancy.Token) error) (*tenancy.Token, error) {
	t, err := tenancy.Tokens.Update(ctx, s.tenancy, tenancy.TokenPK(in.OrgID, in.TokenID), edit)
	if err != nil {
		return nil, err
	}
	return t.WithoutSecret(), nil
}

func (s *Service) listTokens(ctx context.Context, in *InOrganization) (results[*tenancy.Token], error) {
	all, err := list(tenancy.Tokens, tenancy.TokenPK)(s, ctx, in)
	for i, t := range all.Results {
		all.Results[i] = t.WithoutSecret()
	}
	return all, err
}

// checkToken refuses scopes that do not exist, events of others, and an end in
// the past.
func (s *Service) checkToken(ctx context.Context, org int64, in TokenOptions) error {
	for i, scope := range in.Scopes.Value {
		if !slices.Contains(auth.AllScopes, scope) {
			return apierr.OneOf(element("scopes", i), auth.AllScopes...)
		}
	}
	if in.ExpiresAt.Has() && !in.ExpiresAt.Value.After(s.env.Now()) {
		return apierr.Invalid("expires_at", "expires_at must be in the future, or null for a token that does not expire.")
	}
	return s.haveEvents(ctx, org, in.EventIDs.Value)
}

// apply sets the options that were sent.
func (in TokenOptions) apply(t *tenancy.Token) {
	in.Scopes.Into(&t.Scopes)
	in.Limit.Into(&t.Limit)
	in.ObfuscatePII.Into(&t.ObfuscatePII)
	if in.EventIDs.Sent {
		t.EventIDs = append([]int64{}, in.EventIDs.Value...)
	}
	if in.ExpiresAt.Sent {
		t.ExpiresAt = nil
	}
	if in.ExpiresAt.Has() {
		t.ExpiresAt = &in.ExpiresAt.Value
	}
}
