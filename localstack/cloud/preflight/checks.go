package preflight

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/acm"
	certificates "github.com/aws/aws-sdk-go-v2/service/acm/types"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"lectern/functions"
	"lectern/infra/config"
)

const (
	// unreserved is the number of concurrent executions that Lambda lets no function reserve.
	// An account with fewer answers a small crowd of clients with 500.
	unreserved = 100
	// renewal is the time before the end of a certificate by which ACM renews the certificate.
	renewal = 30 * 24 * time.Hour
)

// account checks that the credentials are those of the configured account.
func (c check) account(ctx context.Context) Finding {
	const subject = "account"
	caller, err := sts.NewFromConfig(c.aws).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return unread(subject, "sts:GetCallerIdentity", err)
	}
	is := aws.ToString(caller.Account)
	if c.Account != "" && c.Account != is {
		return Finding{Failed, subject, fmt.Sprintf("the credentials are those of %s, and account is %s: use other credentials", is, c.Account)}
	}
	return Finding{OK, subject, is}
}

// concurrency checks the number of instances of functions that the account may have.
func (c check) concurrency(ctx context.Context) Finding {
	const subject = "concurrent executions"
	account, err := lambda.NewFromConfig(c.aws).GetAccountSettings(ctx, &lambda.GetAccountSettingsInput{})
	if err != nil {
		return unread(subject, "lambda:GetAccountSettings", err)
	}
	have, free := 0, 0
	if limit := account.AccountLimit; limit != nil {
		have, free = int(limit.ConcurrentExecutions), int(aws.ToInt32(limit.UnreservedConcurrentExecutions))
	}
	if c.Concurrency > 0 {
		return c.reserved(ctx, free)
	}
	if free < unreserved {
		return Finding{Warning, subject, fmt.Sprintf("the account has %d, %d of them unreserved: one more request at once is answered "+
			"with 500, and workers that wait for slow receivers of webhooks may take all of them. "+
			"Ask AWS for more: %s", have, free, c.increase(1000))}
	}
	return Finding{OK, subject, fmt.Sprintf("the account has %d, %d of them unreserved", have, free)}
}

// reserved checks that the account can reserve reservedConcurrency for each function. free is
// the number that no function reserves, and what the deployed functions of the region reserve
// becomes free too.
func (c check) reserved(ctx context.Context, free int) Finding {
	const subject = "concurrent executions"
	for _, function := range functions.Names() {
		name := c.At.Prefix() + "-" + function
		own, err := lambda.NewFromConfig(c.aws).GetFunctionConcurrency(ctx, &lambda.GetFunctionConcurrencyInput{FunctionName: &name})
		if missing := (*types.ResourceNotFoundException)(nil); errors.As(err, &missing) {
			continue
		}
		if err != nil {
			return unread(subject, "lambda:GetFunctionConcurrency", err)
		}
		free += int(aws.ToInt32(own.ReservedConcurrentExecutions))
	}
	names := functions.With(c.Options())
	needed := unreserved + c.Concurrency*len(names)
	if free >= needed {
		return Finding{OK, subject, fmt.Sprintf("reservedConcurrency needs %d, and the account has %d for it", needed, free)}
	}
	return Finding{Failed, subject, fmt.Sprintf("reservedConcurrency needs %d (%d for each of %d functions, and %d unreserved), and the "+
		"account has %d for it: lower it, or ask AWS for more: %s", needed, c.Concurrency, len(names), unreserved, free, c.increase(needed))}
}

// increase returns the command that asks AWS for more concurrent executions.
func (c check) increase(to int) string {
	return fmt.Sprintf("aws service-quotas request-service-quota-increase --region %s --service-code lambda --quota-code L-B99A9384 "+
		"--desired-value %d", c.At.AWSRegion, max(1000, to))
}

// gateway checks the account's settings of API Gateway: the role for logs, and the limits of
// requests.
func (c check) gateway(ctx context.Context) []Finding {
	account, err := apigateway.NewFromConfig(c.aws).GetAccount(ctx, &apigateway.GetAccountInput{})
	if err != nil {
		return []Finding{unread("API Gateway", "apigateway:GET on /account", err)}
	}
	findings := []Finding{c.role(aws.ToString(account.CloudwatchRoleArn))}
	if limits := account.ThrottleSettings; limits != nil {
		findings = append(findings, c.throttle(limits.RateLimit, int(limits.BurstLimit)))
	}
	return findings
}

// role checks the role by which API Gateway writes logs. An account has one role for each AWS
// region, or an empty ARN.
func (c check) role(arn string) Finding {
	const subject = "role for logs"
	own := strings.Contains(arn, "/Lectern-"+c.At.Name+"-Service-")
	switch {
	case c.CloudWatchRole && arn != "" && !own:
		return Finding{Warning, subject, "the deployment puts its own role in the place of " + arn +
			", for all APIs of the account here: set cloudWatchRole to false to keep that role"}
	case c.CloudWatchRole && arn == "":
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
	if rate < float64(c.ThrottleRate) || burst < c.ThrottleBurst {
		return Finding{Warning, subject, fmt.Sprintf("%s, less than throttleRate (%d) and throttleBurst (%d), which then limit nothing: "+
			"lower them, or ask AWS for more", has, c.ThrottleRate, c.ThrottleBurst)}
	}
	return Finding{OK, subject, has}
}

// certificate checks that the domain's certificate is issued for the domain.
func (c check) certificate(ctx context.Context) Finding {
	return c.issued(ctx, c.aws, "certificate", c.At.Domain.CertificateARN)
}

// edgeCertificate does the same check of the certificate of the edges.
func (c check) edgeCertificate(ctx context.Context) Finding {
	with := c.aws.Copy()
	with.Region = config.EdgeRegion
	return c.issued(ctx, with, "certificate of the edges", c.At.Domain.EdgeCertificateARN)
}

// issued checks that a certificate is issued for the domain.
func (c check) issued(ctx context.Context, with aws.Config, subject, arn string) Finding {
	answer, err := acm.NewFromConfig(with).DescribeCertificate(ctx, &acm.DescribeCertificateInput{CertificateArn: &arn})
	if err != nil {
		return unread(subject, "acm:DescribeCertificate", err)
	}
	found := answer.Certificate
	switch {
	case found == nil:
		return unread(subject, "acm:DescribeCertificate", errors.New("there is no certificate in the answer"))
	case found.Status == certificates.CertificateStatusPendingValidation:
		return Finding{Failed, subject, "it is not validated yet: create the DNS record that ACM shows for it, and wait for the state ISSUED"}
	case found.Status != certificates.CertificateStatusIssued:
		return Finding{Failed, subject, fmt.Sprintf("its state is %s, and must be ISSUED: name another one in the configuration", found.Status)}
	case !covers(append(found.SubjectAlternativeNames, aws.ToString(found.DomainName)), c.At.Domain.Name):
		return Finding{Failed, subject, fmt.Sprintf("it is not for %s, only for %s", c.At.Domain.Name,
			strings.Join(found.SubjectAlternativeNames, ", "))}
	case found.NotAfter != nil && found.NotAfter.Before(c.now.Add(renewal)):
		return Finding{Warning, subject, fmt.Sprintf("it ends on %s, and was not renewed: look at its DNS record",
			found.NotAfter.Format(time.DateOnly))}
	default:
		return Finding{OK, subject, "issued for " + c.At.Domain.Name}
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
