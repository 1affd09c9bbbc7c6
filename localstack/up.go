package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"lectern/localstack/stack"
)

// names are the regions in the order they are shown.
var names = []string{"us", "eu"}

// envName is the file in the data folder that a shell reads to call the
// service.
const envName = "demo.env"

// options are what `up` is told.
type options struct {
	data   string
	ports  map[string]*int
	noDemo bool
	// adminURL is the address of the admin application; empty for none.
	adminURL string
	// functions is the folder of the groups' binaries, to be run as Lambda does; empty
	// runs the groups in this process.
	functions string
	// asAWS has the engine conflict and throttle as AWS does.
	asAWS bool
	out   io.Writer
}

func upCommand(data *string) *cobra.Command {
	o := options{ports: map[string]*int{}}
	c := &cobra.Command{
		Use:   "up",
		Short: "Serve both regions until a signal comes.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.data, o.out = *data, c.OutOrStdout()
			return up(c.Context(), o)
		},
	}
	for i, name := range names {
		o.ports[name] = c.Flags().Int(name+"-port", 8080+i, "port of the "+name+" region; 0 is a free one")
	}
	c.Flags().StringVar(&o.adminURL, "admin-url", "", "address of the admin application, for admin_url; it is null without")
	c.Flags().BoolVar(&o.noDemo, "no-demo", false, "make the organization, an event and a token, but no demo conference")
	c.Flags().StringVar(&o.functions, "processes", "", "run the groups' own binaries, which 'make functions' builds, as Lambda does; the folder they are in")
	c.Flags().Lookup("processes").NoOptDefVal = stack.Binaries()
	c.Flags().BoolVar(&o.asAWS, "as-aws", false, "cancel conflicting transactions and throttle hot partitions, as AWS does")
	c.MarkFlagsMutuallyExclusive("processes", "as-aws")
	return c
}

// up serves both regions until ctx ends, and stops all it started before it
// returns.
func up(ctx context.Context, o options) (err error) {
	file, err := claim(o.data)
	if err != nil {
		return err
	}
	defer file.Close()
	// It may be there from a run that was killed.
	if err := o.unannounce(); err != nil {
		return err
	}
	state := running{PID: os.Getpid(), Regions: map[string]region{}}
	var all []*served
	defer func() {
		for _, s := range slices.Backward(all) {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, name := range names {
		s, err := serve(ctx, o, name)
		if err != nil {
			return err
		}
		all = append(all, s)
		state.Regions[name] = s.region
	}
	if err := state.write(file); err != nil {
		return err
	}
	if err := o.ready(ctx, all); err != nil && ctx.Err() == nil {
		return err
	}
	var maintaining sync.WaitGroup
	for _, s := range all {
		maintaining.Go(func() { here(s.instance.Env).keepMaintained(ctx) })
	}
	<-ctx.Done()
	fmt.Fprintln(o.out, "Stopping.")
	maintaining.Wait()
	return o.unannounce()
}

// unannounce removes demo.env, which is there while the regions answer.
func (o options) unannounce() error {
	if err := os.Remove(filepath.Join(o.data, envName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the old %s: %w", envName, err)
	}
	return nil
}

// ready fills the demo events that are not filled yet, sees that every region
// answers, and only then tells how to call them.
func (o options) ready(ctx context.Context, all []*served) error {
	var group errgroup.Group
	for _, s := range all {
		group.Go(func() error {
			if !o.noDemo && !s.Filled {
				fmt.Fprintf(o.out, "Making the demo conference of %s.\n", s.name)
				if _, err := fill(ctx, o.data, s.URL, here(s.instance.Env), s.seed); err != nil {
					return fmt.Errorf("region %s: %w", s.name, err)
				}
			}
			return s.answers(ctx)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	path := filepath.Join(o.data, envName)
	if err := replace(path, variables(all)); err != nil {
		return err
	}
	o.announce(all, path)
	return nil
}

// variables is the text of demo.env.
func variables(all []*served) []byte {
	var text strings.Builder
	for _, s := range all {
		prefix := "LECTERN_" + strings.ToUpper(s.name) + "_"
		fmt.Fprintf(&text, "%sURL=%s\n%sTOKEN=%s\n%sORG=%d\n%sEVENT=%d\n",
			prefix, s.URL, prefix, s.Token, prefix, s.Organization, prefix, s.Event)
	}
	return []byte(text.String())
}

// announce prints how to call the service.
func (o options) announce(all []*served, path string) {
	fmt.Fprintf(o.out, "Lectern is up. Stop it with Ctrl-C or `make stop`.\n")
	for _, s := range all {
		fmt.Fprintf(o.out, "\n  %-6s %s\n  docs   %s/docs\n  demo   organization %d, event %d\n  token  %s\n  log    %s\n",
			s.name, s.URL, s.URL, s.Organization, s.Event, s.Token, s.log.Name())
	}
	fmt.Fprintf(o.out, "\nThe same as shell variables: . %s\n", path)
}
