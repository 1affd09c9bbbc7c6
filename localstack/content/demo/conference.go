package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

//go:embed conference.json
var text []byte

// programme is the content of conference.json. schedule.go adds times and rooms.
type programme struct {
	Rooms       []map[string]any
	Tracks      []track
	Tags        []string
	Levels      []string
	Formats     []string
	Languages   []string
	Statuses    []map[string]any
	Rules       []map[string]any
	Personas    []map[string]any
	People      people
	Accounts    []talk
	Fields      []map[string]any
	Plenaries   []talk
	Lightning   []lightning
	Abstracts   []talk
	Transcripts []transcript
}

// track is a track with its talks.
type track struct {
	Name, Color string
	Talks       []talk
}

// talk is a title and a sentence; for an account, a name and a sentence.
type talk [2]string

// lightning is a title and the titles of its parts.
type lightning struct {
	Title string
	Parts []string
}

// UnmarshalJSON reads [title, [part, ...]].
func (l *lightning) UnmarshalJSON(data []byte) error {
	return json.Unmarshal(data, &[]any{&l.Title, &l.Parts})
}

// read returns the embedded content.
func read() (p programme, err error) {
	if err := json.Unmarshal(text, &p); err != nil {
		return programme{}, fmt.Errorf("demo: conference.json: %w", err)
	}
	return p, nil
}

// settings returns the bodies to create the settings, by kind.
func (p programme) settings() map[string][]map[string]any {
	var tracks []map[string]any
	for _, t := range p.Tracks {
		tracks = append(tracks, map[string]any{"name": t.Name, "color": t.Color})
	}
	all := map[string][]map[string]any{
		"rooms": p.Rooms, "tracks": tracks, "tags": named(p.Tags), "levels": named(p.Levels),
		"formats": named(p.Formats), "languages": named(p.Languages), "statuses": p.Statuses, "fields": p.Fields,
		"rules": p.Rules, "personas": p.Personas,
	}
	for _, field := range all["fields"] {
		if field["module_id"] == nil {
			field["module_id"] = "session"
		}
	}
	return all
}

// named returns bodies with only a name.
func named(names []string) (bodies []map[string]any) {
	for _, name := range names {
		bodies = append(bodies, map[string]any{"name": name})
	}
	return bodies
}
