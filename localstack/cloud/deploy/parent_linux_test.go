package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheCommandDiesWithItsParent(t *testing.T) {
	p := start(t, "echo started; exec sleep 60")
	require.NoError(t, p.Process.Kill())
	p.silent(t)
	_ = p.Wait() // killed
}
