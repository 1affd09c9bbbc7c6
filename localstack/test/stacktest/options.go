package stacktest

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"os"
	"time"

	"lectern/localstack/local/faulty"
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/speech"
	"lectern/shared/table"
)

// Option changes how Start starts a region.
type Option struct {
	region   string
	stage    string
	features []string
	wrap     func(table.Client) table.Client
	asAWS    bool
	load     func(ctx context.Context, url, table string) error
	log      io.Writer
	ingest   bool
	publish  bool
	settling time.Duration
	folder   string
	// transcriber is that of stack.Config.
	transcriber string
}

// InRegion chooses a region other than us.
func InRegion(name string) Option { return Option{region: name} }

// BelowStage serves the region below a stage of API Gateway, as without a domain. The deployed
// service keeps its own address.
func BelowStage(name string) Option { return Option{stage: name} }

// Features switches features of the event on. The event has no others.
func Features(names ...string) Option { return Option{features: names} }

// WithClient makes the service call its table through the client of wrap.
func WithClient(wrap func(table.Client) table.Client) Option { return Option{wrap: wrap} }

// AsAWS makes the table conflict and throttle as on AWS, behind the client of WithClient.
func AsAWS() Option { return Option{asAWS: true} }

// OnTable fills the region's table, on the engine at url, before the service starts.
func OnTable(load func(ctx context.Context, url, table string) error) Option {
	return Option{load: load}
}

// WithLog writes the service's log lines to a writer.
func WithLog(to io.Writer) Option { return Option{log: to} }

// Ingesting stores the log of requests. A deployed service always does.
func Ingesting() Option { return Option{ingest: true} }

// Publishing starts the local bus and the workers that follow a change. A deployed service always
// has both.
func Publishing() Option { return Option{publish: true} }

// Transcribing starts the stand-in of a transcriber too, with what Publishing starts.
func Transcribing() Option { return Option{publish: true, transcriber: speech.StandIn} }

// Settling sets the time between the rounds of an erasure, and before a worker finishes a commit, in whole seconds,
// of a service in this process.
func Settling(by time.Duration) Option { return Option{settling: by} }

// InFolder keeps the data of a service in this process in a folder, with the journal of its queues.
func InFolder(dir string) Option { return Option{folder: dir} }

// EnvAsAWS makes every test start its regions with AsAWS.
const EnvAsAWS = "LECTERN_AS_AWS"

// all merges options, and the environment, into a single option.
func all(options []Option) Option {
	merged := Option{region: defaultRegion, asAWS: os.Getenv(EnvAsAWS) != "" && os.Getenv(EnvFunctions) == ""}
	for _, o := range options {
		if o.region != "" {
			merged.region = o.region
		}
		if o.stage != "" {
			merged.stage = o.stage
		}
		if o.wrap != nil {
			merged.wrap = o.wrap
		}
		if o.folder != "" {
			merged.folder = o.folder
		}
		if o.load != nil {
			merged.load = o.load
		}
		if o.log != nil {
			merged.log = o.log
		}
		merged.features = append(merged.features, o.features...)
		merged.asAWS = merged.asAWS || o.asAWS
		merged.ingest = merged.ingest || o.ingest
		merged.publish = merged.publish || o.publish
		merged.transcriber = cmp.Or(o.transcriber, merged.transcriber)
		merged.settling = max(merged.settling, o.settling)
	}
	return merged
}

// config returns how the region starts on this machine.
func (o Option) config() stack.Config {
	c := stack.Config{
		Region: o.region, Table: "lectern-" + rand.Text(), Stage: o.stage, Wrap: o.wrap, Apart: true, Ingest: o.ingest, Publish: o.publish,
		Settling: o.settling, Dir: o.folder, Transcriber: o.transcriber,
	}
	if o.asAWS {
		c.Wrap = o.client
	}
	if o.log != nil {
		c.Log, c.Output = api.NewLog(o.log), o.log
	}
	return c
}

// client returns the client of wrap, if any, in front of a table that acts as AWS.
func (o Option) client(inner table.Client) table.Client {
	inner = faulty.AsAWS(inner)
	if o.wrap != nil {
		inner = o.wrap(inner)
	}
	return inner
}
