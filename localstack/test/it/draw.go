package it

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
)

// StableAnswer holds the part of an answer that two equal requests share.
type StableAnswer struct {
	Status int
	Header http.Header
	Body   string
}

// changing lists the headers that differ between equal answers, gateway headers included.
var changing = []string{
	"Date", "X-Request-Id", "Ratelimit", "Ratelimit-Policy", "Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset",
	"X-Amz-Request-Id", "X-Amzn-Requestid", "X-Amz-Apigw-Id", "X-Amzn-Trace-Id",
}

// EnvLong asks for the long sizes of the batteries, envSeed for a seed.
const (
	EnvLong = "LECTERN_LONG"
	envSeed = "LECTERN_SEED"
)

// Stable returns the answer without the headers that always change.
func Stable(a stacktest.Answer) StableAnswer {
	header := maps.Clone(a.Header)
	for _, name := range changing {
		delete(header, name)
	}
	return StableAnswer{a.Status, header, string(a.Body)}
}

// Concurrently runs the clients at the same time and waits for all. Clients must report
// failures with Errorf, because only the test's goroutine may end the test.
func Concurrently(clients int, run func(client int)) {
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() { run(client) })
	}
	all.Wait()
}

// MustCreate creates a record with a POST below the event and returns its id.
func MustCreate(t *testing.T, s *stacktest.Stack, path string, body any) string {
	t.Helper()
	id, _ := s.Call(t, http.StatusOK, http.MethodPost, s.EventPath(path), body).JSON(t)["id"].(string)
	require.NotEmpty(t, id)
	return id
}

// DecodeObject decodes an object; nil for any other text. DecodeObject never ends the
// test.
func DecodeObject(body []byte) map[string]any {
	var object map[string]any
	_ = json.Unmarshal(body, &object)
	return object
}

// Size returns the size of a battery: short, or long if EnvLong is set.
func Size(short, long int) int {
	if os.Getenv(EnvLong) == "1" {
		return long
	}
	return short
}

// Seed returns the seed of envSeed, or a random seed. A failed test prints its seed.
func Seed(t *testing.T) uint64 {
	t.Helper()
	seed, err := strconv.ParseUint(os.Getenv(envSeed), 10, 64)
	if err != nil {
		seed = rand.Uint64() //nolint:gosec // a seed of a test
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the seed was %d: run again with %s=%d", seed, envSeed, seed)
		}
	})
	return seed
}

// Source returns the random source of one of a test's callers.
func Source(seed uint64, caller int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, uint64(caller))) //nolint:gosec // draws of a test
}

// OneOf draws an element of a list that is not empty.
func OneOf[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// Describe formats an operation of a history and its result.
func Describe(input, output any) string { return fmt.Sprintf("%+v -> %+v", input, output) }
