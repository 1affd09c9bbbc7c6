package media

import (
	"context"
	"path"
	"strings"

	"lectern/shared/auth"
	"lectern/shared/upload"
)

// Transcript is the state of the transcription of a media item.
type Transcript string

// The states. None stands for a transcription that was not ordered.
const (
	None       Transcript = ""
	Queued     Transcript = "queued"
	Processing Transcript = "processing"
	Ready      Transcript = "ready"
	Failed     Transcript = "failed"
)

// Open reports whether the transcription has not ended.
func (t Transcript) Open() bool { return t == Queued || t == Processing }

// shown returns the state as the API shows it; nil for None.
func (t Transcript) shown() *string {
	if t == None {
		return nil
	}
	text := string(t)
	return &text
}

// verbs has the verbs of the changes to a state.
var verbs = map[Transcript]string{Processing: "transcribing", Ready: "transcribed", Failed: "untranscribed"}

// Medium returns a media item as stored, also of a deleted session; 404 without it.
func (s Store) Medium(ctx context.Context, c *auth.Caller, session, id string) (*Medium, error) {
	return s.stored(c, session).Get(ctx, id)
}

// SetTranscript changes the state of an open transcription, also of a deleted session. A transcription
// that has ended stays as it is.
func (s Store) SetTranscript(ctx context.Context, c *auth.Caller, m *Medium, to Transcript) (*Medium, error) {
	return s.stored(c, m.SessionID).Change(ctx, m.ID, transition{to})
}

// stored returns the media of a session that may be deleted.
func (s Store) stored(c *auth.Caller, session string) upload.Collection[Medium, *Medium] {
	return Kind.Of(s.Store, c, session).Stored()
}

// transition changes the state of a transcription.
type transition struct{ to Transcript }

// Apply sets the state (upload.Edit).
func (t transition) Apply(m *Medium) (string, error) {
	if !m.Transcript.Open() || m.Transcript == t.to {
		return "", nil
	}
	m.Transcript = t.to
	return verbs[t.to], nil
}

// Extension returns the extension of the file's name in lower case, without the dot.
func (m *Medium) Extension() string { return extension(m.Name) }

// extension returns the extension of a name in lower case, without the dot.
func extension(name string) string { return strings.ToLower(strings.TrimPrefix(path.Ext(name), ".")) }
