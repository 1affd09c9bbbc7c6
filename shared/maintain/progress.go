package maintain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/shared/table"
)

const (
	// again is how much later a region's own progress begins anew.
	again = 20 * time.Hour
	// grace is how much later than the first call a region's own progress begins: instances
	// of the release before, which knows less, have ended then.
	grace = time.Hour
	// saveEvery is how long a call works before its progress is stored again. After a call
	// that was cut off it is stored after each step, so that the cursor finds the step that
	// takes too long.
	saveEvery = 2 * time.Second
	// maxCalls is how many calls may be cut off within one step before the step is left out.
	maxCalls = 3
)

// progress is how far the region is.
//
//	PK          SK
//	R#maintain  -
type progress struct {
	Cursor *Cursor `json:"cursor"`
	// Began is when the cursor was at the beginning, or the first call.
	Began time.Time `json:"began"`
	// Calls counts the calls that were at work where the cursor is, and have not ended.
	Calls int `json:"calls,omitempty"`
}

var progressKey = table.Key{PK: "R#maintain", SK: "-"}

// Run maintains for about Store.Time.
func (s Store) Run(ctx context.Context, in Input) (*Report, error) {
	until := time.Now().Add(s.Time)
	if in.Cursor != nil {
		r := s.run(*in.Cursor, until)
		return r.report, r.steps(ctx, func() error { return nil })
	}
	p, err := s.progress(ctx)
	if err != nil {
		return nil, err
	}
	now := s.Tenancy.Now()
	switch {
	case p.Began.IsZero():
		return &Report{}, s.save(ctx, progress{Began: now.Add(grace - again)})
	case p.Cursor == nil && now.Sub(p.Began) < again:
		return &Report{}, nil
	case p.Cursor == nil:
		p = progress{Cursor: &Cursor{}, Began: now}
	}
	r, every := s.run(*p.Cursor, until), saveEvery
	if p.Calls > 0 {
		every = 0
	}
	if p.Calls == maxCalls {
		p.Calls = 0
		r.leave(ctx, errors.New("maintain: calls are cut off within the step"))
	}
	p.Cursor = &r.Cursor
	p.Calls++
	if err := s.save(ctx, p); err != nil {
		return nil, err
	}
	saved := time.Now()
	err = r.steps(ctx, func() error {
		if time.Since(saved) < every {
			return nil
		}
		p.Calls, saved = 1, time.Now()
		return s.save(ctx, p)
	})
	if err != nil {
		return nil, err
	}
	p.Cursor, p.Calls = r.report.Cursor, 0
	return r.report, s.save(ctx, p)
}

func (s Store) progress(ctx context.Context) (p progress, err error) {
	item, err := s.Tenancy.Table.Get(ctx, progressKey)
	if errors.Is(err, table.ErrNotFound) {
		return p, nil
	}
	if err == nil {
		err = json.Unmarshal(item.Data, &p)
	}
	return p, err
}

func (s Store) save(ctx context.Context, p progress) error {
	text, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("maintain: encode the progress: %w", err)
	}
	return s.Tenancy.Table.Transact(ctx, table.Put(table.Item{Key: progressKey, Version: 1, Data: text}))
}
