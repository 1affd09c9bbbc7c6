package main

import (
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
)

// config is all that can be configured, in cdk.json below context or on the command
// line with -c. Every key may be left out.
type config struct {
	// regions are those to describe, by "regions", text such as us,eu (both). What
	// is a region's own stands below its name, "us" or "eu".
	regions []region
	// account is the AWS account, by "account"; empty is the one that the
	// credentials belong to. With it a deployment to another account is refused.
	account string
	// arch is what the functions run on, by "arch": arm64, or x86_64 for an emulator
	// on such a machine.
	arch string
	// functions is the folder of the functions' binaries, <group>/bootstrap, by
	// "functions"; empty is dist/linux-<architecture>, where make release builds them.
	functions string
	// endpoint is the address of an emulator of AWS, by "endpoint"; empty is AWS.
	endpoint string
	// stage is the stage's name in the API's address, by "stage" (live).
	stage string
	// adminURL is the address of the admin application, by "adminUrl"; empty leaves
	// links into it out.
	adminURL string
	// dailyWrites is how many creating requests a token has a day, by "dailyWrites";
	// 0 is any number.
	dailyWrites int
	// searchUnits is how many read units a minute an organization's searches may take in
	// one instance of a function, by "searchUnits" (60000); 0 is any number. The first
	// search of the largest organization takes about 25,000.
	searchUnits int
	// retention is how long logs are kept, by "logRetentionDays" (90).
	retention awslogs.RetentionDays
	// throttleRate and throttleBurst are how many requests a second each method of a
	// path takes and how many at once, by "throttleRate" (500) and "throttleBurst"
	// (1000): with a thousand instances, five hundred a second leave them two seconds
	// each. They hold for each method by itself. What all of them together take is
	// limited by the account, in the gateway and in the instances of functions.
	throttleRate, throttleBurst int
	// concurrency is how many instances each function may have and is sure of, by
	// "reservedConcurrency"; 0 lets them share what the account has. It is reserved
	// for every function, one for each group and the operator's, and Lambda refuses
	// it where fewer than 100 of the account's instances in the region would be left
	// unreserved: an account of 1000 has 900 to divide by the number of functions.
	concurrency int
	// alarmEmail is who is told of alarms, by "alarmEmail"; empty is nobody.
	alarmEmail string
	// firewallRate is how many requests in five minutes one address may send before
	// the firewall refuses it, by "firewallRate"; 0 is no firewall.
	firewallRate int
	// customerKey encrypts the table with a key of the account, by "customerKey"
	// (false: with DynamoDB's own).
	customerKey bool
	// cloudWatchRole lets the region's API Gateway write logs, by "cloudWatchRole"
	// (true). It is one setting of the account in a region: false leaves it to whoever
	// made it already.
	cloudWatchRole bool
	// tags are put on every resource, by "tags", an object of text.
	tags map[string]string
}

// region is a region's own configuration, an object below "us" or "eu".
type region struct {
	// name is the region in tokens and in the names of what is made: us or eu.
	name string
	// awsRegion is where it is, by "awsRegion" (us-east-1, eu-central-1).
	awsRegion string
	// restoredTable is a table to serve in place of the stack's own, by
	// "restoredTable": one that was restored from a backup. Empty is the own.
	restoredTable string
	// alarmTopicARN is an SNS topic that is told of alarms, by "alarmTopicArn". Its own
	// policy has to let cloudwatch.amazonaws.com publish.
	alarmTopicARN string
	// domain is the API's own domain, an object by "domain"; nil for none.
	domain *domain
}

// domain is an address of the API's own.
type domain struct {
	// name is the host, by "name".
	name string
	// certificateARN is its certificate in the same region, by "certificateArn".
	certificateARN string
	// zoneID and zoneName are the Route 53 zone that gets its record, by
	// "hostedZoneId" and "hostedZoneName"; without them whoever keeps the zone
	// enters it.
	zoneID, zoneName string
}

// awsRegions are the regions that there are: organizations and events take their
// ids from ranges that are fixed for these two (package tenancy).
var awsRegions = map[string]string{"us": "us-east-1", "eu": "eu-central-1"}

// retentions are the days for which logs may be kept.
var retentions = map[int]awslogs.RetentionDays{
	1: awslogs.RetentionDays_ONE_DAY, 7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS,
	30: awslogs.RetentionDays_ONE_MONTH, 60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS,
	180: awslogs.RetentionDays_SIX_MONTHS, 365: awslogs.RetentionDays_ONE_YEAR, 731: awslogs.RetentionDays_TWO_YEARS,
}

