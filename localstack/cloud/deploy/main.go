// Command deploy deploys the service to an emulator of AWS, runs a command against the
// service and takes everything down again:
//
//	deploy [-endpoint URL] [-functions FOLDER] [-every-option] COMMAND [ARGUMENT...]
//
// The command finds LECTERN_DEPLOYED in its environment (package target). Without an
// endpoint, deploy starts ministack. It exits with the command's status, or with 1 after
// another error.
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

	"lectern/localstack/cloud/emulator"
	"lectern/localstack/cloud/target"
	"lectern/localstack/local/child"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	var o options
	flag.StringVar(&o.endpoint, "endpoint", "", "address of an emulator that runs, such as LocalStack; ministack is started without")
	flag.StringVar(&o.program, "ministack", ".local/emulator/bin/ministack", "ministack's program")
	flag.StringVar(&o.functions, "functions", "", "folder of the functions; those built for this machine without")
	flag.BoolVar(&o.everyOption, "every-option", false,
		"deploy with every option on instead of the defaults, and run the command below the stage and at the domains")
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

// options holds the flags and the command.
type options struct {
	endpoint, program, functions, out string
	everyOption                       bool
	command                           []string
}

// run deploys, runs the command, stops everything and returns the command's status.
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
	progress(began, "the emulator answers at %s", e.URL)
	app := emulator.App{Root: root, Functions: o.functions, EveryOption: o.everyOption, Out: out, Log: os.Stderr}
	if err := e.Bootstrap(ctx, app); err != nil {
		return 0, err
	}
	progress(began, "the account is bootstrapped")
	regions, err := e.Deploy(ctx, app)
	if err != nil {
		return 0, err
	}
	progress(began, "both regions are deployed")
	file := filepath.Join(out, "deployed.json")
	if !o.everyOption {
		return o.against(ctx, regions, file)
	}
	if status, err = o.against(ctx, regions, file); status != 0 || err != nil { // Below the stage.
		return status, err
	}
	if regions, err = e.AtDomains(ctx, app, regions); err != nil {
		return 0, err
	}
	return o.against(ctx, regions, file)
}

// emulator returns the emulator at the endpoint, or a new emulator.
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

// against runs the command with the addresses of the service in a file, and returns the
// status. At the end of ctx it kills the command's process group. After a kill of this
// process, the system kills the command (package child), but not the command's own processes.
func (o options) against(ctx context.Context, regions target.Regions, file string) (int, error) {
	if err := regions.Write(file); err != nil {
		return 0, err
	}
	cmd := exec.Command(o.command[0], o.command[1:]...) //nolint:gosec,noctx // the caller's own command; its whole group ends with the context
	cmd.Env = append(os.Environ(), target.Env+"="+file)
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

// progress prints a finished step and the time since the start.
func progress(began time.Time, format string, values ...any) {
	fmt.Fprintf(os.Stderr, "== %5.1f s  %s\n", time.Since(began).Seconds(), fmt.Sprintf(format, values...))
}
