package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/awslabs/aws-lambda-go-api-proxy/httpadapter"
	"github.com/google/uuid"

	"lectern/shared/table"
)

// config is what a Lambda is told by its environment variables.
type config struct {
	// table is LECTERN_TABLE, the table's name.
	table string
	// region is LECTERN_REGION, the name of the region in tokens: us or eu.
	region string
	// awsRegion is AWS_REGION, which Lambda sets.
	awsRegion string
	// adminURL is LECTERN_ADMIN_URL, the address of the admin application; it
	// may be left out.
	adminURL string
	// dailyWrites is LECTERN_DAILY_WRITES, Env.DailyWrites; it may be left out.
	dailyWrites int64
	// searchUnits is LECTERN_SEARCH_UNITS, Env.SearchUnits; it may be left out.
	searchUnits int64
	// endpoint is AWS_ENDPOINT_URL, which an emulator sets.
	endpoint string
}

// configured reads the configuration. The error names every mistake in it.
func configured(getenv func(string) string) (config, error) {
	var mistakes []error
	required := func(name string) string {
		if getenv(name) == "" {
			mistakes = append(mistakes, fmt.Errorf("%s is not set", name))
		}
		return getenv(name)
	}
	address := func(name string) string {
		text := strings.TrimSuffix(getenv(name), "/")
		if u, err := url.Parse(text); text != "" && (err != nil || u.Host == "") {
			mistakes = append(mistakes, fmt.Errorf("%s is not an address: %q", name, text))
		}
		return text
	}
	count := func(name string) int64 {
		n, err := strconv.ParseInt(cmp.Or(getenv(name), "0"), 10, 64)
		if err != nil || n < 0 {
			mistakes = append(mistakes, fmt.Errorf("%s is not a number from 0 on: %q", name, getenv(name)))
		}
		return n
	}
	c := config{
		table:     required("LECTERN_TABLE"),
		region:    required("LECTERN_REGION"),
		awsRegion: required("AWS_REGION"),
		adminURL:  address("LECTERN_ADMIN_URL"),
		endpoint:  address("AWS_ENDPOINT_URL"),

		dailyWrites: count("LECTERN_DAILY_WRITES"),
		searchUnits: count("LECTERN_SEARCH_UNITS"),
	}
	return c, errors.Join(mistakes...)
}

// env opens what the configuration names.
func (c config) env(ctx context.Context) (Env, error) {
	client, err := table.Open(ctx, table.Config{Endpoint: c.endpoint, Region: c.awsRegion})
	if err != nil {
		return Env{}, err
	}
	t, log := table.New(client, c.table), slog.New(slog.NewJSONHandler(os.Stdout, nil))
	t.Log = log
	return Env{
		Region:   c.region,
		Table:    t,
		Now:      time.Now,
		NewID:    uuid.NewString,
		Log:      log,
		AdminURL: c.adminURL,
		Memory:   new(Memory),

		DailyWrites: c.dailyWrites,
		SearchUnits: c.searchUnits,
	}, nil
}

// FromEnvironment gives the Env that the environment variables describe: for a
// Lambda that is no group.
func FromEnvironment(ctx context.Context) (Env, error) {
	c, err := configured(os.Getenv)
	if err != nil {
		return Env{}, fmt.Errorf("api: wrong configuration: %w", err)
	}
	return c.env(ctx)
}

// Serve is the main of a group's Lambda. A wrong configuration ends it at once;
// the table is opened by the first request.
func Serve(g Group) {
	c, err := configured(os.Getenv)
	if err != nil {
		slog.Error("wrong configuration", "error", err)
		os.Exit(1)
	}
	handler := sync.OnceValues(func() (http.Handler, error) {
		env, err := c.env(context.Background())
		if err != nil {
			return nil, err
		}
		return g.Handler(env), nil
	})
	lambda.Start(func(ctx context.Context, r events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		h, err := handler()
		if err != nil {
			return events.APIGatewayProxyResponse{}, err
		}
		return Proxy(h)(ctx, r)
	})
}

// Proxy turns API Gateway's events of version 1 into requests to h. A request is known by
// the gateway's id for it, as in the gateway's own log, unless its client gave it one. The
// gateway makes bytes of an answer in base64, as a compressed one is, only for clients
// that say what they accept; all others get theirs as it is.
func Proxy(h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "" {
			r.Header.Del("Accept-Encoding")
		}
		if gateway, ok := core.GetAPIGatewayContextFromContext(r.Context()); ok && !safeID(r.Header.Get(headerRequestID)) {
			r.Header.Set(headerRequestID, gateway.RequestID)
		}
		h.ServeHTTP(w, r)
	}))
	return func(ctx context.Context, r events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		r.Path = safePath(r.Path)
		return adapter.ProxyWithContext(ctx, r)
	}
}

// safePath keeps a valid encoded path and escapes one that came decoded, which
// the adapter would cut at a question mark or refuse at a percent sign.
func safePath(p string) string {
	if u, err := url.ParseRequestURI(p); err == nil && u.RawQuery == "" && !u.ForceQuery && !strings.ContainsAny(p, "?# ") {
		return p
	}
	return (&url.URL{Path: p}).EscapedPath()
}
