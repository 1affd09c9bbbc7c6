//go:build !linux

package child

import "syscall"

// attributes starts the child in a group of its own. Only Linux can kill the child at the
// death of the parent.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
