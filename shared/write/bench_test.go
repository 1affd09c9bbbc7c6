package write_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/tabletest"
	"lectern/shared/write"
)

// BenchmarkRun creates records one by one, from one caller and from many.
func BenchmarkRun(b *testing.B) {
	for _, callers := range []int{1, 16} {
		b.Run(strconv.Itoa(callers), func(b *testing.B) {
			to := tabletest.Start(b)
			b.SetParallelism(callers)
			next := make(chan int)
			go func() {
				for i := range b.N {
					next <- i
				}
				close(next)
			}()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					i := <-next
					_, err := write.Run[any](b.Context(), to, command{Kind: "create", ID: fmt.Sprint("id", i), Email: fmt.Sprint("mail", i)}.op("p"))
					if err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

// BenchmarkBulk100 creates a hundred records at a time.
func BenchmarkBulk100(b *testing.B) {
	to := tabletest.Start(b)
	for i := 0; b.Loop(); i++ {
		_, err := write.Bulk(b.Context(), to, batch(entries(place(fmt.Sprint("p", i)), creates(100))))
		require.NoError(b, err)
	}
}
