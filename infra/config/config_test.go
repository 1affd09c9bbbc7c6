package config

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/events"
)

func TestWithoutAContextEverythingHasADefault(t *testing.T) {
	c, err := Read(map[string]any{"@aws-cdk/core:anything": true, "aws:cdk:enable-asset-metadata": true})
	require.NoError(t, err)
	require.Equal(t, &Config{
		Regions: []Region{{Name: "eu", AWSRegion: "eu-central-1"}, {Name: "us", AWSRegion: "us-east-1"}},
		Arch:    "arm64", Stage: "live", RetentionDays: 90,
		ThrottleRate: 500, ThrottleBurst: 1000, CloudWatchRole: true, SearchUnits: 60_000, Tags: map[string]string{},
	}, c)
	require.Equal(t, events.Options{}, c.Options())
}

func TestValuesOfTheCommandLineAreText(t *testing.T) {
	c, err := Read(map[string]any{
		"regions": "us", "arch": "x86_64", "endpoint": "http://127.0.0.1:4566/", "dailyWrites": "10000", "throttleRate": "20",
		"alarms": "each", "dashboard": "true", "monthlyBudget": "50", "alarmEmail": "ops@example.org",
		"customerKey": "true", "transcriber": "amazon", "scanner": "guardduty", "holdingSlides": "true", "openRegistration": "true",
		"cloudWatchRole": "false", "logRetentionDays": "7", "tags": `{"team": "programme"}`,
		"us": `{"awsRegion": "us-west-2", "restoredTable": "lectern-us-2"}`,
	})
	require.NoError(t, err)
	require.Equal(t, []Region{{Name: "us", AWSRegion: "us-west-2", RestoredTable: "lectern-us-2"}}, c.Regions)
	require.Equal(t, "http://127.0.0.1:4566", c.Endpoint)
	require.Equal(t, []int{10_000, 20}, []int{c.DailyWrites, c.ThrottleRate})
	require.Equal(t, []bool{true, false, true}, []bool{c.CustomerKey, c.CloudWatchRole, c.OpenRegistration})
	require.Equal(t, "amazon", c.Transcriber)
	require.Equal(t, events.Every, c.Options())
	require.Equal(t, []any{true, true, 50}, []any{c.EachAlarm, c.Dashboard, c.MonthlyBudget})
	require.Equal(t, 7, c.RetentionDays)
	require.Equal(t, map[string]string{"team": "programme"}, c.Tags)
}

func TestEveryMistakeInTheContextIsNamed(t *testing.T) {
	_, err := Read(map[string]any{
		"regions": "us,mars", "account": "12", "arch": "arm", "endpoint": "localhost", "stage": "a-b", "adminUrl": "admin",
		"dailyWrites": -1, "searchUnits": -1, "logRetentionDays": 8, "throttleRate": "many", "throttleBurst": 1.5, "reservedConcurrency": 1,
		"alarmEmail": "nobody", "firewallRate": 9, "transcriber": "stand-in", "scanner": "clamd", "holdingSlides": "some", "openRegistration": "some",
		"customerKey": "yes", "cloudWatchRole": 1,
		"alarms": "some", "dashboard": 2, "monthlyBudget": -1, "tags": "team", "adminURL": "https://example.org",
		"us": map[string]any{"awsRegion": "Virginia", "restoredTable": "a b", "restoredStreamArn": "stream", "alarmTopicArn": "pager", "queryModel": map[string]any{"region": "x"}, "table": "x", "table:": "x", "@table": "x"},
		"eu": map[string]any{"backup": map[string]any{"days": 0, "region": "eu-west-1"}, "domain": map[string]any{
			"name": "https://example.org", "hostedZoneId": "Z1", "certificate": "x",
			"certificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1",
		}},
	})
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n  ")[1:]
	names := make([]string, len(lines))
	for i, line := range lines {
		names[i], _, _ = strings.Cut(line, " ")
	}
	require.ElementsMatch(t, []string{
		"regions", "account", "arch", "endpoint", "stage", "adminUrl", "dailyWrites", "searchUnits", "logRetentionDays", "throttleRate", "throttleBurst",
		"reservedConcurrency", "alarmEmail", "firewallRate", "transcriber", "scanner", "holdingSlides", "openRegistration", "customerKey", "cloudWatchRole",
		"alarms", "dashboard", "monthlyBudget", "tags", "adminURL",
		"us.awsRegion", "us.restoredTable", "us.restoredStreamArn", "us.restoredStreamArn", "eu.backup.vaultArn", "eu.backup.days", "eu.backup.region",
		"us.queryModel.id", "us.queryModel.region", "us.alarmTopicArn", "us.table", "us.table:", "us.@table",
		"eu.domain.name", "eu.domain.certificateArn", "eu.domain.certificate", "eu.domain.hostedZoneId",
	}, names, err.Error())
}

