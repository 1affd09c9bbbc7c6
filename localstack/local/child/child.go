// Package child starts processes that end with this process.
package child

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// Process is a child process.
type Process struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// Start starts the command in a new process group. On Linux, the system kills the process when
// this process dies.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.live(started)
	return p, <-started
}

// live starts the process and waits for its end, both on the same locked thread: Linux kills
// the child at the end of the thread that started the child, and Go ends idle threads.
func (p *Process) live(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait() // how it ended is in ProcessState
	close(p.ended)
}

// PID returns the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended returns a channel that is closed at the end of the process.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State describes how an ended process ended.
func (p *Process) State() string { return p.cmd.ProcessState.String() }

// Signal sends a signal to the process; an ended process is no error.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("child: signal %s: %w", s, err)
	}
	return nil
}

// Stop asks the process to end, and kills the process after the time.
func (p *Process) Stop(within time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return nil
	case <-time.After(within):
		return p.Kill()
	}
}

// Kill ends the process like kill -9 and waits for the end.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.ended
	return nil
}

// FreePort returns a free port of 127.0.0.1, for a process that needs a port as an argument.
// Another process may take the port before.
func FreePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("child: find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
