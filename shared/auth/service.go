package auth

import (
	"context"

	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// Service returns the service itself as a Caller with some scopes, in an organization and on an
// event, or on no event if event is 0. It returns nil if the organization or the event is gone.
func Service(ctx context.Context, t *table.Table, org, event int64, scopes Scopes) (*Caller, error) {
	ofOrg, ofEvent := table.Key{PK: table.Org(org), SK: "-"}, table.Key{PK: table.Event(org, event), SK: "-"}
	keys := []table.Key{ofOrg}
	if event != 0 {
		keys = append(keys, ofEvent)
	}
	got, err := t.GetMany(ctx, keys)
	if err != nil || len(got) < len(keys) {
		return nil, err
	}
	o, err := tenancy.Organizations.Decode(got[ofOrg])
	if err != nil {
		return nil, err
	}
	c := &Caller{
		Org:    *o,
		Token:  tenancy.Token{OrgID: org, Kind: tenancy.KindAPI, Scopes: scopes},
		Member: tenancy.Member{OrgID: org, Role: tenancy.RoleAdmin, Active: true},
	}
	if event != 0 {
		c.Event, err = programme.Events.Decode(got[ofEvent])
	}
	return c, err
}