// configured reads the configuration. The error names every mistake in it.
func configured(context map[string]any) (*config, error) {
	r := newReader(context)
	c := &config{
		account:  r.text("account", "", "an account's number of 12 digits", matches(`[0-9]{12}`)),
		arch:     r.text("arch", "arm64", "arm64 or x86_64", matches(`arm64|x86_64`)),
		endpoint: r.address("endpoint"),
		stage:    r.text("stage", "live", "a stage's name", matches(`[A-Za-z0-9_]{1,128}`)),
		adminURL: r.address("adminUrl"),

		dailyWrites:   r.number("dailyWrites", 0, 0, 1e9),
		searchUnits:   r.number("searchUnits", 60_000, 0, 1e9),
		retention:     r.retention("logRetentionDays", 90),
		throttleRate:  r.number("throttleRate", 500, 1, 1_000_000),
		throttleBurst: r.number("throttleBurst", 1000, 1, 1_000_000),
		concurrency:   r.number("reservedConcurrency", 0, 0, 10_000),
		alarmEmail:    r.text("alarmEmail", "", "an e-mail address", isEmail),
		firewallRate:  r.firewallRate("firewallRate"),

		customerKey:    r.boolean("customerKey", false),
		cloudWatchRole: r.boolean("cloudWatchRole", true),
		functions:      r.text("functions", "", "a folder", func(string) bool { return true }),
	}
	c.regions = r.regions("regions")
	c.tags = r.tags("tags")
	r.unknown()
	if len(*r.mistakes) > 0 {
		return nil, errors.New("infra: wrong configuration:\n  " + strings.Join(*r.mistakes, "\n  "))
	}
	return c, nil
}

// matches is whether a text as a whole has the form of a pattern.
func matches(pattern string) func(string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString
}

func isEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text
}

func (r *reader) retention(key string, fallback int) awslogs.RetentionDays {
	days := r.number(key, fallback, 1, 3653)
	if _, ok := retentions[days]; !ok {
		r.mistake(key, "is none of %v: %d", slices.Sorted(maps.Keys(retentions)), days)
	}
	return retentions[days]
}

// firewallRate is 0 or what AWS takes as the limit of a rate rule.
func (r *reader) firewallRate(key string) int {
	const least = 10
	n := r.number(key, 0, 0, 2_000_000_000)
	if n != 0 && n < least {
		r.mistake(key, "is neither 0 nor at least %d: %d", least, n)
	}
	return n
}

// regions reads the regions that are asked for, and the settings of all.
func (r *reader) regions(key string) (chosen []region) {
	names := slices.Sorted(maps.Keys(awsRegions))
	asked := strings.Split(r.text(key, strings.Join(names, ","), "text such as us,eu", func(string) bool { return true }), ",")
	for _, name := range asked {
		if !slices.Contains(names, name) {
			r.mistake(key, "has no region %q, only %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range names {
		one := r.region(name)
		if slices.Contains(asked, name) {
			chosen = append(chosen, one)
		}
	}
	return chosen
}

func (r *reader) region(name string) region {
	of, _ := r.object(name)
	at := region{
		name:          name,
		awsRegion:     of.text("awsRegion", awsRegions[name], "an AWS region", matches(`[a-z]{2}(-[a-z]+)+-[0-9]`)),
		restoredTable: of.text("restoredTable", "", "a table's name", matches(`[A-Za-z0-9_.-]{3,255}`)),
	}
	at.alarmTopicARN = of.arn("alarmTopicArn", "sns", at.awsRegion)
	if d, there := of.object("domain"); there {
		at.domain = d.domain(at.awsRegion)
	}
	of.unknown()
	return at
}

func (r *reader) domain(awsRegion string) *domain {
	host := matches(`([a-z0-9-]+\.)+[a-z]{2,}`)
	r.required("name", "the host's name")
	r.required("certificateArn", "the ARN of the host's certificate")
	if (r.values["hostedZoneId"] == nil) != (r.values["hostedZoneName"] == nil) {
		r.mistake("hostedZoneId", "and hostedZoneName are given together or not at all")
	}
	d := &domain{
		name:           r.text("name", "", "a host's name", host),
		certificateARN: r.arn("certificateArn", "acm", awsRegion),
		zoneID:         r.text("hostedZoneId", "", "a hosted zone's id", matches(`Z[A-Z0-9]+`)),
		zoneName:       r.text("hostedZoneName", "", "a zone's name", host),
	}
	if d.name != "" && d.zoneName != "" && !strings.HasSuffix("."+d.name, "."+d.zoneName) {
		r.mistake("hostedZoneName", "is not the zone of %s: %s", shown(d.name), shown(d.zoneName))
	}
	r.unknown()
	return d
}

// arn is the ARN of something in the region, since none of another region can be
// used there.
func (r *reader) arn(key, service, awsRegion string) string {
	return r.text(key, "", fmt.Sprintf("an ARN of %s in %s", service, awsRegion),
		matches(`arn:aws[a-z-]*:`+service+`:`+regexp.QuoteMeta(awsRegion)+`:[0-9]{12}:.+`))
}

func (r *reader) tags(key string) map[string]string {
	of, _ := r.object(key)
	all := map[string]string{}
	for name := range of.values {
		all[name] = of.text(name, "", "text", func(string) bool { return true })
	}
	return all
}
