package deploytest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/emulator"
	"lectern/localstack/test/stacktest"
)

// TestAnUpgradeInUseLosesNothing deploys another release of the functions that clients
// write and read by, while they do.
func TestAnUpgradeInUseLosesNothing(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Features("sessions_2_0"))
	before := fill(t, s)
	r := newRelease(t, "shared/api/answer.go", "private, max-age=180", "private, max-age=179")
	app := emulator.App{Functions: r.functions("sessions", "sessionwrites")}
	all := working(t, s, false, func() { r.deploy(app) })
	s = kept(t, s, all)
	before.unchanged(t, s.URL)
	for id := range all[0].acknowledged {
		answer := s.Call(t, 200, "GET", s.EventPath("/sessions/"+id), nil)
		require.Equal(t, "private, max-age=179", answer.Header.Get("Cache-Control"))
	}
}

// TestAChangedRouteLosesNothing deploys a release with one route more. An emulator gives
// the API another address then, which clients take from where the deployment wrote it;
// on AWS the address stays.
func TestAChangedRouteLosesNothing(t *testing.T) {
	stacktest.Everywhere(t)
	s := stacktest.Start(t, stacktest.Features("sessions_2_0"))
	before := fill(t, s)
	const health = `api.Get("getHealth", "/health", (*service).health, auth.Public, api.Hidden),`
	r := newRelease(t, "functions/root/root.go", health, health+"\n"+strings.Replace(health, `"getHealth", "/health"`, `"getReadiness", "/ready"`, 1))
	app := emulator.App{Program: r.build(r.path("infra"), "./infra"), Functions: r.functions("root")}
	s.Call(t, 404, "GET", "/ready", nil)
	all := working(t, s, true, func() { r.deploy(app) })
	for i, w := range all {
		require.Positive(t, w.moved, "client %d never took the new address", i)
	}
	former := s.URL
	s = kept(t, s, all)
	require.NotEqual(t, former, s.URL)
	before.unchanged(t, s.URL)
	s.Call(t, 200, "GET", "/ready", nil)
}
