package config

import (
	"errors"
	"fmt"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"lectern/shared/scan"
	"lectern/shared/speech"
)

// awsRegions maps each region to the default region of AWS. Organizations and events take
// ids from ranges that are fixed for these regions (package tenancy).
var awsRegions = map[string]string{"us": "us-east-1", "eu": "eu-central-1"}

// retentions are the numbers of days that a log can be kept.
var retentions = []int{1, 7, 14, 30, 60, 90, 180, 365, 731}

// Read reads the configuration from a context. The error names every mistake.
func Read(context map[string]any) (*Config, error) {
	r := newReader(context)
	c := &Config{
		Account:  r.text("account", "", "an account's number of 12 digits", matches(`[0-9]{12}`)),
		Arch:     r.text("arch", "arm64", "arm64 or x86_64", matches(`arm64|x86_64`)),
		Endpoint: r.address("endpoint"),
		Stage:    r.text("stage", "live", "a stage's name", matches(`[A-Za-z0-9_]{1,128}`)),
		AdminURL: r.address("adminUrl"),

		DailyWrites:   r.number("dailyWrites", 0, 0, 1e9),
		SearchUnits:   r.number("searchUnits", 60_000, 0, 1e9),
		RetentionDays: r.retention("logRetentionDays", 90),
		ThrottleRate:  r.number("throttleRate", 500, 1, 1_000_000),
		ThrottleBurst: r.number("throttleBurst", 1000, 1, 1_000_000),
		Concurrency:   r.atLeast("reservedConcurrency", 2, 10_000),
		AlarmEmail:    r.text("alarmEmail", "", "an e-mail address", isEmail),
		FirewallRate:  r.atLeast("firewallRate", 10, 2_000_000_000),

		EachAlarm:     r.text("alarms", "few", "few or each", matches(`few|each`)) == "each",
		Dashboard:     r.boolean("dashboard", false),
		MonthlyBudget: r.number("monthlyBudget", 0, 0, 1e9),

		Transcriber:   r.text("transcriber", "", "amazon", matches(speech.Amazon)),
		Scanner:       r.text("scanner", "", scan.Amazon, matches(scan.Amazon)),
		HoldingSlides: r.boolean("holdingSlides", false),

		OpenRegistration: r.boolean("openRegistration", false),

		UploadService:  r.boolean("uploadService", false),
		CustomerKey:    r.boolean("customerKey", false),
		CloudWatchRole: r.boolean("cloudWatchRole", true),
		Functions:      r.text("functions", "", "a folder", anyText),
	}
	c.Regions = r.regions("regions")
	c.Tags = r.tags("tags")
	if c.MonthlyBudget > 0 && c.AlarmEmail == "" {
		r.mistake("monthlyBudget", "needs alarmEmail, the address to write to")
	}
	r.checkUploads(c)
	r.unknown()
	if len(*r.mistakes) > 0 {
		return nil, errors.New("infra: wrong configuration:\n  " + strings.Join(*r.mistakes, "\n  "))
	}
	return c, nil
}

// anyText accepts every text.
func anyText(string) bool { return true }

// matches returns a check that a whole text has the form of a pattern.
func matches(pattern string) func(string) bool {
	return regexp.MustCompile(`^(?:` + pattern + `)$`).MatchString
}

// isEmail reports whether text is an e-mail address and nothing else.
func isEmail(text string) bool {
	address, err := mail.ParseAddress(text)
	return err == nil && address.Address == text
}

// retention reads one of retentions.
func (r *reader) retention(key string, fallback int) int {
	days := r.number(key, fallback, 1, 3653)
	if !slices.Contains(retentions, days) {
		r.mistake(key, "is none of %v: %d", retentions, days)
	}
	return days
}

// atLeast reads 0, the default, or a number from least to most. AWS takes no limit below 10 in a rate rule, and
// no limit below 2 for the instances that a queue invokes.
func (r *reader) atLeast(key string, least, most int) int {
	n := r.number(key, 0, 0, most)
	if n != 0 && n < least {
		r.mistake(key, "is neither 0 nor at least %d: %d", least, n)
	}
	return n
}

