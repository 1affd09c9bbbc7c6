package preflight

import (
	"encoding/json"
	"fmt"
	"os"

	"lectern/localstack/local/stack"
)

// Settings holds the options of a deployment that depend on the account, with the defaults of
// the app (infra/config).
type Settings struct {
	// Region is us or eu.
	Region, AWSRegion string
	// Reserved is the number of instances reserved for each function; 0 reserves none.
	Reserved int
	// ThrottleRate and ThrottleBurst are the limits of requests at the stage.
	ThrottleRate, ThrottleBurst int
	// CloudWatchRole reports whether the deployment creates the role for logs.
	CloudWatchRole bool
	// Domain is the API's own host, and CertificateARN the host's certificate; both are empty
	// without the option.
	Domain, CertificateARN string
}

// values are the keys of an object in cdk.json. A number may be text, and an object too.
type values map[string]json.RawMessage

// ReadSettings reads the settings of a region from a file such as cdk.json. ReadSettings
// refuses a value of the wrong type; the app checks the whole configuration.
func ReadSettings(file, region string) (s Settings, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return s, fmt.Errorf("preflight: %w", err)
	}
	var app struct {
		Context values `json:"context"`
	}
	if err := json.Unmarshal(text, &app); err != nil {
		return s, fmt.Errorf("preflight: %s: %w", file, err)
	}
	s, err = settings(app.Context, region)
	if err != nil {
		return s, fmt.Errorf("preflight: %s: %w", file, err)
	}
	return s, nil
}

// settings returns the settings of a region in a context of the CDK.
func settings(context values, region string) (Settings, error) {
	s := Settings{Region: region, AWSRegion: stack.Regions[region], ThrottleRate: 500, ThrottleBurst: 1000, CloudWatchRole: true}
	if s.AWSRegion == "" {
		return s, fmt.Errorf("there is no region %q, only us and eu", region)
	}
	var of, domain values
	for _, read := range []struct {
		from *values
		key  string
		into any
	}{
		{&context, "reservedConcurrency", &s.Reserved},
		{&context, "throttleRate", &s.ThrottleRate},
		{&context, "throttleBurst", &s.ThrottleBurst},
		{&context, "cloudWatchRole", &s.CloudWatchRole},
		{&context, region, &of},
		{&of, "awsRegion", &s.AWSRegion},
		{&of, "domain", &domain},
		{&domain, "name", &s.Domain},
		{&domain, "certificateArn", &s.CertificateARN},
	} {
		if err := read.from.take(read.key, read.into); err != nil {
			return s, err
		}
	}
	return s, nil
}

// take decodes the value of a key into a variable, which keeps its default without a value.
// Text is decoded again for a variable of another type.
func (v values) take(key string, into any) error {
	raw, given := v[key]
	if !given {
		return nil
	}
	var text string
	if _, wantsText := into.(*string); !wantsText && json.Unmarshal(raw, &text) == nil {
		raw = json.RawMessage(text)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}
