package preflight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/acm"
	"github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"lectern/functions"
)

const (
	// unreserved is the number of concurrent executions that Lambda lets no function reserve.
	// An account with fewer answers a small crowd of clients with 500.
	unreserved = 100
	// renewal is the time before the end of a certificate by which ACM renews the certificate.
	renewal = 30 * 24 * time.Hour
)

// concurrency checks the number of instances of functions that the account may have.
func (c check) concurrency(ctx context.Context) Finding {
	const subject = "concurrent executions"
	account, err := lambda.NewFromConfig(c.config).GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return unread(subject, "lambda:GetAccountSettings", err)
	}
	have := 0
	if account.AccountLimit != nil {
		have = int(account.AccountLimit.ConcurrentExecutions)
	}
	each, count := c.settings.Reserved, len(functions.Groups)+1 // The operator has no group.
	needed := unreserved + each*count
	more := fmt.Sprintf("aws service-quotas request-service-quota-increase --region %s --service-code lambda --quota-code L-B99A9384 "+
		"--desired-value %d", c.settings.AWSRegion, max(1000, needed))
	switch {
	case have >= needed:
		return Finding{OK, subject, fmt.Sprintf("the account has %d", have)}
	case each > 0:
		return Finding{Failed, subject, fmt.Sprintf("the account has %d, and reservedConcurrency needs %d (%d for each of %d functions, "+
			"and %d unreserved): lower it, or ask AWS for more: %s", have, needed, each, count, unreserved, more)}
	default:
		return Finding{Warning, subject, fmt.Sprintf("the account has %d: one more request at once is answered with 500. Ask AWS for more: %s",
			have, more)}
	}
}

// gateway checks the account's settings of API Gateway: the role for logs, and the limits of
// requests.
func (c check) gateway(ctx context.Context) []Finding {
	account, err := apigateway.NewFromConfig(c.config).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err != nil {
		return []Finding{unread("API Gateway", "apigateway:GET on /account", err)}
	}
	role := ""
	if account.CloudwatchRoleArn != nil {
		role = *account.CloudwatchRoleArn
	}
	findings := []Finding{c.role(role)}
	if limits := account.ThrottleSettings; limits != nil {
		findings = append(findings, c.throttle(limits.RateLimit, int(limits.BurstLimit)))
	}
	return findings
}

// role checks the role by which API Gateway writes logs. An account has one role for each AWS
// region, or an empty ARN.
func (c check) role(arn string) Finding {
	const subject = "role for logs"
	own := strings.Contains(arn, "/Lectern-"+c.settings.Region+"-Service-")
	switch {
	case c.settings.CloudWatchRole && arn != "" && !own:
		return Finding{Warning, subject, "the deployment puts its own role in the place of " + arn +
			", for all APIs of the account here: set cloudWatchRole to false to keep that role"}
	case c.settings.CloudWatchRole && arn == "":
		return Finding{OK, subject, "the account has none, and the deployment creates it"}
	case arn == "":
		return Finding{Failed, subject, "the account has none, and cloudWatchRole is false, so the stage cannot be created: " +
			"remove cloudWatchRole"}
	default:
		return Finding{OK, subject, arn}
	}
}

// throttle compares the account's limits of requests with those of the stage.
func (c check) throttle(rate float64, burst int) Finding {
	const subject = "requests"
	has := fmt.Sprintf("the account may have %.0f a second and %d at once", rate, burst)
	if rate < float64(c.settings.ThrottleRate) || burst < c.settings.ThrottleBurst {
		return Finding{Warning, subject, fmt.Sprintf("%s, less than throttleRate (%d) and throttleBurst (%d), which then limit nothing: "+
			"lower them, or ask AWS for more", has, c.settings.ThrottleRate, c.settings.ThrottleBurst)}
	}
	return Finding{OK, subject, has}
}

// certificate checks that the domain's certificate is issued for the domain.
func (c check) certificate(ctx context.Context) Finding {
	const subject = "certificate"
	in := &acm.DescribeCertificateInput{CertificateArn: &c.settings.CertificateARN}
	answer, err := acm.NewFromConfig(c.config).DescribeCertificate(ctx, in)
	if err != nil {
		return unread(subject, "acm:DescribeCertificate", err)
	}
	found := answer.Certificate
	switch {
	case found == nil:
		return unread(subject, "acm:DescribeCertificate", errors.New("there is no certificate in the answer"))
	case found.Status == types.CertificateStatusPendingValidation:
		return Finding{Failed, subject, "it is not validated yet: create the DNS record that ACM shows for it, and wait for the state ISSUED"}
	case found.Status != types.CertificateStatusIssued:
		return Finding{Failed, subject, fmt.Sprintf("its state is %s, and must be ISSUED: name another one in certificateArn", found.Status)}
	case !covers(append(found.SubjectAlternativeNames, value(found.DomainName)), c.settings.Domain):
		return Finding{Failed, subject, fmt.Sprintf("it is not for %s, only for %s", c.settings.Domain,
			strings.Join(found.SubjectAlternativeNames, ", "))}
	case found.NotAfter != nil && found.NotAfter.Before(c.now.Add(renewal)):
		return Finding{Warning, subject, fmt.Sprintf("it ends on %s, and was not renewed: look at its DNS record",
			found.NotAfter.Format(time.DateOnly))}
	default:
		return Finding{OK, subject, "issued for " + c.settings.Domain}
	}
}

// covers reports whether a certificate with these names is valid for a host. A star stands for
// the first label of the host.
func covers(names []string, host string) bool {
	_, rest, _ := strings.Cut(host, ".")
	for _, name := range names {
		if strings.EqualFold(name, host) || strings.EqualFold(name, "*."+rest) {
			return true
		}
	}
	return false
}

// value returns a text, empty for nil.
func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
