package config

import (
	"regexp"
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
