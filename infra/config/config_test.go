package config

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWithoutAContextEverythingHasADefault(t *testing.T) {
	c, err := Read(map[string]any{"@aws-cdk/core:anything": true, "aws:cdk:enable-asset-metadata": true})
	require.NoError(t, err)
	require.Equal(t, &Config{
		Regions: []Region{{Name: "eu", AWSRegion: "eu-central-1"}, {Name: "us", AWSRegion: "us-east-1"}},
		Arch:    "arm64", Stage: "live", RetentionDays: 90,
		ThrottleRate: 500, ThrottleBurst: 1000, CloudWatchRole: true, SearchUnits: 60_000, Tags: map[string]string{},
	}, c)
}

func TestValuesOfTheCommandLineAreText(t *testing.T) {
	c, err := Read(map[string]any{
		"regions": "us", "arch": "x86_64", "endpoint": "http://127.0.0.1:4566/", "dailyWrites": "10000", "throttleRate": "20",
		"customerKey": "true", "cloudWatchRole": "false", "logRetentionDays": "7", "tags": `{"team": "programme"}`,
		"us": `{"awsRegion": "us-west-2", "restoredTable": "lectern-us-2"}`,
	})
	require.NoError(t, err)
	require.Equal(t, []Region{{Name: "us", AWSRegion: "us-west-2", RestoredTable: "lectern-us-2"}}, c.Regions)
	require.Equal(t, "http://127.0.0.1:4566", c.Endpoint)
	require.Equal(t, []int{10_000, 20}, []int{c.DailyWrites, c.ThrottleRate})
	require.Equal(t, []bool{true, false}, []bool{c.CustomerKey, c.CloudWatchRole})
	require.Equal(t, 7, c.RetentionDays)
	require.Equal(t, map[string]string{"team": "programme"}, c.Tags)
}

func TestEveryMistakeInTheContextIsNamed(t *testing.T) {
	_, err := Read(map[string]any{
		"regions": "us,mars", "account": "12", "arch": "arm", "endpoint": "localhost", "stage": "a-b", "adminUrl": "admin",
		"dailyWrites": -1, "searchUnits": -1, "logRetentionDays": 8, "throttleRate": "many", "throttleBurst": 1.5, "reservedConcurrency": true,
		"alarmEmail": "nobody", "firewallRate": 9, "customerKey": "yes", "cloudWatchRole": 1, "tags": "team", "adminURL": "https://example.org",
		"us": map[string]any{"awsRegion": "Virginia", "restoredTable": "a b", "alarmTopicArn": "pager", "table": "x", "table:": "x", "@table": "x"},
		"eu": map[string]any{"domain": map[string]any{
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
		"reservedConcurrency", "alarmEmail", "firewallRate", "customerKey", "cloudWatchRole", "tags", "adminURL",
		"us.awsRegion", "us.restoredTable", "us.alarmTopicArn", "us.table", "us.table:", "us.@table",
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
	// The folder of the binaries and the options for an emulator are left out.
	require.Equal(t, []string{"Arch", "Functions", "Endpoint"}, unchanged(*none, *all))
	for i, at := range all.Regions {
		require.Equal(t, []string{"Name"}, unchanged(none.Regions[i], at), at.Name)
	}
	require.Equal(t, []string{"ZoneID", "ZoneName"}, unchanged(Domain{}, *all.Regions[0].Domain))
	require.Empty(t, unchanged(Domain{}, *all.Regions[1].Domain))
}
