// Command deploy deploys the service to an emulator of AWS, runs a command against it
// and takes everything down again:
//
//	deploy [-endpoint URL] [-functions FOLDER] COMMAND [ARGUMENT...]
//
// The command finds LECTERN_DEPLOYED in its environment (package deployed). Without an
// endpoint it starts ministack itself. It exits with the command's status, or with 1 and
// an error when something else fails.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"lectern/localstack/child"
	"lectern/localstack/deployed"
	"lectern/localstack/emulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	flag.StringVar(&o.endpoint, "endpoint", "", "address of an emulator that runs, such as LocalStack; ministack is started without")
	flag.StringVar(&o.program, "ministack", ".local/emulator/bin/ministack", "ministack's program")
	flag.StringVar(&o.functions, "functions", "", "folder of the functions; those built for this machine without")
	flag.StringVar(&o.out, "out", ".local/deploy", "folder for templates, outputs, logs and the emulator's files")
	flag.Parse()
	o.command = flag.Args()
	status, err := o.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		status = 1
	}
	os.Exit(status)
}

// options are what the program is told.
type options struct {
	endpoint, program, functions, out string
	command                           []string
}

// run deploys, runs the command, stops what it started and gives the command's status.
func (o options) run(ctx context.Context) (status int, err error) {
	if len(o.command) == 0 {
		return 0, errors.New("say which command to run against the deployed service")
	}
	root, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return 0, err
	}
	began := time.Now()
	e, err := o.emulator(ctx, out)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	said(began, "the emulator answers at %s", e.URL)
	app := emulator.App{Root: root, Functions: o.functions, Out: out, Log: os.Stderr}
	if err := e.Bootstrap(ctx, app); err != nil {
		return 0, err
	}
	said(began, "the account is bootstrapped")
	regions, err := e.Deploy(ctx, app)
	if err != nil {
		return 0, err
	}
	said(began, "both regions are deployed")
	return o.against(ctx, regions, filepath.Join(out, "deployed.json"))
}

// emulator is the one that runs at the endpoint, or a new one.
func (o options) emulator(ctx context.Context, out string) (*emulator.Emulator, error) {
	if o.endpoint != "" {
		return emulator.At(o.endpoint), nil
	}
	program, err := filepath.Abs(o.program)
	if err != nil {
		return nil, err
	}
	return emulator.Start(ctx, program, out)
}

// against runs the command with the file that says where the service is, and gives its
// status. When ctx ends it ends with all that it has started. When this process is killed
// the command dies (package child), but not what it has started.
func (o options) against(ctx context.Context, regions deployed.Regions, file string) (int, error) {
	if err := regions.Write(file); err != nil {
		return 0, err
	}
	cmd := exec.Command(o.command[0], o.command[1:]...) //nolint:gosec,noctx // the caller's own command; its whole group ends with the context
	cmd.Env = append(os.Environ(), deployed.Env+"="+file)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	command, err := child.Start(cmd)
	if err != nil {
		return 0, err
	}
	select {
	case <-command.Ended():
	case <-ctx.Done():
		_ = syscall.Kill(-command.PID(), syscall.SIGKILL) // It may have ended.
		return 0, errors.Join(fmt.Errorf("%s was ended: %w", o.command[0], context.Cause(ctx)), command.Kill())
	}
	if !cmd.ProcessState.Exited() {
		return 0, fmt.Errorf("%s: %s", o.command[0], command.State())
	}
	return cmd.ProcessState.ExitCode(), nil
}

// said tells what has been done and how long after the start.
func said(began time.Time, format string, values ...any) {
	fmt.Fprintf(os.Stderr, "== %5.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, values...))
}
