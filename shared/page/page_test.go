package page_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/page"
)

func TestSliceGivesTheChosenPage(t *testing.T) {
	all := []int{1, 2, 3, 4, 5}
	for _, c := range []struct {
		page, size int
		want       string
	}{
		{1, 2, `{"results":[1,2],"pagination":{"currentPage":1,"pageSize":2,"totalPages":3,"totalResults":5}}`},
		{3, 2, `{"results":[5],"pagination":{"currentPage":3,"pageSize":2,"totalPages":3,"totalResults":5}}`},
		{999, 100, `{"results":[],"pagination":{"currentPage":999,"pageSize":100,"totalPages":1,"totalResults":5}}`},
	} {
		got, err := json.Marshal(page.Slice(page.Query{Page: c.page, PageSize: c.size}, all))
		require.NoError(t, err)
		require.Equal(t, c.want, string(got))
	}
}

func TestAnEmptyPageHasNoNull(t *testing.T) {
	got, err := json.Marshal(page.New[int](page.Query{Page: 1, PageSize: 25}, 0, nil))
	require.NoError(t, err)
	require.Equal(t, `{"results":[],"pagination":{"currentPage":1,"pageSize":25,"totalPages":0,"totalResults":0}}`, string(got))
}
