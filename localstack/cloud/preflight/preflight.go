// Package preflight checks an AWS account before the first deployment of a region, so that
// missing resources and low limits are found before CloudFormation or clients fail. The
// package writes nothing. Read preflight.go first, then checks.go.
package preflight

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lectern/infra/config"
)

// State is the result of a check.
type State string

// The states of a finding: OK needs nothing, Warning needs a decision, Failed stops the
// deployment or the service.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failed  State = "failed"
)

// Finding holds the result of a check.
type Finding struct {
	State State
	// Subject names the checked setting of the account.
	Subject string
	// Text has the value of the setting, and the cure for a warning or a failure.
	Text string
}

// Deployment is the configuration of a region to check.
type Deployment struct {
	*config.Config
	At config.Region
}

// Read reads the configuration of a region from a file such as cdk.json, as the app reads it.
// The error names every mistake, or a region that the file does not deploy.
func Read(file, region string) (d Deployment, err error) {
	text, err := os.ReadFile(file) //nolint:gosec // the caller names it
	if err != nil {
		return d, fmt.Errorf("preflight: %w", err)
	}
	var app struct {
		Context map[string]any `json:"context"`
	}
	if err := json.Unmarshal(text, &app); err != nil {
		return d, fmt.Errorf("preflight: %s: %w", file, err)
	}
	if d.Config, err = config.Read(app.Context); err != nil {
		return d, fmt.Errorf("preflight: %s: %w", file, err)
	}
	for _, at := range d.Regions {
		if at.Name == region {
			d.At = at
			return d, nil
		}
	}
	return d, fmt.Errorf("preflight: %s deploys no region %q", file, region)
}

// check holds the input of the checks.
type check struct {
	Deployment
	aws aws.Config
	now time.Time
}

// newCheck returns the input of the checks, at the time now.
func newCheck(with aws.Config, d Deployment) check { return check{d, with, time.Now()} }

// Run does all checks of a deployment with the credentials and the AWS region of an AWS
// configuration.
func Run(ctx context.Context, with aws.Config, d Deployment) []Finding {
	c := newCheck(with, d)
	findings := []Finding{c.account(ctx), c.concurrency(ctx)}
	findings = append(findings, c.gateway(ctx)...)
	if c.At.Domain != nil {
		findings = append(findings, c.certificate(ctx))
		if c.UploadService {
			findings = append(findings, c.edgeCertificate(ctx))
		}
	}
	return findings
}

// Certificate does the check of the certificate of a deployment with a domain.
func Certificate(ctx context.Context, with aws.Config, d Deployment) Finding {
	return newCheck(with, d).certificate(ctx)
}

// Print writes a line for each finding, and returns the number of failed checks.
func Print(w io.Writer, findings []Finding) (failed int, err error) {
	for _, f := range findings {
		if f.State == Failed {
			failed++
		}
		if _, err := fmt.Fprintf(w, "%-8s %s: %s\n", f.State, f.Subject, f.Text); err != nil {
			return failed, fmt.Errorf("print the findings: %w", err)
		}
	}
	return failed, nil
}

// unread returns the finding of a check that could not read the account.
func unread(subject, action string, err error) Finding {
	return Finding{Failed, subject, fmt.Sprintf("not checked, since %s did not answer; look at the credentials and the permission: %v",
		action, err)}
}
