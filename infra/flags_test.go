package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// flagsOf gives the feature flags of the CDK that cdk.json sets.
func flagsOf(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile("../cdk.json")
	require.NoError(t, err)
	var file struct{ Context map[string]any }
	require.NoError(t, json.Unmarshal(text, &file))
	for key := range file.Context {
		if !strings.HasPrefix(key, "@") {
			delete(file.Context, key)
		}
	}
	return file.Context
}

// recommended gives the flags that the pinned CDK recommends, from the package that it
// carries.
func recommended(t *testing.T) (flags map[string]any) {
	t.Helper()
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/aws/aws-cdk-go/awscdk/v2").Output()
	require.NoError(t, err)
	packages, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "jsii", "aws-cdk-lib-*.tgz"))
	require.NoError(t, err)
	require.Len(t, packages, 1)
	file, err := os.Open(packages[0])
	require.NoError(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	for archive := tar.NewReader(unzipped); ; {
		entry, err := archive.Next()
		require.NoError(t, err, "the package has no list of flags")
		if entry.Name == "package/recommended-feature-flags.json" {
			require.NoError(t, json.NewDecoder(archive).Decode(&flags))
			return flags
		}
	}
}

// TestCDKFlagsAreTheRecommended holds cdk.json to the pinned CDK. A new version of the CDK
// brings new flags, and each may change templates: set them, and look at the difference.
func TestCDKFlagsAreTheRecommended(t *testing.T) {
	want := recommended(t)
	require.Greater(t, len(want), 50)
	require.Equal(t, want, flagsOf(t))
}
