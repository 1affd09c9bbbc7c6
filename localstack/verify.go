package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lectern/localstack/stack"
	"lectern/localstack/verify"
	"lectern/shared/table"
)

// target is the table that `verify` is told to read.
type target struct {
	data, region, endpoint, table, awsRegion string
	problems                                 int
	// repairs is the file that gets the inputs of repairs.
	repairs string
}

func verifyCommand(data *string) *cobra.Command {
	to := target{}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that what a table holds is whole: counts, version sums, change records.",
		Long: "Read a whole table and check that it is whole, as after a restore. Nothing is written. Nobody else may write\n" +
			"meanwhile: what is read while a write becomes visible looks like half a write.\n\n" +
			"Without --table, it is that of the running service; with --table alone, one of AWS, read with the\n" +
			"environment's credentials, which need dynamodb:Scan on it; with --endpoint too, one of an engine.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			to.data = *data
			client, err := to.connect(c.Context())
			if err != nil {
				return err
			}
			report, err := verify.Table(c.Context(), client, to.table)
			if err != nil {
				return err
			}
			if err := report.Print(c.OutOrStdout(), to.problems); err != nil {
				return fmt.Errorf("print the report: %w", err)
			}
			if err := to.keep(report); err != nil {
				return err
			}
			if report.Count > 0 {
				return errors.New("the table is not whole")
			}
			return nil
		},
	}
	c.Flags().StringVar(&to.region, "region", names[0], "us or eu, of the running service")
	c.Flags().StringVar(&to.table, "table", "", "name of the table")
	c.Flags().StringVar(&to.endpoint, "endpoint", "", "address of the engine that has the table; empty is AWS")
	c.Flags().StringVar(&to.awsRegion, "aws-region", "", "AWS region of the table; empty is the environment's")
	c.Flags().IntVar(&to.problems, "problems", 100, "how many problems are shown, up to 1000")
	c.Flags().StringVar(&to.repairs, "repairs", "", "a file to write the inputs of the operator's command shard-repair to, one a line; it may hold addresses")
	return c
}

// keep writes the inputs of repairs into the file that was named, for its owner alone.
func (to *target) keep(report *verify.Report) error {
	if to.repairs == "" {
		return nil
	}
	file, err := os.OpenFile(to.repairs, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the repairs: %w", err)
	}
	return errors.Join(report.WriteRepairs(file), file.Close())
}

// connect finds the table.
func (to *target) connect(ctx context.Context) (verify.Client, error) {
	if to.table != "" {
		return table.Open(ctx, table.Config{Endpoint: to.endpoint, Region: to.awsRegion})
	}
	if to.endpoint != "" {
		return nil, errors.New("--endpoint needs --table")
	}
	r, err := findRegion(to.data, to.region)
	if err != nil {
		return nil, err
	}
	to.table = stack.TableName(to.region)
	return table.Open(ctx, table.Config{Endpoint: r.Engine, Region: stack.Regions[to.region]})
}
