package dataworker

import (
	"context"
	"fmt"

	"lectern/shared/auth"
	"lectern/shared/datarequest"
	"lectern/shared/feed"
	"lectern/shared/sessionfile"
)

// eraseFiles removes the files that are assigned to a contact, and notes their sessions. last is the id of the
// last change with values of the erased person: files that changed later belong to the next person.
func (w *Worker) eraseFiles(ctx context.Context, org int64, id, last string, found map[place]bool) error {
	callers, err := w.callers(ctx, org, id)
	if err != nil {
		return err
	}
	owner := sessionfile.Owner{Contact: id}
	if at, ok := feed.Time(last); ok {
		owner.Until = at
	} else if last != everyChange {
		return fmt.Errorf("dataworker: the change %s has no time", last)
	}
	for _, caller := range callers {
		sessions, err := w.Files.Erase(ctx, caller, owner)
		if err != nil {
			return err
		}
		for _, in := range sessions {
			found[place{caller.Event.ID, in}] = true
		}
	}
	return nil
}

// files collects the files that are assigned to a contact on the caller's event.
func (w *Worker) files(ctx context.Context, caller *auth.Caller, id string) ([]datarequest.CollectedFile, error) {
	owned, err := w.Files.Owned(ctx, caller, sessionfile.Owner{Contact: id})
	all := make([]datarequest.CollectedFile, len(owned))
	for i, b := range owned {
		all[i] = datarequest.CollectedFile{
			ID: b.File.ID, SessionID: b.SessionID, Title: b.File.Title, Filename: b.File.Filename, Size: b.File.Size,
			MIMEType: b.File.MIMEType, CreatedAt: b.CreatedAt, RemovedAt: b.Ends,
		}
	}
	return all, err
}
