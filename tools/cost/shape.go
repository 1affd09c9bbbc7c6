package main

import (
	"errors"
	"strings"
)

// shape counts what a region has and pays without requests.
type shape struct {
	// logs and filters cost nothing without lines. alarms is the number of the metrics of alarms, which
	// are billed; named is the number of the alarms.
	alarms, named, dashboards, logs, filters float64
	// each is the number of the metrics of alarms with "alarms": "each".
	each float64
}

// readShape counts the lines of infra/testdata/watched.golden.txt, which a test of infra holds
// to the templates. A line is the options, the kind, the name and the properties.
func readShape(text string) (s shape, err error) {
	shown := false
	for line := range strings.Lines(text) {
		fields := strings.SplitN(line, "\t", 4)
		if len(fields) < 4 {
			return s, errors.New("cost: not a line of a watched thing: " + line)
		}
		switch fields[0] + " " + fields[1] {
		case "defaults alarm":
			s.alarms += metricsOf(fields[3])
			s.named++
		case "defaults log":
			s.logs++
		case "defaults filter":
			s.filters++
		case "defaults shown":
			shown = true
		case "everything alarm":
			if !strings.HasSuffix(fields[2], "-certificate-ends") {
				s.each += metricsOf(fields[3])
			}
		}
	}
	if shown {
		s.dashboards = 1
	}
	if s.alarms == 0 {
		return s, errors.New("cost: no alarm among the watched things")
	}
	return s, nil
}

// metricsOf returns the number of metrics of an alarm with these properties.
func metricsOf(properties string) float64 {
	return float64(max(1, strings.Count(properties, `"MetricStat":`)))
}
