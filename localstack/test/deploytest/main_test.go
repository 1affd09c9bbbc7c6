package deploytest_test

import (
	"fmt"
	"os"
	"testing"

	"lectern/localstack/cloud/target"
)

// TestMain leaves the package out where nothing is deployed: make test-deploy runs it.
func TestMain(m *testing.M) {
	if os.Getenv(target.Env) == "" {
		fmt.Fprintln(os.Stdout, "without a deployed service (make test-deploy) this package is left out")
		return
	}
	if _, err := target.Emulated(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
