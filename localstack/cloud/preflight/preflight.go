// Package preflight checks an AWS account before the first deployment of a region, so that
// missing resources and low limits are found before CloudFormation or clients fail. The
// package writes nothing. Read preflight.go first, then checks.go; settings.go reads cdk.json.
package preflight

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
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

// check holds the input of the checks.
type check struct {
	settings Settings
	config   aws.Config
	now      time.Time
}

// Run does all checks of a region with the credentials and the AWS region of config.
func Run(ctx context.Context, config aws.Config, settings Settings) []Finding {
	c := check{settings, config, time.Now()}
	findings := []Finding{c.concurrency(ctx)}
	findings = append(findings, c.gateway(ctx)...)
	if settings.CertificateARN != "" {
		findings = append(findings, c.certificate(ctx))
	}
	return findings
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
