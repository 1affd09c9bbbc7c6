package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lectern/functions"
)

// file returns a file of so many lines.
func file(lines int) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.Repeat("x\n", lines))}
}

// rows returns the lines in each row of the table, by name.
func rows(t *testing.T, table string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(table) {
		parts := regexp.MustCompile(`^(.+?) +(\S+) +(\S+) +(\S+)\n$`).FindStringSubmatch(line)
		require.NotNil(t, parts, line)
		all[parts[1]] = parts[3]
	}
	return all
}

func TestGroupsAreCountedWithTheirCodeInShared(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(&out, fstest.MapFS{
		"functions/agendaplanning/a.go":      file(40),
		"functions/agendaplanning/deep/b.go": file(10),
		"functions/agendaplanning/a_test.go": file(1000),
		"functions/agendaplanning/notes.md":  file(1000),
		"functions/sponsors/a.go":            file(6),
		"functions/exhibitorwrites/a.go":     file(8),
		"shared/agenda/a.go":                 file(50),
		"shared/account/routes.go":           file(100),
		"shared/account/routes_test.go":      file(1000),
		"shared/account/rules.go":            file(1000),
		"shared/settings/handler/handler.go": file(82),
	}))
	table := rows(t, out.String())
	require.Equal(t, "50", table["agendaplanning"])
	require.Equal(t, "100", table["agendaplanning with shared/agenda"])
	require.Equal(t, "114", table["sponsors and exhibitors with shared/account/routes.go"])
	require.Equal(t, "82", table["settings with shared/settings/handler"])
	require.Equal(t, "0", table["sessions"], "a folder that is not there")
	require.Equal(t, "1296", table["functions and shared"])
}

// TestTheTableNamesGroupsAndCode that exist.
func TestTheTableNamesGroupsAndCode(t *testing.T) {
	var groups []string
	for _, g := range functions.Groups {
		groups = append(groups, g.Name)
	}
	for _, w := range withShared {
		_, err := os.Stat("../../shared/" + w.shared)
		require.NoError(t, err)
		for _, name := range w.groups {
			require.True(t, slices.Contains(groups, name), name)
		}
	}
}
