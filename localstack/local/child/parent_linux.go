package child

import "syscall"

// attributes makes the system kill the child at the death of this process, so that a killed
// test leaves no engine behind. The child has a group of its own, so an interrupt at the
// terminal reaches only this process, and this process stops the child in order.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
