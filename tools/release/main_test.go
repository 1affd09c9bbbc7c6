package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions"
)

// built returns a folder with the files of a release, written with a mode.
func built(t *testing.T, mode os.FileMode) string {
	t.Helper()
	root := t.TempDir()
	names := []string{"LICENSE", "bin/infra", "cdk.json", "infra/package.json", "infra/package-lock.json",
		"dist/linux-arm64/gone/bootstrap", "dist/linux-amd64/operator/bootstrap", "bin/lectern"}
	for _, name := range functions.Names() {
		names = append(names, "dist/linux-arm64/"+name+"/bootstrap")
	}
	names = append(names, "dist/linux-arm64/uploads/bootstrap", "dist/linux-arm64/uploads/Dockerfile")
	for _, name := range names {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte("content of "+name), mode))
	}
	return root
}

// packed is a file of an archive.
type packed struct {
	*tar.Header
	text string
}

// unpack returns the files of an archive by their names, and their order.
func unpack(t *testing.T, archive []byte) (files map[string]packed, order []string) {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	files = map[string]packed{}
	for all := tar.NewReader(reader); ; {
		header, err := all.Next()
		if errors.Is(err, io.EOF) {
			return files, order
		}
		require.NoError(t, err)
		text, err := io.ReadAll(all)
		require.NoError(t, err)
		name, found := strings.CutPrefix(header.Name, "lectern-1.0/")
		require.True(t, found, header.Name)
		files[name], order = packed{header, string(text)}, append(order, name)
	}
}

// write writes the archive of a folder and returns its content.
func write(t *testing.T, root string) []byte {
	t.Helper()
	r := release{root: root, out: filepath.Join(t.TempDir(), "out"), version: "1.0", arch: "arm64", at: time.Unix(1_790_000_000, 0)}
	name, err := r.write()
	require.NoError(t, err)
	archive, err := os.ReadFile(name)
	require.NoError(t, err)
	sum, err := os.ReadFile(name + ".sha256")
	require.NoError(t, err)
	require.Equal(t, fmt.Sprintf("%x  %s\n", sha256.Sum256(archive), filepath.Base(name)), string(sum))
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	require.Len(t, left, 2)
	return archive
}

// TestTheSameFilesGiveTheSameArchive, whenever and with whatever mode they were written.
func TestTheSameFilesGiveTheSameArchive(t *testing.T) {
	first, second := built(t, 0o600), built(t, 0o755)
	require.NoError(t, os.Chtimes(filepath.Join(first, "cdk.json"), time.Time{}, time.Unix(1, 0)))
	require.Equal(t, sha256.Sum256(write(t, first)), sha256.Sum256(write(t, second)))
}

func TestAnArchiveHasWhatADeploymentNeeds(t *testing.T) {
	files, order := unpack(t, write(t, built(t, 0o600)))
	require.Len(t, order, len(functions.Names())+8)
	require.Equal(t, "SHA256SUMS", order[0])
	for _, name := range []string{"dist/linux-arm64/gone/bootstrap", "dist/linux-amd64/operator/bootstrap", "bin/lectern"} {
		require.NotContains(t, files, name)
	}
	var sums strings.Builder
	for _, name := range order[1:] {
		mode := int64(0o644)
		if name == "bin/infra" || strings.HasSuffix(name, "/bootstrap") {
			mode = 0o755
		}
		require.Equal(t, mode, files[name].Mode, name)
		require.Equal(t, int64(1_790_000_000), files[name].ModTime.Unix())
		require.Equal(t, "content of "+name, files[name].text)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(files[name].text)), name)
	}
	require.Equal(t, sums.String(), files["SHA256SUMS"].text)
}

func TestWhatIsMissingIsNamed(t *testing.T) {
	root := built(t, 0o600)
	require.NoError(t, os.Remove(filepath.Join(root, "bin/infra")))
	require.NoError(t, os.Remove(filepath.Join(root, "dist/linux-arm64/operator/bootstrap")))
	out := filepath.Join(root, "out")
	_, err := release{root: root, out: out, version: "1.0", arch: "arm64"}.write()
	require.ErrorContains(t, err, "bin/infra")
	require.ErrorContains(t, err, "operator/bootstrap")
	for _, version := range []string{"", "a/b", "-x", "a b"} {
		_, err := release{root: root, out: out, version: version, arch: "arm64"}.write()
		require.ErrorContains(t, err, "is no name")
	}
	require.NoDirExists(t, out)
}
