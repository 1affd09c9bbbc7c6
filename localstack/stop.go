package main

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"lectern/localstack/local/datadir"
)

// stopTime is the longest wait for the service to end, longer than requests and engines get.
const stopTime = 30 * time.Second

// stopCommand declares `lectern stop`.
func stopCommand(data *string) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop what runs on the data folder.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := stop(*data)
			if errors.Is(err, datadir.ErrNotRunning) {
				fmt.Fprintln(c.OutOrStdout(), "Nothing is running.")
				return nil
			}
			return err
		},
	}
}

// stop ends the service that runs on the data folder and waits for its end.
func stop(data string) error {
	state, err := datadir.Find(data)
	if err != nil {
		return err
	}
	if err := syscall.Kill(state.PID, syscall.SIGTERM); err != nil {
		return fmt.Errorf("stop process %d: %w", state.PID, err)
	}
	for deadline := time.Now().Add(stopTime); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, err := datadir.Find(data); errors.Is(err, datadir.ErrNotRunning) {
			return nil
		}
	}
	return fmt.Errorf("process %d has not ended within %s", state.PID, stopTime)
}
