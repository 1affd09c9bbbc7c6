package table

import (
	"fmt"
	"runtime/debug"
)

// Safely is do with a panic as its error. Whatever a request does beside its own
// goroutine goes through it: a panic there would end the process, and with it the
// requests of others.
func Safely(do func() error) func() error {
	return func() (err error) {
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
			}
		}()
		return do()
	}
}
