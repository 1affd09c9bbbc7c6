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
		require.ErrorContains(t, size.TooLong(ctx, []int{13, 103, 103}, limit), "Ask again with a pageSize of "+want+".", "limit %d", limit)
	}
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
