package demo

import (
	"context"
	"fmt"
)

// transcript has the texts about a session, by the key of the session without its prefix. Each
// fragment is a speaker, a text, and the seconds at which the text begins.
type transcript struct {
	Session   string
	Fragments []struct {
		Speaker, Text string
		Start         float64
	}
	Summary, Insight string
}

// bodies returns the bodies of the transcriptions.
func (t transcript) bodies() (all []map[string]any) {
	for _, f := range t.Fragments {
		all = append(all, map[string]any{
			"type": "fragment", "transcription": f.Text, "speaker": f.Speaker, "start_time": f.Start, "language_code": "en", "provider": "demo",
		})
	}
	for kind, text := range map[string]string{"summary": t.Summary, "insight": t.Insight} {
		all = append(all, map[string]any{"type": kind, "transcription": text, "language_code": "en", "provider": "claude"})
	}
	return all
}

// ensureTranscripts creates the missing transcriptions and returns their number.
func (c client) ensureTranscripts(ctx context.Context, p plan) (made int, err error) {
	sessions, err := c.sessions(ctx)
	if err != nil {
		return 0, err
	}
	for _, t := range p.Transcripts {
		path := fmt.Sprintf("/sessions/%s/transcriptions", sessions[prefix+t.Session])
		var have struct {
			Data []struct{ Transcription string }
		}
		if err := c.get(ctx, c.path(path+"?pageSize=100"), &have); err != nil {
			return made, err
		}
		known := map[any]bool{}
		for _, one := range have.Data {
			known[one.Transcription] = true
		}
		for _, body := range t.bodies() {
			if known[body["transcription"]] {
				continue
			}
			var answer struct{}
			if err := c.post(ctx, path, body, &answer); err != nil {
				return made, err
			}
			made++
		}
	}
	return made, nil
}
