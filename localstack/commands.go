package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"lectern/functions/operator"
	"lectern/localstack/deployed"
	"lectern/shared/apierr"
)

func stopCommand(data *string) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop what runs on the data folder.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			err := stop(*data)
			if errors.Is(err, errNotRunning) {
				fmt.Fprintln(c.OutOrStdout(), "Nothing is running.")
				return nil
			}
			return err
		},
	}
}

// deployedName is the folder in the data folder for what belongs to a deployed service.
const deployedName = "deployed"

func demoCommand(data *string) *cobra.Command {
	var elsewhere bool
	c := &cobra.Command{
		Use:   "demo",
		Short: "Make what the demo events lack of the demo conference.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if !elsewhere {
				return fillRunning(c.Context(), *data, c.OutOrStdout())
			}
			regions, err := deployed.FromEnvironment()
			if err != nil {
				return err
			}
			return fillDeployed(c.Context(), filepath.Join(*data, deployedName), regions, c.OutOrStdout())
		},
	}
	c.Flags().BoolVar(&elsewhere, "deployed", false,
		"make an organization with the demo conference in the service that "+deployed.Env+" names; the folder deployed in the data folder keeps what it was given")
	return c
}

func operatorCommand(data *string) *cobra.Command {
	var input, name string
	c := &cobra.Command{
		Use:   "operator COMMAND",
		Short: "Do what only an operator may: organizations, members, events, tokens and the like.",
		Long:  "Do what only an operator may, against the running service, or the deployed one that LECTERN_DEPLOYED names. The commands, with * after what is required:\n\n" + commandList(),
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if os.Getenv(deployed.Env) != "" && c.Flag("data").Changed {
				return fmt.Errorf("--data names a running service and %s a deployed one; leave one of them out", deployed.Env)
			}
			o, err := officeOf(c.Context(), *data, name)
			if err != nil {
				return err
			}
			show := func(answer json.RawMessage) error { return printJSON(c.OutOrStdout(), answer) }
			err = o.instructAll(c.Context(), args[0], json.RawMessage(input), show)
			if refusal := (*apierr.Error)(nil); errors.As(err, &refusal) {
				return errors.Join(errors.New("refused"), printJSON(c.OutOrStdout(), refusal))
			}
			return err
		},
	}
	c.Flags().StringVar(&input, "json", "{}", "the command's input")
	c.Flags().StringVar(&name, "region", names[0], "us or eu")
	return c
}

// commandList describes the operator's commands, one a line.
func commandList() string {
	var text strings.Builder
	for _, command := range operator.Commands() {
		fmt.Fprintf(&text, "  %-24s %s\n  %-24s %s\n", command.Name, command.Summary, "", command.Input)
	}
	return text.String()
}

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, value any) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("print the answer: %w", err)
	}
	return nil
}
