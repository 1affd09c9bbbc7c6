package main

import (
	"context"
	"slices"
	"sync"
	"time"
)

// call is a measured request, or the floor of a request. client is the number of the client, n
// the number of the client's call.
type call interface {
	do(ctx context.Context, client, n int) error
}

// figure is the result of a load.
type figure struct {
	rate     float64 // calls a second
	p50, p99 time.Duration
}

// load repeats a call by a number of clients for the span, after a fifth of the span to warm up.
func load(ctx context.Context, clients int, span time.Duration, measured call) (figure, error) {
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
				if errs[c] = measured.do(ctx, c, n); errs[c] != nil {
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
