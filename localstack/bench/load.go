package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// call is one measured thing; n counts the calls of a client.
type call func(ctx context.Context, client, n int) error

// figure is what one load gave.
type figure struct {
	rate     float64 // calls a second
	p50, p99 time.Duration
}

// load repeats a call by so many clients for the span, after a fifth of it to
// warm up.
func load(ctx context.Context, clients int, span time.Duration, do call) (figure, error) {
	var group sync.WaitGroup
	times, errs := make([][]time.Duration, clients), make([]error, clients)
	warm := time.Now().Add(span / 5)
	end := warm.Add(span)
	for c := range clients {
		group.Go(func() {
			for n := 0; ; n++ {
				began := time.Now()
				if began.After(end) {
					return
				}
				if errs[c] = do(ctx, c, n); errs[c] != nil {
					return
				}
				if began.After(warm) {
					times[c] = append(times[c], time.Since(began))
				}
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return figure{}, err
		}
	}
	all := slices.Concat(times...)
	if len(all) == 0 {
		return figure{}, nil
	}
	slices.Sort(all)
	return figure{rate: float64(len(all)) / span.Seconds(), p50: all[len(all)/2], p99: all[len(all)*99/100]}, nil
}
