package maintain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/shared/keys"
	"lectern/shared/table"
)

const (
	// again is the time between two beginnings of a region's own progress.
	again = 20 * time.Hour
	// grace is the time between the first call and the beginning of a region's own
	// progress. By then, the instances of the previous release have ended. That release
	// does not write all items and numbers.
	grace = time.Hour
	// saveEvery is the time that a call works between two saves of its progress. After an
	// interrupted call, progress is saved after each step, so that the cursor finds the
	// step that takes too long.
	saveEvery = 2 * time.Second
	// maxCalls is the number of calls that may be interrupted within one step before the
	// step is skipped.
	maxCalls = 3
)

// progress is the stored progress of the region.
//
//	PK          SK
//	R#maintain  -
type progress struct {
	Cursor *Cursor `json:"cursor"`
	// Began is the time when the cursor was at the beginning. After the first call of a
	// region, Began is set so that the progress begins after the grace.
	Began time.Time `json:"began"`
	// Calls counts the calls that worked at the cursor and have not ended.
	Calls int `json:"calls,omitempty"`
}

// Keys are the patterns of the items of maintenance.
var Keys = []keys.Pattern{{Name: "progress of maintenance", PK: progressKey.PK, SK: progressKey.SK, Personal: keys.Nothing}}

var progressKey = table.Key{PK: "R#maintain", SK: "-"}

// Run maintains the region for about Store.Time.
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
