package size_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/page"
	"lectern/shared/size"
)

func TestTheMessageNamesTheLargestPageThatFits(t *testing.T) {
	ctx := size.With(context.Background(), size.Client{PageSize: "pageSize"})
	for limit, want := range map[int]string{10: "1 or less", 150: "1 or less", 206: "2 or less", 1000: "3 or less"} {
		err := size.TooMuch(ctx, "show too many people", []int{13, 103, 103}, limit)
		require.EqualError(t, err, "The page would show too many people. Ask again with a pageSize of "+want+".", "limit %d", limit)
		require.Equal(t, "pageSize", err.Details["field"])
	}
}

// TestTheMessageNamesGzipWhereItHelps: a page of more than 30 MB is refused to every client.
func TestTheMessageNamesGzipWhereItHelps(t *testing.T) {
	const megabyte = 1 << 20
	for _, c := range []struct {
		client  size.Client
		results int
		message string
	}{
		{size.Client{}, 10, "The answer would be larger than 5 MB. A request with Accept-Encoding: gzip is answered up to 30 MB. Ask again with a pageSize of 2 or less."},
		{size.Client{}, 20, "The answer would be larger than 30 MB; without Accept-Encoding: gzip the limit is 5 MB. Ask again with a pageSize of 2 or less."},
		{size.Client{Gzip: true}, 20, "The answer would be larger than 30 MB, or 4.3 MB compressed. Ask again with a pageSize of 15 or less."},
	} {
		c.client.PageSize = "pageSize"
		ctx := size.With(context.Background(), c.client)
		require.EqualError(t, size.TooLong(ctx, slices.Repeat([]int{2 * megabyte}, c.results)), c.message)
		if !c.client.Gzip {
			all := slices.Repeat([]string{strings.Repeat("x", 2*megabyte-50)}, c.results)
			_, err := size.Encode(ctx, page.New(page.Query{Page: 1, PageSize: 100}, c.results, all))
			require.EqualError(t, err, c.message)
		}
	}
}

func TestATextTakesTheBytesOfItsEscapes(t *testing.T) {
	for text, want := range map[string][2]int{"ab": {4, 5}, `""`: {6, 10}, "\x01": {8, 9}, "é<": {5, 6}} {
		require.Equal(t, want[0], size.Client{Gzip: true}.Text(text), "%q", text)
		require.LessOrEqual(t, size.Client{}.Text(text), want[1], "%q", text)
		require.GreaterOrEqual(t, size.Client{}.Text(text), want[0], "%q", text)
	}
	quotes := strings.Repeat(`"`, 1000)
	require.InDelta(t, 4000*5.0*1.048576/6, size.Client{}.Text(quotes), 5, "a Lambda escapes quotes once more")
}

// text is a Reducer of a given size, and of a hundredth from a Detail on.
type text struct {
	Text    string
	Omitted []string
	from    size.Detail
}

func (r *text) Reduce(to size.Detail) bool {
	if to < r.from || len(r.Omitted) > 0 {
		return false
	}
	r.Text, r.Omitted = r.Text[:len(r.Text)/100], []string{"text"}
	return true
}

// TestThePageSizeFitsAnySelection of results: those with many quotes take more of a Lambda.
func TestThePageSizeFitsAnySelection(t *testing.T) {
	quotes, plain := strings.Repeat(`"`, 60_000), strings.Repeat("x", 120_000)
	var all []string
	for range 50 {
		all = append(all, quotes, plain)
	}
	ctx := size.With(context.Background(), size.Client{PageSize: "pageSize"})
	_, err := size.Encode(ctx, page.New(page.Query{Page: 1, PageSize: 100}, 100, all))
	require.ErrorContains(t, err, "Ask again with a pageSize of 24 or less.")
	for n, fits := range map[int]bool{24: true, 33: false} {
		_, err := size.Encode(ctx, page.New(page.Query{Page: 1, PageSize: n}, n, slices.Repeat([]string{quotes}, n)))
		require.Equal(t, fits, err == nil, "%d results", n)
	}
}

func TestALongRecordOmitsParts(t *testing.T) {
	for detail := size.Brief; detail <= size.Bare; detail++ {
		for _, answer := range []any{
			&text{Text: strings.Repeat("a", size.Plain), from: detail},
			page.New(page.Query{Page: 1, PageSize: 1}, 1, []*text{{Text: strings.Repeat("a", size.Plain), from: detail}}),
			page.New(page.Query{Page: 1, PageSize: 1}, 1, []text{{Text: strings.Repeat("a", size.Plain), from: detail}}),
		} {
			got, err := size.Encode(context.Background(), answer)
			require.NoError(t, err)
			require.Contains(t, string(got.JSON), `"Omitted":["text"]`)
			require.Less(t, len(got.JSON), size.Plain/50)
		}
	}
}

// TestQuotesTakeTheSpaceOfTwo has an answer within 5 MB that the result of a Lambda has not.
func TestQuotesTakeTheSpaceOfTwo(t *testing.T) {
	answer := func() *text { return &text{Text: strings.Repeat(`"`, 2<<20), from: size.Brief} }
	got, err := size.Encode(context.Background(), answer())
	require.NoError(t, err)
	require.Contains(t, string(got.JSON), "Omitted\":[")
	got, err = size.Encode(size.With(context.Background(), size.Client{Gzip: true}), answer())
	require.NoError(t, err)
	require.Contains(t, string(got.JSON), "Omitted\":null")
	space := size.NewSpace(context.Background())
	require.False(t, space.Fits(got.JSON))
	space = size.NewSpace(size.With(context.Background(), size.Client{Gzip: true}))
	require.True(t, space.Fits(got.JSON))
}

func TestSpaceIsUsedUp(t *testing.T) {
	space, megabyte := size.NewSpace(context.Background()), []byte(strings.Repeat("a", 1<<20))
	for range 4 {
		require.True(t, space.Fits(megabyte))
		space.Take(megabyte)
	}
	require.False(t, space.Fits(megabyte))
}

func TestALongAnswerOfAnotherKind(t *testing.T) {
	answer := []string{strings.Repeat("a", size.Plain)}
	_, err := size.Encode(context.Background(), answer)
	require.ErrorContains(t, err, "larger than 5 MB")
	got, err := size.Encode(size.With(context.Background(), size.Client{Writes: true}), answer)
	require.NoError(t, err)
	require.Greater(t, len(got.JSON), size.Plain)
	page := page.New(page.Query{Page: 1, PageSize: 2}, 2, []string{strings.Repeat("a", 4<<20), strings.Repeat("b", 2<<20)})
	_, err = size.Encode(size.With(context.Background(), size.Client{PageSize: "page_size"}), page)
	require.ErrorContains(t, err, "Ask again with a page_size of 1 or less.")
}
