package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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

	"lectern/shared/blob"
	"lectern/shared/scan"
	"lectern/shared/secret"
	"lectern/shared/speech"
	"lectern/shared/table"
)

// config is the configuration of a Lambda, from its environment variables.
type config struct {
	// table is LECTERN_TABLE, the name of the table.
	table string
	// region is LECTERN_REGION, the name of the region in tokens: us or eu.
	region string
	// awsRegion is AWS_REGION, set by Lambda.
	awsRegion string
	// adminURL is LECTERN_ADMIN_URL, the address of the admin application; optional.
	adminURL string
	// dailyWrites is LECTERN_DAILY_WRITES, Env.DailyWrites; optional.
	dailyWrites int64
	// searchUnits is LECTERN_SEARCH_UNITS, Env.SearchUnits; optional.
	searchUnits int64
	// keys is LECTERN_KEYS, the secret with the master key; optional.
	keys string
	// bucket is LECTERN_BUCKET, the bucket of Env.Blobs; optional.
	bucket string
	// scanner is LECTERN_SCANNER, Env.Scanner; optional.
	scanner scan.Scanner
	// transcriber is LECTERN_TRANSCRIBER, Env.Transcriber; optional.
	transcriber string
	// holdingSlides is LECTERN_HOLDING_SLIDES, Env.HoldingSlides; optional.
	holdingSlides bool
	// queryModel is LECTERN_QUERY_MODEL, Env.QueryModel; optional.
	queryModel string
	// queryModelRegion is LECTERN_QUERY_MODEL_REGION, Env.QueryModelRegion; AWS_REGION without the variable.
	queryModelRegion string
	// openRegistration is LECTERN_OPEN_REGISTRATION, Env.OpenRegistration; optional.
	openRegistration bool
	// localReceivers is LECTERN_LOCAL_RECEIVERS, Env.LocalReceivers; optional.
	localReceivers bool
	// endpoint is the address of DynamoDB, set on one machine and by an emulator:
	// AWS_ENDPOINT_URL_DYNAMODB, or else AWS_ENDPOINT_URL, as in the SDK.
	endpoint string
}

// configured reads the configuration. The error names every mistake.
func configured(getenv func(string) string) (config, error) {
	vars := variables{get: getenv}
	c := config{
		table:     vars.required("LECTERN_TABLE"),
		region:    vars.required("LECTERN_REGION"),
		awsRegion: vars.required("AWS_REGION"),
		adminURL:  vars.address("LECTERN_ADMIN_URL"),
		endpoint:  cmp.Or(vars.address("AWS_ENDPOINT_URL_DYNAMODB"), vars.address("AWS_ENDPOINT_URL")),

		dailyWrites: vars.count("LECTERN_DAILY_WRITES"),
		searchUnits: vars.count("LECTERN_SEARCH_UNITS"),

		keys:             getenv("LECTERN_KEYS"),
		bucket:           getenv("LECTERN_BUCKET"),
		scanner:          vars.scanner("LECTERN_SCANNER"),
		transcriber:      getenv(VariableTranscriber),
		holdingSlides:    getenv(VariableHoldingSlides) == "1",
		localReceivers:   getenv("LECTERN_LOCAL_RECEIVERS") == "1",
		openRegistration: getenv(VariableRegistration) == "1",
		queryModel:       getenv("LECTERN_QUERY_MODEL"),
		queryModelRegion: cmp.Or(getenv("LECTERN_QUERY_MODEL_REGION"), getenv("AWS_REGION")),
	}
	// On AWS, DynamoDB has no address of its own, and a function reaches no receiver on its own host.
	c.localReceivers = c.localReceivers && c.endpoint != ""
	vars.mistakes = append(vars.mistakes, speech.Check(c.transcriber))
	if c.transcriber == speech.StandIn && c.endpoint == "" {
		vars.mistakes = append(vars.mistakes, fmt.Errorf("%s must not be %s on AWS", VariableTranscriber, speech.StandIn))
	}
	return c, errors.Join(vars.mistakes...)
}

// The environment variables of options: the transcriber, 1 for a region that draws holding slides, and 1 for one in which applications
// register themselves.
const (
	VariableTranscriber   = "LECTERN_TRANSCRIBER"
	VariableHoldingSlides = "LECTERN_HOLDING_SLIDES"
	VariableRegistration  = "LECTERN_OPEN_REGISTRATION"
)

// variables reads environment variables and collects the mistakes.
type variables struct {
	get      func(string) string
	mistakes []error
}

// required reads a variable that must be set.
func (v *variables) required(name string) string {
	if v.get(name) == "" {
		v.mistakes = append(v.mistakes, fmt.Errorf("%s is not set", name))
	}
	return v.get(name)
}

// address reads an optional URL, without a slash at the end.
func (v *variables) address(name string) string {
	text := strings.TrimSuffix(v.get(name), "/")
	if u, err := url.Parse(text); text != "" && (err != nil || u.Host == "") {
		v.mistakes = append(v.mistakes, fmt.Errorf("%s is not an address: %q", name, text))
	}
	return text
}

// count reads an optional number; the default is 0.
func (v *variables) count(name string) int64 {
	n, err := strconv.ParseInt(cmp.Or(v.get(name), "0"), 10, 64)
	if err != nil || n < 0 {
		v.mistakes = append(v.mistakes, fmt.Errorf("%s must be a number of at least 0: %q", name, v.get(name)))
	}
	return n
}

// scanner reads the optional setting of a scanner.
func (v *variables) scanner(name string) scan.Scanner {
	s, err := scan.Parse(v.get(name))
	if err != nil {
		v.mistakes = append(v.mistakes, fmt.Errorf("%s %w", name, err))
	}
	return s
}