// regions reads the names of the regions to deploy, and the options of all regions. It refuses
// two regions in one AWS region, also if only one is deployed now: an AWS region has one role
// for the logs of API Gateway, which both stacks would set.
func (r *reader) regions(key string) (chosen []Region) {
	names := slices.Sorted(maps.Keys(awsRegions))
	asked := strings.Split(r.text(key, strings.Join(names, ","), "text such as us,eu", anyText), ",")
	for _, name := range asked {
		if !slices.Contains(names, name) {
			r.mistake(key, "has no region %q, only %s", name, strings.Join(names, ", "))
		}
	}
	owners := map[string]string{}
	for _, name := range names {
		region := r.region(name)
		if owner, taken := owners[region.AWSRegion]; taken {
			r.mistake(name+".awsRegion",
				"is that of %s, and each region needs its own: %s. Set another one for %s or %s, also if that is not deployed",
				owner, region.AWSRegion, owner, name)
		}
		owners[region.AWSRegion] = name
		if slices.Contains(asked, name) {
			chosen = append(chosen, region)
		}
	}
	return chosen
}

// region reads the options of a region.
func (r *reader) region(name string) Region {
	options, _ := r.object(name)
	region := Region{
		Name:          name,
		AWSRegion:     options.awsRegion(awsRegions[name]),
		RestoredTable: options.text("restoredTable", "", "a table's name", matches(`[A-Za-z0-9_.-]{3,255}`)),
	}
	region.RestoredStreamARN = options.streamOf(region)
	if backup, given := options.object("backup"); given {
		region.Backup = backup.backup(region.AWSRegion)
	}
	if model, given := options.object("queryModel"); given {
		region.QueryModel = model.queryModel(region.AWSRegion)
	}
	region.AlarmTopicARN = options.arn("alarmTopicArn", "sns", region.AWSRegion)
	if domain, given := options.object("domain"); given {
		region.Domain = domain.domain(region.AWSRegion)
	}
	options.unknown()
	return region
}

// awsRegion reads the name of an AWS region.
func (r *reader) awsRegion(fallback string) string {
	return r.text("awsRegion", fallback, "an AWS region", matches(`[a-z]{2}(-[a-z]+)+-[0-9]`))
}

// domain reads the options of the API's own host.
func (r *reader) domain(awsRegion string) *Domain {
	host := matches(`([a-z0-9-]+\.)+[a-z]{2,}`)
	r.required("name", "the host's name")
	r.required("certificateArn", "the ARN of the host's certificate")
	if (r.values["hostedZoneId"] == nil) != (r.values["hostedZoneName"] == nil) {
		r.mistake("hostedZoneId", "and hostedZoneName are given together or not at all")
	}
	d := &Domain{
		Name:           r.text("name", "", "a host's name", host),
		CertificateARN: r.arn("certificateArn", "acm", awsRegion),
		ZoneID:         r.text("hostedZoneId", "", "a hosted zone's id", matches(`Z[A-Z0-9]+`)),
		ZoneName:       r.text("hostedZoneName", "", "a zone's name", host),

		EdgeCertificateARN: r.arn("edgeCertificateArn", "acm", EdgeRegion),
	}
	if d.Name != "" && d.ZoneName != "" && !strings.HasSuffix("."+d.Name, "."+d.ZoneName) {
		r.mistake("hostedZoneName", "is not the zone of %s: %s", shown(d.Name), shown(d.ZoneName))
	}
	r.unknown()
	return d
}

// arn reads the ARN of a resource of a service in awsRegion; a resource of another region
// cannot be used.
func (r *reader) arn(key, service, awsRegion string) string {
	return r.text(key, "", fmt.Sprintf("an ARN of %s in %s", service, awsRegion),
		matches(`arn:aws[a-z-]*:`+service+`:`+regexp.QuoteMeta(awsRegion)+`:[0-9]{12}:.+`))
}

// tags reads an object of text.
func (r *reader) tags(key string) map[string]string {
	values, _ := r.object(key)
	all := map[string]string{}
	for name := range values.values {
		all[name] = values.text(name, "", "text", anyText)
	}
	return all
}
