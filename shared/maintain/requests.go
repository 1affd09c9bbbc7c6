package maintain

import (
	"context"

	"lectern/shared/datarequest"
)

// requestsAtOnce is the number of data requests that a step deletes.
const requestsAtOnce = 200

// requests deletes the data requests that ended long ago, and sends those to their worker again that have
// waited for long: their messages may have ended in the queue.
func (r *run) requests(ctx context.Context) (done bool, err error) {
	upkeep := datarequest.Upkeep{Table: r.Table, Now: r.Now}
	old, waiting, err := upkeep.Due(ctx, r.OrgID)
	if err != nil {
		return false, err
	}
	for _, request := range old[:min(len(old), requestsAtOnce)] {
		if err := upkeep.Delete(ctx, request); err != nil {
			return false, err
		}
		r.report.Requests++
	}
	if len(old) > requestsAtOnce {
		return false, nil
	}
	for _, request := range waiting {
		messages, err := upkeep.Messages(ctx, request)
		if err != nil {
			return false, err
		}
		if len(messages) == 0 {
			r.noteUnsent(ctx, request)
			continue
		}
		if err := r.publish(ctx, messages); err != nil {
			return false, err
		}
		r.report.Resent++
	}
	return true, nil
}

// noteUnsent writes a line about a data request that has no message: its change record is gone or damaged.
func (r *run) noteUnsent(ctx context.Context, request *datarequest.Request) {
	if r.Table.Log != nil {
		r.Table.Log.WarnContext(ctx, "a data request cannot be sent to its worker again", "org", r.OrgID, "request", request.ID)
	}
}
