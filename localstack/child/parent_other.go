//go:build !linux

package child

import "syscall"

// attributes lets the child be in a group of its own; it cannot be told to die with its
// parent here.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