// A variable that is unset in -c account=$ACCOUNT chooses no default.
func TestNoValueIsEmpty(t *testing.T) {
	_, err := Read(map[string]any{"regions": "", "account": "", "customerKey": "", "eu": "", "us": map[string]any{
		"restoredTable": "", "domain": map[string]any{"name": "", "certificateArn": "", "hostedZoneId": "", "hostedZoneName": "example.org"},
	}})
	for _, key := range []string{"regions", "account", "customerKey", "us.restoredTable", "eu", "us.domain.name", "us.domain.certificateArn", "us.domain.hostedZoneId"} {
		require.ErrorContains(t, err, "\n  "+key+" is empty: leave it out, or give it a value")
	}
	require.Equal(t, 8, strings.Count(err.Error(), "\n"), "each once: %s", err)
}

func TestADomainNeedsANameAndACertificate(t *testing.T) {
	_, err := Read(map[string]any{"us": map[string]any{"domain": map[string]any{}}})
	require.ErrorContains(t, err, "us.domain.name is missing")
	require.ErrorContains(t, err, "us.domain.certificateArn is missing")
	for zone, fits := range map[string]bool{"example.org": true, "api.example.org": true, "ample.org": false, "other.org": false} {
		_, err := Read(map[string]any{"us": map[string]any{"domain": map[string]any{"name": "api.example.org", "hostedZoneId": "Z1", "hostedZoneName": zone,
			"certificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1"}}})
		if fits {
			require.NoError(t, err)
			continue
		}
		require.ErrorContains(t, err, "us.domain.hostedZoneName is not the zone of")
	}
}

// Functions would read the changes of another table than the one that they serve.
func TestAStreamIsThatOfTheRestoredTable(t *testing.T) {
	const of = "arn:aws:dynamodb:us-east-1:123456789012:table/lectern-us-2/stream/2027-05-01T00:00:00.000"
	at := func(table, stream string) error {
		_, err := Read(map[string]any{"us": map[string]any{"restoredTable": table, "restoredStreamArn": stream}})
		return err
	}
	require.NoError(t, at("lectern-us-2", of))
	for _, wrong := range []error{
		at("lectern-us-3", of), at("lectern-us-2", strings.Replace(of, "us-east-1", "us-west-2", 1)),
		at("lectern-us-2", strings.TrimSuffix(of, "2027-05-01T00:00:00.000")), at("lectern-us.2", of),
	} {
		require.ErrorContains(t, wrong, "us.restoredStreamArn is not the ARN of a stream of lectern-us")
	}
	_, err := Read(map[string]any{"us": map[string]any{"restoredStreamArn": of}})
	require.ErrorContains(t, err, "us.restoredStreamArn is the stream of a restored table: give restoredTable too")
}

// TestTheQueryModelStaysInItsJurisdiction, whether it is called in another AWS region or through a profile.
func TestTheQueryModelStaysInItsJurisdiction(t *testing.T) {
	for _, one := range []struct{ region, id, awsRegion, mistake string }{
		{"us", "amazon.nova-lite-v1:0", "us-east-1", ""},
		{"us", "us.amazon.nova-lite-v1:0", "us-west-2", ""},
		{"us", "zai.glm-4.6", "us-west-2", ""},
		{"eu", "eu.amazon.nova-lite-v1:0", "eu-west-1", ""},
		{"eu", "amazon.nova-lite-v1:0", "us-east-1", "awsRegion is us-east-1, and prompts of eu-central-1 must not leave its jurisdiction (eu)"},
		{"eu", "amazon.nova-lite-v1:0", "eu-west-2", "awsRegion is eu-west-2, and prompts of eu-central-1 must not leave"},
		{"eu", "us.amazon.nova-lite-v1:0", "eu-central-1", "id is of the profile us, and prompts of eu-central-1 must not leave"},
		{"eu", "global.amazon.nova-lite-v1:0", "eu-central-1", "id is of the profile global, and prompts"},
		{"us", "nova", "us-east-1", "id is not the id of a model of Amazon Bedrock"},
		{"us", "arn:aws:bedrock:us-east-1::foundation-model/amazon.nova-lite-v1:0", "us-east-1", "id is not the id of a model of Amazon Bedrock"},
		{"us", "amazon.nova-lite-v1:0", "here", "awsRegion is not an AWS region"},
	} {
		c, err := Read(map[string]any{"regions": one.region, one.region: map[string]any{
			"queryModel": map[string]any{"id": one.id, "awsRegion": one.awsRegion}}})
		if one.mistake != "" {
			require.ErrorContains(t, err, "\n  "+one.region+".queryModel."+one.mistake)
			continue
		}
		require.NoError(t, err, one.id)
		require.Equal(t, &QueryModel{one.id, one.awsRegion}, c.Regions[0].QueryModel)
	}
	c, err := Read(map[string]any{"regions": "eu", "eu": `{"awsRegion": "eu-west-1", "queryModel": {"id": "eu.amazon.nova-lite-v1:0"}}`})
	require.NoError(t, err)
	m := c.Regions[0].QueryModel
	require.Equal(t, []string{"eu-west-1", "eu", "amazon.nova-lite-v1:0"}, []string{m.AWSRegion, m.Profile(), m.Model()})
	require.Equal(t, "amazon.nova-lite-v1:0", QueryModel{ID: "amazon.nova-lite-v1:0"}.Model())
}

