package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// bulkSize is the number of operations of a bulk request.
const bulkSize = 100

// create creates records of a kind, for example sessions, in bulk, and calls note with the
// index and id of each.
func (c client) create(ctx context.Context, kind string, bodies []map[string]any, note func(i int, id string)) error {
	done := 0
	for part := range slices.Chunk(bodies, bulkSize) {
		err := c.bulk(ctx, kind, part, func(i int, id string) { note(done+i, id) })
		if err != nil {
			return err
		}
		done += len(part)
	}
	return nil
}

// bulk creates records in a single request.
func (c client) bulk(ctx context.Context, kind string, bodies []map[string]any, note func(i int, id string)) error {
	operations := make([]map[string]any, len(bodies))
	for i, body := range bodies {
		operations[i] = map[string]any{"action": "create", "data": body}
	}
	var answer struct {
		Results []struct {
			Index  int
			Status string
			ID     string
		}
	}
	if err := c.post(ctx, "/"+kind+"/bulk", map[string]any{"operations": operations}, &answer); err != nil {
		return err
	}
	for _, r := range answer.Results {
		if r.Status != "success" {
			var err error
			if r.ID, err = c.alone(ctx, kind, bodies[r.Index]); err != nil {
				return fmt.Errorf("demo: creating %s %s: %w", strings.TrimSuffix(kind, "s"), name(bodies[r.Index]), err)
			}
		}
		note(r.Index, r.ID)
	}
	return nil
}

// alone creates a record that failed in a bulk. Only the answer to a single create names a
// deleted record with the same address; alone restores that record.
func (c client) alone(ctx context.Context, kind string, body map[string]any) (id string, err error) {
	var made struct{ ID string }
	err = c.post(ctx, "/"+kind+"/create", body, &made)
	var why struct {
		Details struct {
			ID      string
			Deleted bool
		}
	}
	refused := (*refusal)(nil)
	if errors.As(err, &refused) && json.Unmarshal(refused.text, &why) == nil && why.Details.Deleted {
		err = c.post(ctx, "/"+kind+"/"+why.Details.ID+"/restore", nil, &made)
	}
	return made.ID, err
}

// name returns the value that identifies the record of a body.
func name(body map[string]any) any {
	for _, known := range []string{"client_session_id", "email", "name", "account_id"} {
		if body[known] != nil {
			return body[known]
		}
	}
	return nil
}
