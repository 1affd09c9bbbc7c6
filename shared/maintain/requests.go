package maintain

import (
	"context"

	"lectern/shared/bus"
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
		if err := r.publish(ctx, []bus.Message{request.Message()}); err != nil {
			return false, err
		}
		r.report.Resent++
	}
	return true, nil
}