func TestACopyStaysInItsJurisdiction(t *testing.T) {
	for _, one := range []struct{ region, awsRegion, copy, mistake string }{
		{"eu", "eu-central-1", "eu-west-1", ""},
		{"us", "us-east-1", "us-west-2", ""},
		{"us", "ca-central-1", "ca-west-1", ""},
		{"eu", "eu-central-1", "eu-central-1", "is in eu-central-1, as the table is"},
		{"eu", "eu-central-1", "us-east-1", "must not leave its jurisdiction (eu)"},
		{"eu", "eu-central-1", "eu-west-2", "must not leave its jurisdiction (eu)"},
		{"eu", "eu-central-1", "eu-central-2", "must not leave its jurisdiction (eu)"},
		{"us", "us-east-1", "us-gov-west-1", "must not leave its jurisdiction (us)"},
		{"us", "us-east-1", "eu-west-1", "must not leave its jurisdiction (us)"},
	} {
		c, err := Read(map[string]any{"regions": one.region, one.region: map[string]any{"awsRegion": one.awsRegion,
			"backup": map[string]any{"vaultArn": "arn:aws:backup:" + one.copy + ":123456789012:backup-vault:lectern"}}})
		if one.mistake != "" {
			require.ErrorContains(t, err, "\n  "+one.region+".backup.vaultArn is in "+one.copy, one.copy)
			require.ErrorContains(t, err, one.mistake, one.copy)
			continue
		}
		require.NoError(t, err, one.copy)
		require.Equal(t, 35, c.Regions[0].Backup.Days)
		require.Equal(t, one.copy, c.Regions[0].Backup.AWSRegion())
	}
}

func TestABudgetNeedsAnAddress(t *testing.T) {
	_, err := Read(map[string]any{"monthlyBudget": 50})
	require.ErrorContains(t, err, "\n  monthlyBudget needs alarmEmail, the address to write to")
	_, err = Read(map[string]any{"monthlyBudget": 50, "alarmEmail": "ops@example.org"})
	require.NoError(t, err)
}

// Two regions in one AWS region would both set the account's role for logs there.
func TestTwoRegionsAreNotInOneAWSRegion(t *testing.T) {
	at := func(region string) map[string]any { return map[string]any{"awsRegion": region} }
	for _, context := range []map[string]any{
		{"us": at("eu-west-1"), "eu": at("eu-west-1")},
		{"us": at("eu-central-1")},
		{"eu": `{"awsRegion": "us-east-1"}`, "regions": "eu"},
	} {
		_, err := Read(context)
		require.ErrorContains(t, err, "\n  us.awsRegion is that of eu, and each region needs its own: ")
		require.Equal(t, 1, strings.Count(err.Error(), "\n"), "the only mistake: %s", err)
	}
	_, err := Read(map[string]any{"us": at("eu-central-1"), "eu": at("us-east-1")})
	require.NoError(t, err)
}

// unchanged returns the fields with the same value in two structs of a type.
func unchanged(a, b any) (names []string) {
	va, vb := reflect.ValueOf(a), reflect.ValueOf(b)
	for i := range va.NumField() {
		if fmt.Sprint(va.Field(i)) == fmt.Sprint(vb.Field(i)) {
			names = append(names, va.Type().Field(i).Name)
		}
	}
	return names
}

// No test would check an option that is missing in the file.
func TestEverythingHasEveryOption(t *testing.T) {
	none, err := Read(nil)
	require.NoError(t, err)
	text, err := os.ReadFile("../testdata/everything.json")
	require.NoError(t, err)
	var everything map[string]any
	require.NoError(t, json.Unmarshal(text, &everything))
	all, err := Read(everything)
	require.NoError(t, err)
	// The folder of the binaries and the options for an emulator are left out. The upload service, which the firewall
	// does not go with, is in uploads.json.
	require.Equal(t, []string{"Arch", "Functions", "Endpoint", "UploadService"}, unchanged(*none, *all))
	for i, at := range all.Regions {
		require.Equal(t, []string{"Name"}, unchanged(none.Regions[i], at), at.Name)
	}
	require.Equal(t, []string{"EdgeCertificateARN", "ZoneID", "ZoneName"}, unchanged(Domain{}, *all.Regions[0].Domain))
	require.Equal(t, []string{"EdgeCertificateARN"}, unchanged(Domain{}, *all.Regions[1].Domain))
}
