package media

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/scan"
)

// conclude scans the joined bytes of an upload and completes the upload; a 400 for malware. Without a
// verdict, the upload stays as it is, and a repeated request asks again.
func (s Store) conclude(ctx context.Context, c *auth.Caller, m *Medium, in Completion) (*Item, error) {
	verdict, err := s.Scanner.Scan(ctx, scan.Object{Store: s.Blobs, Key: m.Object, Size: m.Size})
	if err != nil {
		return nil, err
	}
	m, err = Kind.Of(s.Store, c, m.SessionID).Change(ctx, m.ID, completion{in, verdict})
	if err != nil {
		return nil, err
	}
	if m.Scan == scan.Infected {
		return nil, s.refuse(ctx, c, m)
	}
	return m.show(c), nil
}

// completion keeps the bytes of an upload, or ends the upload for malware.
type completion struct {
	in      Completion
	verdict scan.Verdict
}

// Apply ends the upload (upload.Edit).
func (e completion) Apply(m *Medium) (string, error) {
	switch {
	case m.Stored(), m.Scan == scan.Infected:
		return "", nil
	case m.Aborted:
		return "", Kind.NotFound()
	}
	if m.Scan = e.verdict; m.Scan == scan.Infected {
		m.Aborted = true
		return "refused", nil
	}
	m.Ends, m.Name, m.Duration = nil, e.in.Name, e.in.Duration
	return "completed", nil
}

// refuse removes the bytes of a file with malware and returns the 400. Maintenance removes the record
// at the end of the upload, and bytes that could not be removed.
func (s Store) refuse(ctx context.Context, c *auth.Caller, m *Medium) error {
	err := s.Blobs.Delete(ctx, m.Object)
	s.Table.Log.WarnContext(ctx, "a file has malware", "org", c.Org.ID, "event", c.Event.ID, "session", m.SessionID,
		"media_item", m.ID, "error", err)
	return apierr.Invalid("filename", "A scanner found malware in %s. The upload has ended, and its bytes are removed.", m.Name)
}
