// Package api turns typed handlers into HTTP: a route is one line of data, and
// every request goes through one pipeline (design.md section 2). It owns the
// order of refusals, headers, the shape of errors and the OpenAPI document.
// It knows callers, limits and idempotency keys, and no record.
package api

import (
	"log/slog"
	"reflect"
	"sync"
	"time"

	"lectern/shared/api/check"
	"lectern/shared/apierr"
	"lectern/shared/table"
)

// Env is what a group's service is started with: one region's table and the
// sources of everything that is not a function of its input.
type Env struct {
	// Region is the region's name as tokens carry it, such as us.
	Region string
	Table  *table.Table
	// Now is the clock.
	Now func() time.Time
	// NewID makes the id of a new record, a UUID.
	NewID func() string
	Log   *slog.Logger
	// AdminURL is the address of the admin application, without a slash at the
	// end; empty where there is none, and admin_url is null then.
	AdminURL string
	// DailyWrites is how many requests to the routes with the option CountsDaily
	// a token has on a day in UTC; 0 is no such limit.
	DailyWrites int64
	// SearchUnits is how many read units a minute an organization's requests without a
	// limit may take in one process; 0 is any number.
	SearchUnits int64
	// MostRecords lowers the caps on records of a kind (packages caps and resource), for
	// tests; 0 lowers none.
	MostRecords int64
	// Memory is what the groups of one process share; see Shared.
	Memory *Memory
}

// Memory holds one value of each type for all groups that run in one process
// on one table. The zero Memory is empty.
type Memory struct {
	mu   sync.Mutex
	kept map[reflect.Type]func() any
}

// Shared gives the process's one T, building it at the first call. Two stacks
// in one process share nothing, since each has its own Memory; without a
// Memory every call builds.
func Shared[T any](env Env, build func() *T) *T {
	if env.Memory == nil {
		return build()
	}
	return env.Memory.once(reflect.TypeFor[T](), func() any { return build() })().(*T)
}

// once gives the function that builds the value of a type at its first call.
// It is called outside the lock, so that a build may ask for other types.
func (m *Memory) once(t reflect.Type, build func() any) func() any {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[reflect.Type]func() any{}
	}
	if m.kept[t] == nil {
		m.kept[t] = sync.OnceValue(build)
	}
	return m.kept[t]
}

// Decode reads one JSON object by the rules of a request body of type T: for
// bodies within a body, such as the operations of a bulk. Fields are named from
// the object on. The error is a 400.
func Decode[T any](raw []byte) (*T, *apierr.Error) {
	into, err := check.Decode[T](raw)
	if err != nil {
		return nil, Visible(err)
	}
	return into, nil
}
