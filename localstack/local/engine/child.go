package engine

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"lectern/localstack/local/child"
)

// Text in the engine's own messages at its start. The engine's answer on the port would be no
// proof, as another process may listen there.
const (
	wordReady = "listening on"
	wordTaken = "already in use"
)

// run starts the process and waits until the engine listens. It returns errTaken for a port in
// use.
func run(ctx context.Context, binary string, args []string) (*child.Process, error) {
	//nolint:gosec,noctx // the binary is the user's own; the context is the start's, not the engine's
	cmd := exec.Command(binary, args...)
	messages := child.NewOutput(wordReady)
	cmd.Stdout, cmd.Stderr = messages, messages
	c, err := child.Start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	select {
	case <-messages.Ready():
		return c, nil
	case <-c.Ended():
	case <-ctx.Done():
		return nil, fmt.Errorf("%w; it said: %s", errors.Join(ctx.Err(), c.Kill()), messages)
	}
	if strings.Contains(messages.String(), wordTaken) {
		return nil, fmt.Errorf("%w: %s", errTaken, messages)
	}
	return nil, fmt.Errorf("it ended at once (%s): %s", c.State(), messages)
}
