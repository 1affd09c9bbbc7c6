// Command lectern runs the whole service on one machine: both regions, each with an engine
// and data of its own. It starts, finds, fills and stops the local service; the rules of the
// API are elsewhere. Each command has a file: up.go, demo.go, operator.go, stop.go, verify.go,
// preflight.go, smoke.go, listen.go.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lectern:", err)
		os.Exit(1)
	}
}

// command declares the command line.
func command() *cobra.Command {
	root := &cobra.Command{
		Use:               "lectern",
		Short:             "Run Lectern on this machine.",
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	data := root.PersistentFlags().String("data", ".local", "folder that keeps the data")
	root.AddCommand(upCommand(data), demoCommand(data), operatorCommand(data), stopCommand(data), verifyCommand(data),
		preflightCommand(), smokeCommand(), listenCommand())
	return root
}