// env returns the Env of the configuration, with the table open.
func (c config) env(ctx context.Context) (Env, error) {
	client, err := table.Open(ctx, table.Config{Endpoint: c.endpoint, Region: c.awsRegion})
	if err != nil {
		return Env{}, err
	}
	t, log := table.New(client, c.table), NewLog(os.Stdout)
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

		Keys:             &secret.Keys{Load: (&secret.Manager{Secret: c.keys}).Load},
		Blobs:            &blob.Store{Find: blob.Named(c.bucket)},
		Scanner:          c.scanner,
		Transcriber:      c.transcriber,
		HoldingSlides:    c.holdingSlides,
		LocalReceivers:   c.localReceivers,
		OpenRegistration: c.openRegistration,
		QueryModel:       c.queryModel,
		QueryModelRegion: c.queryModelRegion,
	}, nil
}

// NewLog returns a log that writes lines as JSON. The time of a line is its "timestamp": Lambda's
// log format JSON takes time and level from the fields "timestamp" and "level". A line without
// them gets a time and the level INFO from Lambda.
func NewLog(to io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(to, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey && len(groups) == 0 {
			a.Key = "timestamp"
		}
		return a
	}}))
}

// FromEnvironment returns the Env of the environment variables. It is for Lambdas that are not
// groups.
func FromEnvironment(ctx context.Context) (Env, error) {
	c, err := configured(os.Getenv)
	if err != nil {
		return Env{}, fmt.Errorf("api: wrong configuration: %w", err)
	}
	return c.env(ctx)
}

// Serve runs the Lambda of a group. With a wrong configuration the program ends at once. The
// first request opens the table.
func Serve(g Group) {
	c, err := configured(os.Getenv)
	if err != nil {
		NewLog(os.Stdout).Error("wrong configuration", "error", err)
		os.Exit(1)
	}
	handler := sync.OnceValues(groupConfig{g, c}.handler)
	lambda.Start(func(ctx context.Context, r invocation) (any, error) {
		if r.Type == askedForToken {
			return allowed(r.MethodArn), nil
		}
		h, err := handler()
		if err != nil {
			return nil, err
		}
		return Proxy(h)(ctx, r.APIGatewayProxyRequest)
	})
}

// invocation is an event of the gateway: a request, or the question of an authorizer whether a token may send a request.
type invocation struct {
	events.APIGatewayProxyRequest
	Type      string `json:"type"`
	MethodArn string `json:"methodArn"`
}

// askedForToken is the type of the question of an authorizer.
const askedForToken = "REQUEST"

// allowed is the answer to the question of an authorizer: yes, since the pipeline looks at the token of each request. The gateway asks only
// so that it refuses requests without a token itself.
func allowed(method string) events.APIGatewayCustomAuthorizerResponse {
	return events.APIGatewayCustomAuthorizerResponse{
		PrincipalID: "application",
		PolicyDocument: events.APIGatewayCustomAuthorizerPolicy{Version: "2012-10-17", Statement: []events.IAMPolicyStatement{
			{Action: []string{"execute-api:Invoke"}, Effect: "Allow", Resource: []string{method}},
		}},
	}
}

// groupConfig is a group with the configuration of its Lambda.
type groupConfig struct {
	group  Group
	config config
}

// handler opens the table and starts the group.
func (g groupConfig) handler() (http.Handler, error) {
	env, err := g.config.env(context.Background())
	if err != nil {
		return nil, err
	}
	return g.group.Handler(env), nil
}

// fromGateway passes the requests of API Gateway to a handler.
type fromGateway struct{ handler http.Handler }

// ServeHTTP gives the request the id of the gateway, unless the client sent an id. It also
// turns off compression for a client without an Accept header: for such a client the gateway
// would not decode the base64 of a compressed answer.
func (g fromGateway) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Accept") == "" {
		r.Header.Del("Accept-Encoding")
	}
	if gateway, ok := core.GetAPIGatewayContextFromContext(r.Context()); ok && !safeID(r.Header.Get(headerRequestID)) {
		r.Header.Set(headerRequestID, gateway.RequestID)
	}
	g.handler.ServeHTTP(w, r)
}

// Proxy returns a Lambda handler that passes API Gateway's events of version 1 to h.
func Proxy(h http.Handler) func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
	adapter := httpadapter.New(fromGateway{h})
	return func(ctx context.Context, r events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error) {
		ctx, r.Path = addressed(ctx, r), safePath(r.Path)
		r.RequestContext.Identity.SourceIP = client(r)
		return adapter.ProxyWithContext(ctx, r)
	}
}

// restTime is the time in which the rest of a body must come that h has not read.
const restTime = time.Second

// Stream passes an event without a body to h, and lets h read the body from the request. So a server without
// the limits of a gateway takes a form of any length, and h reads the form as it comes. After an error
// nothing was answered.
func Stream(w http.ResponseWriter, from *http.Request, h http.Handler, event events.APIGatewayProxyRequest) error {
	ctx := addressed(from.Context(), event)
	event.Path = safePath(event.Path)
	r, err := new(core.RequestAccessor).EventToRequestWithContext(ctx, event)
	if err != nil {
		return fmt.Errorf("api: read the event: %w", err)
	}
	r.Body, r.ContentLength = from.Body, from.ContentLength
	fromGateway{h}.ServeHTTP(w, r)
	// The server reads some of the rest before it sends the answer.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(restTime))
	return nil
}

// safePath returns a valid encoded path unchanged, and encodes any other path. The adapter
// would cut a decoded path at a question mark, and refuse a percent sign.
func safePath(p string) string {
	if u, err := url.ParseRequestURI(p); err == nil && u.RawQuery == "" && !u.ForceQuery && !strings.ContainsAny(p, "?# ") {
		return p
	}
	return (&url.URL{Path: p}).EscapedPath()
}
