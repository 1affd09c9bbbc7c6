// Package transcript stores the transcriptions of sessions: fragments of speech, summaries,
// insights and translations (gaps.md section 6.2, decision 36). A session's transcriptions
// stand in segments of up to 200, in the order of their start. The index of the session lists
// the segments. Each write replaces the index, so the writes of a session follow each other.
//
// Read transcript.go, draft.go, keys.go; index.go, then sheet.go for the change of segments and
// read.go for the reading of segments; store.go, list.go, write.go for the operations, and import.go
// for the texts of a job.
package transcript

import (
	"cmp"
	"encoding/json"
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Kind is the kind of a transcription in change records.
const Kind = "transcription"

// Type names a type of transcriptions.
type Type string

// The types.
const (
	Fragment    Type = "fragment"
	Summary     Type = "summary"
	Insight     Type = "insight"
	Translation Type = "translation"
)

// Transcription is a text about a session, as shown.
type Transcription struct {
	ID            string    `json:"id" format:"uuid" doc:"The transcription's id."`
	Type          Type      `json:"type" enum:"fragment,summary,insight,translation" doc:"A fragment is a part of the speech. The other types are texts about it."`
	SessionID     string    `json:"session_id" format:"uuid" doc:"The session's id."`
	Transcription string    `json:"transcription" doc:"The text, as it was sent: untrusted."`
	Speaker       *string   `json:"speaker" doc:"The speaker, as the source of the text names the speaker."`
	IsPartial     bool      `json:"is_partial" doc:"Whether the text is a first version that another fragment replaces."`
	Provider      *string   `json:"provider" doc:"The source of the text."`
	LanguageCode  *string   `json:"language_code" doc:"The language of the text, such as en or pt-BR."`
	StartTime     *float64  `json:"start_time" doc:"The start in seconds from the start of the recording."`
	EndTime       *float64  `json:"end_time" doc:"The end in seconds from the start of the recording."`
	SourceID      *string   `json:"source_transcription_id" format:"uuid" doc:"The transcription that a translation translates."`
	CreatedAt     wire.Time `json:"created_at" doc:"When the transcription was created."`
	UpdatedAt     wire.Time `json:"updated_at" doc:"When the transcription was changed last; an update may send it."`
	Version       int64     `json:"-"`
}

// stored has the fields of a Transcription as a segment stores them: without the session, which
// the key names, and without null.
type stored struct {
	ID            string    `json:"id"`
	Type          Type      `json:"type"`
	SessionID     string    `json:"-"`
	Transcription string    `json:"text,omitempty"`
	Speaker       *string   `json:"speaker,omitempty"`
	IsPartial     bool      `json:"partial,omitempty"`
	Provider      *string   `json:"provider,omitempty"`
	LanguageCode  *string   `json:"lang,omitempty"`
	StartTime     *float64  `json:"start,omitempty"`
	EndTime       *float64  `json:"end,omitempty"`
	SourceID      *string   `json:"source,omitempty"`
	CreatedAt     wire.Time `json:"created_at"`
	UpdatedAt     wire.Time `json:"updated_at"`
	Version       int64     `json:"v"`
}

// RecordID returns the transcription's id.
func (t *Transcription) RecordID() string { return t.ID }

// Revision returns the version that an ETag names.
func (t *Transcription) Revision() int64 { return t.Version }

// NotFound returns the 404 of a transcription.
func NotFound() error { return apierr.NotFound("Transcription") }

// position is the place of a transcription in a session: by start, then by id. Transcriptions
// without a start come last.
type position struct {
	Start *float64 `json:"s,omitempty"`
	ID    string   `json:"id"`
}

func (t *Transcription) position() position { return position{t.StartTime, t.ID} }

// compare compares two positions of a session.
func (p position) compare(o position) int {
	switch {
	case p.Start == nil && o.Start == nil:
		return cmp.Compare(p.ID, o.ID)
	case p.Start == nil:
		return 1
	case o.Start == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(*p.Start, *o.Start), cmp.Compare(p.ID, o.ID))
}

// byPosition compares two transcriptions of a session.
func byPosition(a, b *Transcription) int { return a.position().compare(b.position()) }

// DecodeSegment reads the transcriptions of a segment of the session.
func DecodeSegment(session string, item table.Item) ([]*Transcription, error) {
	var kept []*stored
	if err := json.Unmarshal(item.Data, &kept); err != nil {
		return nil, fmt.Errorf("transcript: decode %s %s: %w", item.PK, item.SK, err)
	}
	all := make([]*Transcription, len(kept))
	for i, s := range kept {
		if s == nil {
			return nil, fmt.Errorf("transcript: decode %s %s: an empty place", item.PK, item.SK)
		}
		all[i] = (*Transcription)(s)
		all[i].SessionID = session
	}
	return all, nil
}

// encodeSegment returns the JSON of a segment.
func encodeSegment(all []*Transcription) ([]byte, error) {
	kept := make([]*stored, len(all))
	for i, t := range all {
		kept[i] = (*stored)(t)
	}
	return wire.Encode(kept)
}

// bytes returns the length of the transcription in the JSON of a segment.
func (t *Transcription) bytes() int {
	text, err := wire.Encode((*stored)(t))
	if err != nil {
		return 0
	}
	return len(text)
}
