// Package config reads the configuration of a deployment from the context of the CDK. It knows
// no construct of the CDK, so that programs without the CDK read the same configuration.
// Read config.go first, then read.go and data.go; reader.go takes typed values from a context.
package config

import (
	"strings"

	"lectern/events"
)

// Config holds every option, set in cdk.json below context or on the command line with
// -c. Every key may be left out; the default is in parentheses.
type Config struct {
	// Regions are the regions to deploy, by "regions": text such as us,eu (both). The
	// options of a region are below "us" or "eu".
	Regions []Region
	// Account is the AWS account, by "account". With it, a deployment to another account
	// is refused; empty means the account of the credentials.
	Account string
	// Arch is the processor of the functions, by "arch": arm64 (the default), or x86_64
	// for an emulator on a machine of that kind.
	Arch string
	// Functions is the folder of the binaries, <group>/bootstrap, by "functions"; empty
	// means dist/linux-<architecture>, the folder that make release fills.
	Functions string
	// Endpoint is the address of an emulator of AWS, by "endpoint"; empty means AWS.
	Endpoint string
	// Stage is the name of the stage in the API's address, by "stage" (live).
	Stage string
	// AdminURL is the address of the admin application, by "adminUrl"; without the option,
	// answers have no links into the application.
	AdminURL string
	// DailyWrites is the number of creating requests that a token has a day, by
	// "dailyWrites"; 0 means any number.
	DailyWrites int
	// SearchUnits is the number of read units a minute for the searches of an organization
	// in one instance of a function, by "searchUnits" (60000); 0 means any number. The
	// first search of the largest organization takes about 25,000.
	SearchUnits int
	// RetentionDays is the time that logs are kept, by "logRetentionDays" (90): a number of
	// days that CloudWatch has a retention for.
	RetentionDays int
	// ThrottleRate and ThrottleBurst limit each method of a path, in requests a second and
	// in requests at once, by "throttleRate" (500) and "throttleBurst" (1000): with a
	// thousand instances, five hundred a second leave two seconds for each. The account
	// limits the sum of all methods, in the gateway and in the instances of functions.
	ThrottleRate, ThrottleBurst int
	// Concurrency is the number of instances reserved for each function, by
	// "reservedConcurrency"; with 0, the functions share the account's instances. Lambda
	// refuses a number that leaves fewer than 100 of the region's instances unreserved:
	// an account of 1000 has 900 to divide by the number of functions.
	Concurrency int
	// AlarmEmail receives alarms, by "alarmEmail"; empty sends no e-mail.
	AlarmEmail string
	// EachAlarm creates the alarms of each function and of each kind of call to the table, by
	// "alarms": few (the default) or each.
	EachAlarm bool
	// Dashboard creates a dashboard in each region, by "dashboard" (false).
	Dashboard bool
	// MonthlyBudget is the cost of an AWS region of the account in US dollars a month; at more
	// than that, AWS writes to AlarmEmail. By "monthlyBudget"; 0 means no budget.
	MonthlyBudget int
	// FirewallRate is the number of requests in five minutes from one address; the
	// firewall refuses more. By "firewallRate"; 0 means no firewall.
	FirewallRate int
	// Transcriber turns the media of sessions into transcriptions, by "transcriber": amazon, for
	// Amazon Transcribe. Without the option, media have no transcription.
	Transcriber string
	// Scanner looks for malware in what clients send, by "scanner": guardduty, for Malware Protection
	// for S3 of Amazon GuardDuty. Without the option, nothing is scanned.
	Scanner string
	// HoldingSlides deploys the worker that draws the holding slides of sessions, by
	// "holdingSlides" (false).
	HoldingSlides bool
	// OpenRegistration lets applications register themselves, by "openRegistration" (false).
	OpenRegistration bool
	// UploadService takes forms of up to 50 MB, by "uploadService" (false): edges of CloudFront before
	// the API pass the forms to a server of their own, which needs Docker where the CDK deploys.
	UploadService bool
	// CustomerKey encrypts table, secret and backup with a key of the account, by
	// "customerKey" (false: with keys of AWS).
	CustomerKey bool
	// CloudWatchRole creates the role by which the region's API Gateway writes logs, by
	// "cloudWatchRole" (true). The account has one such role a region: use false if the
	// account has the role already.
	CloudWatchRole bool
	// Tags are set on every resource, by "tags", an object of text.
	Tags map[string]string
}

