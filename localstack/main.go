// Command lectern runs the whole service on one machine: both regions, each
// with its own engine and data. It owns how the local service is started,
// found, filled and stopped, and no rule of the API.
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

func command() *cobra.Command {
	root := &cobra.Command{
		Use:               "lectern",
		Short:             "Run Lectern on this machine.",
		SilenceUsage:      true,
		SilenceErrors:     true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	data := root.PersistentFlags().String("data", ".local", "folder that keeps the data")
	root.AddCommand(upCommand(data), demoCommand(data), operatorCommand(data), stopCommand(data), verifyCommand(data))
	return root
}
