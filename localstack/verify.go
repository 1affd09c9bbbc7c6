package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lectern/localstack/content/verify"
	"lectern/localstack/local/datadir"
	"lectern/localstack/local/stack"
	"lectern/shared/table"
)

// verifyOptions holds the flags of `lectern verify`.
type verifyOptions struct {
	data                               *string
	region, endpoint, table, awsRegion string
	// problems is the highest number of problems to print.
	problems int
	// repairs is the file for the inputs of repairs.
	repairs string
}

// verifyCommand declares `lectern verify`.
func verifyCommand(data *string) *cobra.Command {
	o := &verifyOptions{data: data}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that what a table holds is whole: counts, version sums, change records.",
		Long: "Read a whole table and check that it is whole, as after a restore. Nothing is written. Nobody else may write\n" +
			"meanwhile: what is read while a write becomes visible looks like half a write.\n\n" +
			"Without --table, it is that of the running service; with --table alone, one of AWS, read with the\n" +
			"environment's credentials, which need dynamodb:Scan on it; with --endpoint too, one of an engine.",
		Args: cobra.NoArgs,
		RunE: o.run,
	}
	c.Flags().StringVar(&o.region, "region", datadir.Names[0], "us or eu, of the running service")
	c.Flags().StringVar(&o.table, "table", "", "name of the table")
	c.Flags().StringVar(&o.endpoint, "endpoint", "", "address of the engine that has the table; empty is AWS")
	c.Flags().StringVar(&o.awsRegion, "aws-region", "", "AWS region of the table; empty is the environment's")
	c.Flags().IntVar(&o.problems, "problems", 100, "how many problems are shown, up to 1000")
	c.Flags().StringVar(&o.repairs, "repairs", "", "a file to write the inputs of the operator's command shard-repair to, one a "+
		"line; it may hold addresses")
	return c
}

// run checks the table and prints the report.
func (o *verifyOptions) run(c *cobra.Command, _ []string) error {
	client, err := o.connect(c.Context())
	if err != nil {
		return err
	}
	report, err := verify.Table(c.Context(), client, o.table)
	if err != nil {
		return err
	}
	if err := report.Print(c.OutOrStdout(), o.problems); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if err := o.saveRepairs(report); err != nil {
		return err
	}
	if report.Count > 0 {
		return errors.New("the table is not whole")
	}
	return nil
}

// saveRepairs writes the inputs of repairs into the named file, readable only by the owner.
func (o *verifyOptions) saveRepairs(report *verify.Report) error {
	if o.repairs == "" {
		return nil
	}
	file, err := os.OpenFile(o.repairs, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep the repairs: %w", err)
	}
	return errors.Join(report.WriteRepairs(file), file.Close())
}

// connect returns a client of the table, and sets the table of the running service.
func (o *verifyOptions) connect(ctx context.Context) (verify.Client, error) {
	if o.table != "" {
		return table.Open(ctx, table.Config{Endpoint: o.endpoint, Region: o.awsRegion})
	}
	if o.endpoint != "" {
		return nil, errors.New("--endpoint needs --table")
	}
	region, err := datadir.FindRegion(*o.data, o.region)
	if err != nil {
		return nil, err
	}
	o.table = stack.TableName(o.region)
	return table.Open(ctx, table.Config{Endpoint: region.Engine, Region: stack.Regions[o.region]})
}
