package querytest

import (
	"os"
	"runtime/debug"

	"lectern/tools/bench/process"
)

// Resident returns the memory of this process in MB, without garbage, and with the memory that the garbage collector does not know: that of
// SQLite. It is 0 where the system does not say.
func Resident() float64 {
	debug.FreeOSMemory()
	mb, err := process.Resident(os.Getpid())
	if err != nil {
		return 0
	}
	return mb
}
