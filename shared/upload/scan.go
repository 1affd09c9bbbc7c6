package upload

import (
	"context"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/scan"
)

// Scan returns the verdict of the scanner on the bytes of an upload. Malware has a 400 and a line
// in the log; bytes that the scanner could not read to the end have a 400. The other errors are those of
// scan.Scanner.
func (s Store) Scan(ctx context.Context, c *auth.Caller, u *Upload) (scan.Verdict, error) {
	verdict, err := s.Scanner.Scan(ctx, scan.Object{Store: s.Blobs, Key: u.Object, Size: u.Size})
	if verdict == scan.Unread {
		return verdict, apierr.Invalid("filename", "The scanner of malware cannot read all of %s, such as an archive that has a password "+
			"or unpacks to too much. Send smaller files, or what is in the archive. The upload has ended, and its bytes are removed.", u.Name)
	}
	if verdict != scan.Infected {
		return verdict, err
	}
	s.Table.Log.WarnContext(ctx, "a file has malware", "org", c.Org.ID, "event", c.Event.ID, "session", u.SessionID, "object", u.Object)
	return verdict, apierr.Invalid("filename", "A scanner found malware in %s. The upload has ended, and its bytes are removed.", u.Name)
}
