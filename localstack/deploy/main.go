// Command deploy deploys the service to an emulator of AWS, runs a command against it
// and takes everything down again:
//
//	deploy [-endpoint URL] [-functions FOLDER] COMMAND [ARGUMENT...]
//
// The command finds LECTERN_DEPLOYED in its environment (package deployed). Without an
// endpoint it starts ministack itself. It exits with the command's status.
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

	"lectern/localstack/deployed"
	"lectern/localstack/emulator"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	flag.StringVar(&o.endpoint, "endpoint", "", "address of an emulator that runs, such as LocalStack; ministack is started without")
	flag.StringVar(&o.program, "ministack", ".local/emulator/bin/ministack", "ministack's program")
	flag.StringVar(&o.functions, "functions", "", "folder of the functions; those built for this machine without")
	flag.StringVar(&o.out, "out", ".local/deploy", "folder for templates, outputs and logs")
	flag.Parse()
	o.command = flag.Args()
	err := o.run(ctx)
	stop()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		os.Exit(failed.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "deploy:", err)
		os.Exit(1)
	}
}

// options are what the program is told.
type options struct {
	endpoint, program, functions, out string
	command                           []string
}

// run deploys, runs the command and stops what it started.
func (o options) run(ctx context.Context) (err error) {
	if len(o.command) == 0 {
		return errors.New("say which command to run against the deployed service")
	}
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	out, err := filepath.Abs(o.out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return err
	}
	began := time.Now()
	e, err := o.emulator(ctx, out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Stop()) }()
	said(began, "the emulator answers at %s", e.URL)
	app := emulator.App{Root: root, Functions: o.functions, Out: out, Log: os.Stderr}
	if err := e.Bootstrap(ctx, app); err != nil {
		return err
	}
	said(began, "the account is bootstrapped")
	regions, err := e.Deploy(ctx, app)
	if err != nil {
		return err
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

// against runs the command with the file that says where the service is. It ends with
// all that it started when ctx ends.
func (o options) against(ctx context.Context, regions deployed.Regions, file string) error {
	if err := regions.Write(file); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, o.command[0], o.command[1:]...) //nolint:gosec // the caller's own command
	cmd.Env = append(os.Environ(), deployed.Env+"="+file)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return cmd.Run()
}

// said tells what has been done and how long after the start.
func said(began time.Time, format string, values ...any) {
	fmt.Fprintf(os.Stderr, "== %5.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, values...))
}
