//go:build !linux

package child

import "syscall"

// attributes is nothing where a child cannot be told to die with its parent.
func attributes() *syscall.SysProcAttr { return nil }
