// Command bootstrap serves the Session Files group behind a load balancer, for forms that no Lambda takes
// (infra/uploads). Its image has no file but the program.
package main

import (
	"context"
	"net"
	"os"
	"os/signal"
	"syscall"

	_ "golang.org/x/crypto/x509roots/fallback" // The image has no certificates.

	"lectern/functions/sessionfiles"
	"lectern/shared/api"
	"lectern/shared/api/server"
)

func main() {
	if err := run(); err != nil {
		api.NewLog(os.Stdout).Error("the upload server has ended", "error", err)
		os.Exit(1)
	}
}

// run serves the port LECTERN_PORT, below the stage LECTERN_STAGE if any, until the system asks the server to end.
func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	env, err := api.FromEnvironment(ctx)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", ":"+os.Getenv("LECTERN_PORT"))
	if err != nil {
		return err
	}
	return server.New(sessionfiles.Group, env, os.Getenv("LECTERN_STAGE")).Run(ctx, listener)
}
