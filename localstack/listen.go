package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const (
	// secretVariable names the variable with the secret, for which no flag stands in the shell's history.
	secretVariable = "LECTERN_WEBHOOK_SECRET" //nolint:gosec // the name of a variable
	// largestDelivery is the longest body in bytes: twice the longest that the service sends.
	largestDelivery = 512 << 10
	// deliveryTime limits the time for a request, longer than the service waits.
	deliveryTime = 20 * time.Second
)

// listener receives webhooks and prints a line for each.
type listener struct {
	// verifier checks signatures; nil without a secret.
	verifier *standardwebhooks.Webhook
	// bodies also prints the bodies.
	bodies bool
	mu     sync.Mutex
	out    io.Writer
}

// listenCommand declares `lectern listen`.
func listenCommand() *cobra.Command {
	var port int
	var secret string
	l := &listener{}
	c := &cobra.Command{
		Use:   "listen",
		Short: "Receive webhooks on this machine, verify the signatures and print the deliveries.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if secret == "" {
				secret = os.Getenv(secretVariable)
			}
			if secret != "" {
				if l.verifier, err = standardwebhooks.NewWebhook(secret); err != nil {
					return fmt.Errorf("read the secret: %w", err)
				}
			}
			l.out = c.OutOrStdout()
			return l.listen(c.Context(), port)
		},
	}
	c.Flags().IntVar(&port, "port", 9000, "port on 127.0.0.1; 0 is a free one")
	c.Flags().StringVar(&secret, "secret", "", "secret of the endpoint, as its create shows; $"+secretVariable+" without the flag")
	c.Flags().BoolVar(&l.bodies, "bodies", false, "print the bodies too")
	return c
}

// listen receives deliveries until ctx ends.
func (l *listener) listen(ctx context.Context, port int) error {
	open, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	fmt.Fprintf(l.out, "Listening on http://%s. Stop with Ctrl-C.\n", open.Addr())
	if l.verifier == nil {
		fmt.Fprintf(l.out, "Without --secret or $%s, no signature is verified.\n", secretVariable)
	}
	server := &http.Server{Handler: l, ReadTimeout: deliveryTime, WriteTimeout: deliveryTime}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // No delivery is lost: the service tries again.
	if err := server.Serve(open); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("listen: %w", err)
	}
	return nil
}

// ServeHTTP answers a delivery with 204, or with 401 if the signature is not that of the secret, and
// prints the delivery.
func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestDelivery))
	if err != nil {
		http.Error(w, "The body is too long or was not sent.", http.StatusBadRequest)
		return
	}
	verdict, status := "not verified", http.StatusNoContent
	if l.verifier != nil {
		verdict = "verified"
		if err := l.verifier.Verify(body, r.Header); err != nil {
			verdict, status = err.Error(), http.StatusUnauthorized
		}
	}
	l.print(r, body, verdict)
	w.WriteHeader(status)
}

// print writes the line of a delivery, and the body with --bodies.
func (l *listener) print(r *http.Request, body []byte, verdict string) {
	var sent struct {
		Metadata struct {
			Sequence    int64  `json:"sequence"`
			ResourceURL string `json:"resource_url"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(body, &sent) // Another body is printed without these.
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.out, "%s %s %s sequence %d attempt %s %s: %s\n", time.Now().Format("15:04:05.000"), r.Header.Get("Lectern-Event"),
		r.Header.Get(standardwebhooks.HeaderWebhookID), sent.Metadata.Sequence, r.Header.Get("Lectern-Attempt"),
		sent.Metadata.ResourceURL, verdict)
	if l.bodies {
		var pretty bytes.Buffer
		if json.Indent(&pretty, body, "", "  ") != nil {
			pretty.Reset()
			pretty.Write(body)
		}
		fmt.Fprintf(l.out, "%s\n", pretty.Bytes())
	}
}
