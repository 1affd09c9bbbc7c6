package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// keepState is how long the state of an endpoint is kept after its last change: longer than a
// streak of failures lasts without one.
const keepState = 14 * 24 * time.Hour

// ReadState reads the state of an endpoint.
func (s Store) ReadState(ctx context.Context, org int64, endpoint string) (State, error) {
	item, err := s.Table.Get(ctx, stateKey(org, endpoint))
	if errors.Is(err, table.ErrNotFound) {
		return State{}, nil
	}
	if err != nil {
		return State{}, err
	}
	return decodeState(item)
}

// OpenUntil returns the times before which the breakers of endpoints of an organization let no attempt
// through; zero for a breaker that never opened. A breaker whose endpoint is tested may close at any time,
// so the present time and a moment is all that is sure. A damaged state is left out: the deliverer asks for
// the state of each attempt.
func (s Store) OpenUntil(ctx context.Context, org int64, endpoints []string) (map[string]time.Time, error) {
	keys := make([]table.Key, len(endpoints))
	for i, endpoint := range endpoints {
		keys[i] = stateKey(org, endpoint)
	}
	got, err := s.Table.GetMany(ctx, keys)
	if err != nil {
		return nil, err
	}
	until := map[string]time.Time{}
	for i, endpoint := range endpoints {
		if state, err := decodeState(got[keys[i]]); err == nil {
			until[endpoint] = state.sure(s.Now())
		}
	}
	return until, nil
}

// moment is shorter than the wait for a second attempt.
const moment = time.Second

// sure returns the time before which the breaker is open for sure.
func (s State) sure(now time.Time) time.Time {
	if until := now.Add(moment); s.Probing && until.Before(s.OpenUntil.Time) {
		return until
	}
	return s.OpenUntil.Time
}

// decodeState reads a state from its item: the zero State of a missing item.
func decodeState(item table.Item) (State, error) {
	state := State{version: item.Version}
	if item.Version == 0 {
		return state, nil
	}
	if err := json.Unmarshal(item.Data, &state); err != nil {
		return State{}, fmt.Errorf("delivery: decode the state of %s: %w", item.SK, err)
	}
	return state, nil
}

// ClaimProbe claims the attempt that tests a failing endpoint. It reports false if another
// deliverer was faster.
func (s Store) ClaimProbe(ctx context.Context, org int64, endpoint string, state State) (bool, error) {
	err := s.writeState(ctx, org, endpoint, state, state.claimed(s.Now()))
	if errors.Is(err, table.ErrStale) {
		return false, nil
	}
	return err == nil, err
}

// Learn adds results of attempts to the state of an endpoint, and returns the state. It writes
// nothing if the state stays as it is.
func (s Store) Learn(ctx context.Context, org int64, endpoint string, results []Result) (State, error) {
	for _, err := range tries.Each(ctx) {
		if err != nil {
			return State{}, err
		}
		before, err := s.ReadState(ctx, org, endpoint)
		if err != nil {
			return State{}, err
		}
		after := before.After(results, s.Now())
		if err = s.writeState(ctx, org, endpoint, before, after); !errors.Is(err, table.ErrStale) {
			return after, err
		}
	}
	return State{}, table.ErrBusy
}

// ForgetStreak ends the streak of failures of an endpoint and closes the breaker: after the streak has
// disabled the endpoint, or a client has changed the address or enabled the endpoint.
func (s Store) ForgetStreak(ctx context.Context, org int64, endpoint string) error {
	return s.Table.Transact(ctx, table.Delete(stateKey(org, endpoint)))
}

// writeState replaces the state of an endpoint, if the two differ.
func (s Store) writeState(ctx context.Context, org int64, endpoint string, before, after State) error {
	was, err := wire.Encode(before)
	if err != nil {
		return fmt.Errorf("delivery: encode the state of %s: %w", endpoint, err)
	}
	is, err := wire.Encode(after)
	if err != nil {
		return fmt.Errorf("delivery: encode the state of %s: %w", endpoint, err)
	}
	if string(was) == string(is) {
		return nil
	}
	item := table.Item{
		Key: stateKey(org, endpoint), Version: before.version + 1, Data: is, Expires: s.Now().Add(keepState).Unix(),
	}
	if before.version == 0 {
		return s.Table.Transact(ctx, table.Insert(item))
	}
	return s.Table.Transact(ctx, table.Replace(item, before.version))
}