// Options returns the options that functions know.
func (c *Config) Options() events.Options {
	return events.Options{Transcriber: c.Transcriber != "", Slides: c.HoldingSlides, Scanner: c.Scanner != ""}
}

// Region holds the options of one region, an object below "us" or "eu".
type Region struct {
	// Name is the region in tokens and in the names of resources: us or eu.
	Name string
	// AWSRegion is the region of AWS, by "awsRegion" (us-east-1, eu-central-1).
	AWSRegion string
	// RestoredTable is a table restored from a backup, by "restoredTable". The functions
	// use that table in place of the table of the stack.
	RestoredTable string
	// RestoredStreamARN is the stream of RestoredTable, by "restoredStreamArn". A worker that
	// reads the stream of the table needs it.
	RestoredStreamARN string
	// Backup copies the table elsewhere each day, an object by "backup"; nil without the
	// option.
	Backup *Backup
	// QueryModel is the language model that writes queries, an object by "queryModel"; nil without the
	// option.
	QueryModel *QueryModel
	// AlarmTopicARN is an SNS topic that receives alarms, by "alarmTopicArn". The topic's
	// own policy has to let cloudwatch.amazonaws.com publish.
	AlarmTopicARN string
	// Domain is the API's own host, an object by "domain"; nil without the option.
	Domain *Domain
}

// Domain holds the options of the API's own host.
type Domain struct {
	// Name is the host, by "name".
	Name string
	// CertificateARN is the host's certificate in the same region, by "certificateArn".
	CertificateARN string
	// EdgeCertificateARN is the host's certificate in us-east-1, where edges have theirs, by
	// "edgeCertificateArn"; UploadService needs it.
	EdgeCertificateARN string
	// ZoneID and ZoneName name the Route 53 zone for the host's record, by "hostedZoneId"
	// and "hostedZoneName"; without both, the owner of the zone enters the record.
	ZoneID, ZoneName string
}

// Backup holds the options of the daily backup and of its copy.
type Backup struct {
	// VaultARN is the backup vault for the copies, in another AWS region, by "vaultArn".
	VaultARN string
	// Days is the time that a backup and its copy are kept, by "days" (35).
	Days int
}

// QueryModel holds the options of the language model that writes queries, a model of Amazon Bedrock.
type QueryModel struct {
	// ID is the id of a model, or of an inference profile of AWS that passes calls to AWS regions of the
	// same law, such as eu.amazon.nova-lite-v1:0; by "id".
	ID string
	// AWSRegion is the AWS region that is called, by "awsRegion" (that of the region).
	AWSRegion string
}

// AWSRegion returns the AWS region of the vault.
func (b Backup) AWSRegion() string { return strings.Split(b.VaultARN, ":")[3] }

// Prefix returns the start of the names of the region's resources.
func (r Region) Prefix() string { return "lectern-" + r.Name }

// KeyAlias returns the alias of the account's key of the table.
func (r Region) KeyAlias() string { return "alias/" + r.Prefix() }

// OwnTable returns the name of the table in the stack of state.
func (r Region) OwnTable() string { return r.Prefix() }

// Table returns the name of the table that the functions use.
func (r Region) Table() string {
	if r.RestoredTable != "" {
		return r.RestoredTable
	}
	return r.OwnTable()
}

// StreamParameter returns the name of the parameter that has the ARN of the stream of the
// table in the stack of state.
func (r Region) StreamParameter() string { return "/lectern/" + r.Name + "/stream" }

// SecretParameter returns the name of the parameter that has the ARN of the secret.
func (r Region) SecretParameter() string { return "/" + r.SecretName() }

// SecretName returns the name of the secret from which all keys of the region are derived.
func (r Region) SecretName() string { return "lectern/" + r.Name + "/keys" }

// UploadParameter returns the name of the parameter that has a value of the stack of the upload service.
func (r Region) UploadParameter(of string) string { return "/lectern/" + r.Name + "/uploads/" + of }

// LogName returns the name of a log: of the API's functions, the operator's function, or the
// gateway.
func (r Region) LogName(of string) string { return "/lectern/" + r.Name + "/" + of }
