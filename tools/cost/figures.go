package main

import (
	"fmt"
	"strconv"
	"strings"
)

// figure is the measured use of a request of a kind.
type figure struct {
	// trips is the number of calls of the table that had to wait for each other.
	trips float64
	// read and written are the units of the table. A write in a transaction counts twice, as
	// on the bill.
	read, written float64
	// ms is the median for a single client, in milliseconds.
	ms float64
}

// Columns of a table in docs/performance.md, counted between the bars.
const (
	columnOperation = 1
	columnTrips     = 2
	columnRead      = 4
	columnWritten   = 5
	columnMS        = 6
)

// figures reads the tables of docs/performance.md: by the heading above the table, then by the
// operation. It ignores tables with fewer columns.
func figures(text string) (map[string]map[string]figure, error) {
	all := map[string]map[string]figure{}
	section := ""
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(heading)
			continue
		}
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) <= columnMS || !strings.Contains(section, "sessions,") {
			continue
		}
		name := strings.TrimSpace(cells[columnOperation])
		if name == "operation" || strings.HasPrefix(name, "---") {
			continue
		}
		f, err := read(cells)
		if err != nil {
			return nil, fmt.Errorf("cost: %s: %s: %w", section, name, err)
		}
		if all[section] == nil {
			all[section] = map[string]figure{}
		}
		all[section][name] = f
	}
	return all, nil
}

// read returns the figures of a row.
func read(cells []string) (f figure, err error) {
	median, _, _ := strings.Cut(cells[columnMS], ",")
	for _, cell := range []struct {
		text string
		into *float64
	}{
		{cells[columnTrips], &f.trips}, {cells[columnRead], &f.read}, {cells[columnWritten], &f.written}, {median, &f.ms},
	} {
		if *cell.into, err = strconv.ParseFloat(strings.TrimSpace(cell.text), 64); err != nil {
			return f, err
		}
	}
	return f, nil
}
