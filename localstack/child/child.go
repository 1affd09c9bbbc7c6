// Package child starts processes that do not outlive this one.
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

// Start starts the command, in a process group of its own. The process dies with this one
// where the system can do that (Linux).
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	p := &Process{cmd: cmd, ended: make(chan struct{})}
	started := make(chan error)
	go p.live(started)
	return p, <-started
}

// live starts the process and waits for its end on one thread that it keeps:
// Linux kills the child when the thread that started it ends, and Go ends idle
// threads.
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

// PID is the process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// State says how a process ended that has.
func (p *Process) State() string { return p.cmd.ProcessState.String() }

// Signal sends the process a signal. One that has ended needs none.
func (p *Process) Signal(s syscall.Signal) error {
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("child: signal %s: %w", s, err)
	}
	return nil
}

// Stop asks the process to end and returns when it has, after some time by Kill.
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

// Kill ends the process as kill -9 does and returns when it has ended.
func (p *Process) Kill() error {
	if err := p.Signal(syscall.SIGKILL); err != nil {
		return err
	}
	<-p.ended
	return nil
}

// FreePort is a port of 127.0.0.1 that nobody listens on now, for a process that wants to
// be told one. Another may take it before.
func FreePort(ctx context.Context) (int, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("child: find a free port: %w", err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
