package it_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/demo"
	"lectern/localstack/stacktest"
)

// TestDemo makes the demo conference, a part of it again, and looks at what it
// promises to have.
func TestDemo(t *testing.T) {
	s := stacktest.Start(t, stacktest.Features(demo.Features...))
	target := demo.Target{URL: s.URL, Token: s.Token, Event: s.Event}
	made, err := demo.Fill(t.Context(), target)
	require.NoError(t, err)
	require.Equal(t, 174, made, "150 sessions and abstracts, and 24 subsessions")
	made, err = demo.Fill(t.Context(), target)
	require.NoError(t, err)
	require.Zero(t, made)

	total := func(filters map[string]any) int {
		found := stacktest.Call[struct{ Pagination struct{ TotalResults int } }](s, http.StatusOK, http.MethodPost, s.EventPath("/sessions"), map[string]any{"filters": filters})
		return found.Pagination.TotalResults
	}
	require.Equal(t, 150, total(map[string]any{}))
	require.Equal(t, 18, total(map[string]any{"isAbstract": true}))
	for kind, want := range map[string]int{"rooms": 10, "tracks": 8, "tags": 16, "levels": 3, "formats": 5, "languages": 3} {
		require.Len(t, stacktest.Call[[]map[string]any](s, http.StatusOK, http.MethodGet, s.EventPath("/"+kind), nil), want, kind)
	}

	// What was deleted comes back, and nothing else.
	first := stacktest.Call[struct{ Results []struct{ ID string } }](s, http.StatusOK, http.MethodPost, s.EventPath("/sessions"), map[string]any{"filters": map[string]any{"isAbstract": true}})
	s.Call(t, http.StatusOK, http.MethodDelete, s.EventPath("/sessions/"+first.Results[0].ID), nil)
	made, err = demo.Fill(t.Context(), target)
	require.NoError(t, err)
	require.Equal(t, 1, made)
}

func TestDemoRefusesAnEventItCannotFill(t *testing.T) {
	s := stacktest.Start(t)
	_, err := demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: s.Token, Event: s.Event})
	require.ErrorContains(t, err, "demo: creating session demo-abstract-1", "the event has no Sessions 2.0")
	_, err = demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: s.Token, Event: s.Event + 1000})
	require.ErrorContains(t, err, "sees no event")
	_, err = demo.Fill(t.Context(), demo.Target{URL: s.URL, Token: "wrong", Event: s.Event})
	require.ErrorContains(t, err, "answered 401")
}
