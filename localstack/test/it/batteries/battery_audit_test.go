package batteries_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/content/verify"
	"lectern/localstack/content/verify/raw"
	"lectern/localstack/test/it"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/table"
)

// audit is what is stored of an event, found whole.
type audit struct {
	org, event string
	bodies     map[string]*session.Body
	// kept are the contacts and accounts of the organization, by kind.
	kept map[string]*kept
}

// kept is what is stored of an organization's contacts or accounts.
type kept struct {
	name   string
	bodies map[string]*party.Body
	// here are their associations by event and id.
	here map[string]map[string]*party.Association
}

// audited holds what a dump has of an organization to the rules that every transaction
// keeps (package verify), and reads an event out of it.
func audited(t *testing.T, all it.Dump, org, event int64) *audit {
	t.Helper()
	o := verify.NewOrganization(org)
	for key, item := range all {
		one := raw.Item{Key: key, Version: item.Version, Settings: item.Settings, Count: item.Count, Expires: item.Expires, Data: item.Data, Kind: item.Kind}
		if one.Organization() == org {
			o.Add(one)
		}
	}
	o.Check()
	require.Empty(t, o.Problems)
	a := &audit{org: table.Org(org), event: table.Event(org, event), kept: map[string]*kept{}}
	a.bodies = o.Sessions[a.event]
	for name, of := range o.Parties {
		a.kept[name] = &kept{name, of.Records, of.Associations}
	}
	return a
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}
