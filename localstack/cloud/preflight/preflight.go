// Package preflight checks an AWS account before the first deployment of a region: what the
// account lacks, or has too little of, is told before CloudFormation or the first clients
// find it. It only reads. Read preflight.go first, then checks.go; settings.go reads cdk.json.
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

// OK needs nothing. Warning needs a decision. Failed stops the deployment, or the service.
const (
	OK      State = "ok"
	Warning State = "warning"
	Failed  State = "failed"
)

// Finding is what a check found, with what to do about it.
type Finding struct {
	State State
	// Subject names what was checked.
	Subject string
	Text    string
}

// check holds what the checks need.
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
	return Finding{Failed, subject, fmt.Sprintf("not checked, since %s did not answer; look at the credentials and the permission: %v", action, err)}
}
