package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"lectern/functions/operator"
	"lectern/localstack/cloud/target"
	"lectern/localstack/content/seed"
	"lectern/localstack/local/datadir"
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/maintain"
	"lectern/shared/table"
)

// operatorOptions holds the flags of `lectern operator`.
type operatorOptions struct {
	data          *string
	input, region string
}

// operatorCommand declares `lectern operator`.
func operatorCommand(data *string) *cobra.Command {
	o := &operatorOptions{data: data}
	c := &cobra.Command{
		Use:   "operator COMMAND",
		Short: "Do what only an operator may: organizations, members, events, tokens and the like.",
		Long: "Do what only an operator may, against the running service, or the deployed one that LECTERN_DEPLOYED names. " +
			"The commands, with * after what is required:\n\n" + commandList(),
		Args: cobra.ExactArgs(1),
		RunE: o.run,
	}
	c.Flags().StringVar(&o.input, "json", "{}", "the command's input, or @ and the name of a file with the input")
	c.Flags().StringVar(&o.region, "region", datadir.Names[0], "us or eu")
	return c
}

// run does the command named by the argument. A refusal is printed as JSON.
func (o *operatorOptions) run(c *cobra.Command, args []string) error {
	if os.Getenv(target.Env) != "" && c.Flag("data").Changed {
		return fmt.Errorf("--data names a running service and %s a deployed one; leave one of them out", target.Env)
	}
	to, err := operatorOf(c.Context(), *o.data, o.region)
	if err != nil {
		return err
	}
	input := []byte(o.input)
	if name, named := strings.CutPrefix(o.input, "@"); named {
		if input, err = os.ReadFile(name); err != nil {
			return fmt.Errorf("read the input: %w", err)
		}
	}
	err = runCommand(c.Context(), to, args[0], input, c.OutOrStdout())
	if refusal := (*apierr.Error)(nil); errors.As(err, &refusal) {
		return errors.Join(errors.New("refused"), printJSON(c.OutOrStdout(), refusal))
	}
	return err
}

// commandList describes the operator's commands, with a line for each summary and input.
func commandList() string {
	var text strings.Builder
	for _, command := range operator.Commands() {
		fmt.Fprintf(&text, "  %-24s %s\n  %-24s %s\n", command.Name, command.Summary, "", command.Input)
	}
	return text.String()
}

// localOperator does operator commands in this process, on the engine of a region.
type localOperator struct{ env api.Env }

// Do does a command and returns the answer as JSON.
func (o localOperator) Do(ctx context.Context, command string, input json.RawMessage) (json.RawMessage, error) {
	answer, err := operator.New(o.env).Do(ctx, command, input)
	if err != nil {
		return nil, err
	}
	return json.Marshal(answer)
}

// connect returns the operator of a region of the service that runs on a data folder.
func connect(ctx context.Context, data, name string) (localOperator, error) {
	region, err := datadir.FindRegion(data, name)
	if err != nil {
		return localOperator{}, err
	}
	client, err := stack.Connect(ctx, name, region.Engine, stack.TableName(name))
	if err != nil {
		return localOperator{}, err
	}
	env := stack.NewEnv(name, table.New(client, stack.TableName(name)), slog.New(slog.DiscardHandler))
	env.Places, env.Blobs = stack.Places(name, region.Bus, region.Transcriber), region.Bucket.Store()
	env.Keys, err = stack.Keys(datadir.Folder(data, name))
	return localOperator{env}, err
}

// operatorOf returns the operator of a region: of the deployed service if target.Env is set,
// otherwise of the service that runs on the data folder.
func operatorOf(ctx context.Context, data, name string) (seed.Operator, error) {
	regions, err := target.FromEnvironment()
	if err != nil {
		return nil, err
	}
	if regions != nil {
		deployed, ok := regions[name]
		if !ok {
			return nil, fmt.Errorf("%s does not say where the region %s is", target.Env, name)
		}
		return deployed, nil
	}
	return connect(ctx, data, name)
}

// runCommand does a command and prints its answer. Maintenance without input starts from the
// beginning. Maintenance and republish run until an answer has no cursor.
func runCommand(ctx context.Context, to seed.Operator, command string, input json.RawMessage, out io.Writer) error {
	if command == operator.Maintain && string(input) == "{}" {
		input = json.RawMessage(`{"cursor":{}}`)
	}
	for {
		answer, err := to.Do(ctx, command, input)
		if err == nil {
			err = printJSON(out, answer)
		}
		if err != nil {
			return err
		}
		if input, err = continued(command, answer); err != nil || input == nil {
			return err
		}
	}
}

// continued returns the input that continues after an answer of a command; nil after the last answer.
func continued(command string, answer json.RawMessage) (json.RawMessage, error) {
	switch command {
	case operator.Maintain:
		var next maintain.Input
		if err := json.Unmarshal(answer, &next); err != nil || next.Cursor == nil {
			return nil, err
		}
		return json.Marshal(next)
	case operator.Republish:
		var next operator.RepublishInput
		if err := json.Unmarshal(answer, &next); err != nil || next.Cursor == nil {
			return nil, err
		}
		return json.Marshal(next)
	}
	return nil, nil
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
