package child

import "syscall"

// attributes lets the child die with this process, even when that is killed, so
// that a killed test leaves no engine behind. The child is in a group of its
// own: an interrupt at the terminal reaches this process alone, which then
// stops the child in order.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
