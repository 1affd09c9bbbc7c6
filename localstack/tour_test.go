package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
	"lectern/localstack/local/child"
	"lectern/localstack/local/datadir"
	"lectern/localstack/test/stacktest"
)

// listenPort is the port of the README's receiver, which another process may use here.
const listenPort = "9000"

// tourTime is the longest time of the commands. They take half a minute on the emulator.
const tourTime = 4 * time.Minute

// TestTheTourOfTheREADME does what the README says, word by word, and holds the
// statuses to those it names: on a service of its own, or on the deployed one that
// the environment names, whose addresses and tokens are then all that differs, and the port of the
// receiver. Below its stage,
// the links of the entry and of the reference page must lead on.
func TestTheTourOfTheREADME(t *testing.T) {
	text, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	port, err := child.FreePort(t.Context())
	require.NoError(t, err)
	tour := strings.ReplaceAll(blocks(t, string(text)), listenPort, strconv.Itoa(port))

	dir := t.TempDir()
	data := filepath.Join(dir, ".local")
	regions, err := target.Emulated()
	require.NoError(t, err)
	if regions != nil {
		// The gateway of the emulator does not tell functions its host, so links to files begin with a path.
		tour = strings.ReplaceAll(tour, `"$LINK"`, `"$LECTERN_US_URL$LINK"`)
		printed, err := run(t, "demo", "--deployed", "--data", data)
		require.NoError(t, err, printed)
		require.NoError(t, os.Rename(filepath.Join(data, deployedName, datadir.EnvName), filepath.Join(data, datadir.EnvName)))
		for _, region := range regions {
			if region.Domain == "" { // At a domain, the emulator gives functions a path with the stage; AWS does not.
				stacktest.SiteOf(t, region).FollowAll(t)
			}
		}
	} else {
		upOn(t, data)
	}
	statuses := filepath.Join(dir, "statuses")
	place(t, dir, "bin/lectern", runMain+"=1 exec '"+os.Args[0]+"' \"$@\"")
	curl, err := exec.LookPath("curl")
	require.NoError(t, err)
	place(t, dir, "path/curl", "exec '"+curl+"' -w '%{stderr}%{http_code}\\n' \"$@\" 2>>'"+statuses+"'")

	// Some commands wait for the service. A wait without an end shows what the shell has printed.
	ctx, cancel := context.WithTimeout(t.Context(), tourTime)
	defer cancel()
	shell := exec.CommandContext(ctx, "sh", "-xc", tour)
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) } // and the receiver
	shell.Dir, shell.Env = dir, append(os.Environ(), "PATH="+filepath.Join(dir, "path")+":"+os.Getenv("PATH"))
	printed, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", printed)
	require.NotContains(t, string(printed), "undefined")
	require.NotContains(t, string(printed), "Error:")
	require.Regexp(t, `session\.updated .* attempt \d+ .*/sessions/.*: verified`, string(printed))

	got, err := os.ReadFile(statuses)
	require.NoError(t, err)
	var refused []string
	for _, status := range strings.Fields(string(got)) {
		if !strings.HasPrefix(status, "2") {
			refused = append(refused, status)
		}
	}
	var named []string
	for _, match := range regexp.MustCompile(`#.*\b([345]\d\d)\b`).FindAllStringSubmatch(tour, -1) {
		named = append(named, match[1])
	}
	require.NotEmpty(t, named)
	require.Equal(t, named, refused, "%s", printed)
	require.Greater(t, len(strings.Fields(string(got))), 20)
}

// blocks are the commands of the tour.
func blocks(t *testing.T, readme string) string {
	t.Helper()
	_, tour, found := strings.Cut(readme, "## Five minutes with curl")
	require.True(t, found)
	tour, _, found = strings.Cut(tour, "\n## ")
	require.True(t, found)
	var all strings.Builder
	for _, match := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(tour, -1) {
		all.WriteString(match[1])
	}
	return all.String()
}

// place writes a program of one shell command.
func place(t *testing.T, dir, name, command string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+command+"\n"), 0o700))
}
