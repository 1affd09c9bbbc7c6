package stacktest

import (
	"os"
	"strings"
	"sync"
	"testing"
)

const (
	// EnvWhole makes all tests run against the groups' binaries and against a deployed service,
	// not only those that are marked with Everywhere.
	EnvWhole = "LECTERN_WHOLE"
	// EnvMarked makes the marked tests alone run in this process too.
	EnvMarked = "LECTERN_MARKED"
)

// marked holds the names of the tests that are marked with Everywhere.
var marked sync.Map

// Everywhere marks a test that also runs against the groups' binaries and against a deployed
// service. The marked tests together call every operation, start every function and need
// every permission (.ci/permissions). Call Everywhere before Start.
func Everywhere(t testing.TB) {
	t.Helper()
	marked.Store(test(t), true)
}

// onlyMarked leaves a test out that is not marked, unless all tests run.
func onlyMarked(t testing.TB) {
	t.Helper()
	if _, ok := marked.Load(test(t)); !ok && os.Getenv(EnvWhole) == "" {
		leaveOut(t, "the tests marked Everywhere stand for it")
	}
}

// test returns the name of the test that a subtest belongs to.
func test(t testing.TB) string {
	t.Helper()
	name, _, _ := strings.Cut(t.Name(), "/")
	return name
}

// parallel holds the tests that already run in parallel.
var parallel sync.Map

// beside lets a test run in parallel with others: each has its own region, or its own
// organization of a deployed region.
func beside(t testing.TB) {
	t.Helper()
	_, twice := parallel.LoadOrStore(t, true)
	if test, ok := t.(*testing.T); ok && !twice {
		test.Parallel()
	}
}
