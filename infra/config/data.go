package config

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// streamOf reads the ARN of the stream of a restored table.
func (r *reader) streamOf(region Region) string {
	const key = "restoredStreamArn"
	if r.values[key] != nil && region.RestoredTable == "" {
		r.mistake(key, "is the stream of a restored table: give restoredTable too")
	}
	return r.text(key, "", "the ARN of a stream of "+region.RestoredTable+" in "+region.AWSRegion,
		matches(`arn:aws[a-z-]*:dynamodb:`+regexp.QuoteMeta(region.AWSRegion)+`:[0-9]{12}:table/`+
			regexp.QuoteMeta(region.RestoredTable)+`/stream/[0-9TZ:.-]+`))
}

// EdgeRegion is the AWS region of the certificates of CloudFront.
const EdgeRegion = "us-east-1"

// Network has what the network of the upload service needs to know of an AWS region.
type Network struct {
	// PrefixList is the list of the addresses from which CloudFront calls. AWS gives it one id in a region, and
	// CloudFormation has no other way to name it.
	PrefixList string
	// Zones are two zones in which CloudFront has origins, by the ids that are the same in all accounts.
	Zones [2]string
}

// networks has the AWS regions that the upload service is described for.
var networks = map[string]Network{
	"us-east-1":    {"pl-3b927c52", [2]string{"use1-az1", "use1-az2"}},
	"us-east-2":    {"pl-b6a144df", [2]string{"use2-az1", "use2-az2"}},
	"us-west-2":    {"pl-82a045eb", [2]string{"usw2-az1", "usw2-az2"}},
	"eu-central-1": {"pl-a3a144ca", [2]string{"euc1-az1", "euc1-az2"}},
	"eu-west-1":    {"pl-4fa04526", [2]string{"euw1-az1", "euw1-az2"}},
	"eu-west-2":    {"pl-93a247fa", [2]string{"euw2-az1", "euw2-az2"}},
	"eu-west-3":    {"pl-75b1541c", [2]string{"euw3-az1", "euw3-az2"}},
	"eu-north-1":   {"pl-fab65393", [2]string{"eun1-az1", "eun1-az2"}},
}

// Network returns the network of the region.
func (r Region) Network() Network { return networks[r.AWSRegion] }

// checkUploads notes what the upload service lacks, or does not go with.
func (r *reader) checkUploads(c *Config) {
	if !c.UploadService {
		return
	}
	if c.FirewallRate > 0 {
		r.mistake("firewallRate", "counts addresses, and with uploadService all requests come from those of CloudFront: leave one of them out")
	}
	for _, region := range c.Regions {
		if region.Domain != nil && region.Domain.EdgeCertificateARN == "" {
			r.mistake(region.Name+".domain.edgeCertificateArn", "is missing: uploadService needs the ARN of a certificate of %s in %s",
				shown(region.Domain.Name), EdgeRegion)
		}
		if _, known := networks[region.AWSRegion]; !known {
			r.mistake("uploadService", "is not described for %s, the AWS region of %s, only for %s", region.AWSRegion, region.Name,
				strings.Join(slices.Sorted(maps.Keys(networks)), ", "))
		}
	}
}

// backup reads the options of the daily backup of a region in awsRegion. The copy must be in
// another AWS region, under the same law.
func (r *reader) backup(awsRegion string) *Backup {
	r.required("vaultArn", "the ARN of a backup vault in another AWS region")
	b := &Backup{
		VaultARN: r.text("vaultArn", "", "the ARN of a backup vault", matches(
			`arn:aws[a-z-]*:backup:[a-z]{2}(-[a-z]+)+-[0-9]:[0-9]{12}:backup-vault:[A-Za-z0-9_-]{2,50}`)),
		Days: r.number("days", 35, 1, 3653),
	}
	r.unknown()
	if b.VaultARN == "" {
		return b
	}
	switch to := b.AWSRegion(); {
	case to == awsRegion:
		r.mistake("vaultArn", "is in %s, as the table is: a copy belongs into another AWS region", to)
	case jurisdiction(to) != jurisdiction(awsRegion):
		r.mistake("vaultArn", "is in %s, and data of %s must not leave its jurisdiction (%s)", to, awsRegion, jurisdiction(awsRegion))
	}
	return b
}

// profiles are the beginnings of the ids of inference profiles, by where they pass calls to.
var profiles = []string{"us", "us-gov", "eu", "apac", "jp", "au", "ca", "global"}

// Profile returns the beginning of the id of an inference profile; empty for a model.
func (m QueryModel) Profile() string {
	first, _, _ := strings.Cut(m.ID, ".")
	if !slices.Contains(profiles, first) {
		return ""
	}
	return first
}

// Model returns the id of the model, without that of a profile.
func (m QueryModel) Model() string {
	if of := m.Profile(); of != "" {
		return strings.TrimPrefix(m.ID, of+".")
	}
	return m.ID
}

// queryModel reads the options of the language model of a region in awsRegion. A prompt may name persons, so
// the model works under the same law.
func (r *reader) queryModel(awsRegion string) *QueryModel {
	r.required("id", "the id of a model or of an inference profile of Amazon Bedrock")
	m := &QueryModel{
		ID: r.text("id", "", "the id of a model of Amazon Bedrock, such as amazon.nova-lite-v1:0",
			matches(`([a-z-]+\.)?[a-z0-9-]+\.[a-z0-9.-]+(:[0-9]+)*`)),
		AWSRegion: r.awsRegion(awsRegion),
	}
	r.unknown()
	law := jurisdiction(awsRegion)
	if jurisdiction(m.AWSRegion) != law {
		r.mistake("awsRegion", "is %s, and prompts of %s must not leave its jurisdiction (%s)", m.AWSRegion, awsRegion, law)
	}
	if of := m.Profile(); of != "" && of != law {
		r.mistake("id", "is of the profile %s, and prompts of %s must not leave its jurisdiction (%s)", of, awsRegion, law)
	}
	return m
}

// apart has the AWS regions whose names begin as those of the European Union but that are
// not in the European Union: London and Zurich.
var apart = map[string]string{"eu-west-2": "gb", "eu-central-2": "ch"}

// jurisdiction returns the part of an AWS region's name that stands for its law: eu for
// eu-central-1, us for us-east-1, us-gov for us-gov-west-1.
func jurisdiction(awsRegion string) string {
	if of, ok := apart[awsRegion]; ok {
		return of
	}
	parts := strings.Split(awsRegion, "-")
	return strings.Join(parts[:len(parts)-2], "-")
}
