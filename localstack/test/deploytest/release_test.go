package deploytest_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/emulator"
	"lectern/localstack/cloud/target"
	"lectern/localstack/local/stack"
)

// release is the app with a piece of its source replaced.
type release struct {
	t *testing.T
	// project is the project's folder, dir that of what is built.
	project, dir string
	overlay      string
}

// newRelease replaces a piece of a source file.
func newRelease(t *testing.T, source, from, to string) release {
	t.Helper()
	project, err := filepath.Abs("../../..")
	require.NoError(t, err)
	r := release{t: t, project: project, dir: t.TempDir()}
	text, err := os.ReadFile(filepath.Join(project, source))
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(text), from), "%s has no place to change", source)
	r.write("changed.go", []byte(strings.Replace(string(text), from, to, 1)))
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(project, source): r.path("changed.go")}})
	require.NoError(t, err)
	r.overlay = r.write("overlay.json", overlay)
	return r
}

func (r release) path(name string) string { return filepath.Join(r.dir, name) }

func (r release) write(name string, text []byte) string {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(r.path(name), text, 0o600))
	return r.path(name)
}

// functions is a folder of the project's functions, with those that are named built anew.
func (r release) functions(changed ...string) string {
	r.t.Helper()
	of := filepath.Join(r.project, stack.Binaries())
	all, err := os.ReadDir(of)
	require.NoError(r.t, err)
	for _, one := range all {
		require.NoError(r.t, os.MkdirAll(r.path("functions/"+one.Name()), 0o750))
		to := r.path("functions/" + one.Name() + "/bootstrap")
		if slices.Contains(changed, one.Name()) {
			r.build(to, "./functions/bootstrap/"+one.Name(), "-trimpath", "-tags", "lambda.norpc", "-ldflags", "-s -w")
		} else {
			require.NoError(r.t, copied(stack.Binary(of, one.Name()), to))
		}
		require.NoError(r.t, os.Chmod(to, 0o755)) // The app takes no other, whatever the umask.
	}
	return r.path("functions")
}

func copied(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o700)
}

// build builds a program of the release; the flags are those of the Makefile, so that
// nothing is compiled anew but what changed.
func (r release) build(to, program string, flags ...string) string {
	r.t.Helper()
	flags = append([]string{"build", "-buildvcs=false", "-overlay", r.overlay, "-o", to}, flags...)
	cmd := exec.CommandContext(r.t.Context(), "go", append(flags, program)...)
	cmd.Dir = r.project
	if strings.HasPrefix(program, "./functions/") {
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	}
	said, err := cmd.CombinedOutput()
	require.NoError(r.t, err, "%s", said)
	return to
}

// deploy deploys the release over what is deployed, and says where the service is then.
func (r release) deploy(app emulator.App) {
	r.t.Helper()
	before, err := target.Emulated()
	require.NoError(r.t, err)
	app.Root, app.Out, app.Log = r.project, r.dir, os.Stderr
	after, err := emulator.At(before["us"].Endpoint).Deploy(r.t.Context(), app)
	require.NoError(r.t, err)
	require.NoError(r.t, after.Write(os.Getenv(target.Env)))
}
