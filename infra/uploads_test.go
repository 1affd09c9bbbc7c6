package main

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/infra/config"
)

// uploading is a context with the upload service, which .ci/templates uses too: us has a domain, eu has none.
func uploading(t *testing.T) map[string]any {
	t.Helper()
	return contextOf(t, "uploads.json")
}

var withUploads templates

// ofUploads gives the templates of regions with the upload service.
func ofUploads(t *testing.T) map[string]template {
	t.Helper()
	return withUploads.of(t, uploading)
}

// TestTheUploadServiceIsAnOption: without it, no template names a part of it. With it there is one more stack of a
// region, which is deployed before the stack of service, and no export ties the two.
func TestTheUploadServiceIsAnOption(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		for name, stack := range all {
			for _, text := range []string{"CloudFront", "uploads", "ecs", "LECTERN_PORT"} {
				require.NotContains(t, stack.text, text, name)
			}
		}
	}
	require.Equal(t, []string{
		"Lectern-eu-Service", "Lectern-eu-State", "Lectern-eu-Uploads", "Lectern-us-Service", "Lectern-us-State", "Lectern-us-Uploads",
	}, slices.Sorted(maps.Keys(ofUploads(t))))
	for _, stack := range *appOf(t, uploading(t)).Synth(nil).Stacks() {
		region, kind, _ := strings.Cut(strings.TrimPrefix(*stack.StackName(), "Lectern-"), "-")
		var before []string
		for _, other := range *stack.Dependencies() {
			if name := *other.Id(); !strings.HasSuffix(name, ".assets") {
				before = append(before, strings.TrimPrefix(name, "Lectern-"+region+"-"))
			}
		}
		slices.Sort(before)
		require.Equal(t, map[string][]string{"State": nil, "Uploads": {"State"}, "Service": {"State", "Uploads"}}[kind], before, kind)
		require.NotContains(t, plain(t, stack.Template()), "Fn::ImportValue")
	}
}

// TestTheTasksMayDoWhatTheFunctionMayDo and nothing else, but for the log.
func TestTheTasksMayDoWhatTheFunctionMayDo(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		allowed := func(stack, role string) (all []string) {
			template := ofUploads(t)["Lectern-"+at+"-"+stack]
			for _, g := range grants(t, template) {
				if g.of == "lectern-"+at+"-"+role && g.policy != "trust" && g.policy != "log" {
					all = append(all, g.policy+" "+plain(t, g.statement))
				}
			}
			slices.Sort(all)
			return all
		}
		function := allowed("Service", "sessionfiles")
		require.Greater(t, len(function), 5)
		require.Equal(t, function, allowed("Uploads", "uploads"))
		require.Equal(t, []string{
			`image {"Action":"ecr:GetAuthorizationToken","Effect":"Allow","Resource":"*"}`,
			`image {"Action":["ecr:BatchCheckLayerAvailability","ecr:BatchGetImage","ecr:GetDownloadUrlForLayer"],"Effect":"Allow","Resource":"` +
				`arn:aws:ecr:` + inAWS[at] + `:${AWS::AccountId}:repository/cdk-hnb659fds-container-assets-${AWS::AccountId}-` + inAWS[at] + `"}`,
		}, allowed("Uploads", "uploads-start"))
	}
}

// TestTheVariablesOfTheTasksAreThoseOfTheFunction, but for the memory and the place of the server.
func TestTheVariablesOfTheTasksAreThoseOfTheFunction(t *testing.T) {
	for at, stage := range map[string]any{"us": nil, "eu": "live"} {
		stacks := ofUploads(t)
		service := stacks["Lectern-"+at+"-Service"]
		want := environment(service.Resources[service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-"+at+"-sessionfiles")])
		want = maps.Clone(want)
		want["GOMEMLIMIT"], want["AWS_REGION"], want["LECTERN_PORT"] = "448MiB", inAWS[at], "8080"
		if stage != nil {
			want["LECTERN_STAGE"] = stage
		}
		got := map[string]any{}
		for _, pair := range container(t, at)["Environment"].([]any) {
			got[pair.(map[string]any)["Name"].(string)] = pair.(map[string]any)["Value"]
		}
		require.Equal(t, written(want), written(got))
	}
}

// container gives the container of the tasks of a region.
func container(t *testing.T, at string) map[string]any {
	t.Helper()
	task := ofUploads(t)["Lectern-"+at+"-Uploads"].one(t, "AWS::ECS::TaskDefinition").Properties
	all := task["ContainerDefinitions"].([]any)
	require.Len(t, all, 1)
	return all[0].(map[string]any)
}

func TestATaskIsSmallAndCanDoLittle(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		task := ofUploads(t)["Lectern-"+at+"-Uploads"].one(t, "AWS::ECS::TaskDefinition").Properties
		require.Equal(t, []any{"256", "512", "awsvpc", []any{"FARGATE"}, map[string]any{"CpuArchitecture": "ARM64", "OperatingSystemFamily": "LINUX"}},
			[]any{task["Cpu"], task["Memory"], task["NetworkMode"], task["RequiresCompatibilities"], task["RuntimePlatform"]})
		c := container(t, at)
		require.Equal(t, []any{"65532:65532", true, true, 120.0, map[string]any{"Capabilities": map[string]any{"Drop": []any{"ALL"}}}},
			[]any{c["User"], c["ReadonlyRootFilesystem"], c["Essential"], c["StopTimeout"], c["LinuxParameters"]})
	}
}

// TestNoTaskAndNoListenerIsOnTheInternet: CloudFront alone reaches the load balancer, and the load balancer alone
// the tasks.
func TestNoTaskAndNoListenerIsOnTheInternet(t *testing.T) {
	for at, want := range map[string]struct {
		list, protocol string
		port           float64
		zones          []any
	}{
		"us": {"pl-3b927c52", "HTTPS", 443, []any{"use1-az1", "use1-az2"}}, "eu": {"pl-a3a144ca", "HTTP", 80, []any{"euc1-az1", "euc1-az2"}},
	} {
		stack := ofUploads(t)["Lectern-"+at+"-Uploads"]
		balancer := stack.one(t, "AWS::ElasticLoadBalancingV2::LoadBalancer").Properties
		require.Equal(t, "internal", balancer["Scheme"])
		listener := stack.one(t, "AWS::ElasticLoadBalancingV2::Listener").Properties
		require.Equal(t, []any{want.protocol, want.port}, []any{listener["Protocol"], listener["Port"]})
		require.Equal(t, at == "us", strings.Contains(plain(t, listener), "certificate/1"))
		origin := stack.one(t, "AWS::CloudFront::VpcOrigin").Properties["VpcOriginEndpointConfig"].(map[string]any)
		require.Equal(t, strings.ToLower(want.protocol)+"-only", origin["OriginProtocolPolicy"])
		require.Equal(t, map[string]any{"Ref": stack.id(t, "AWS::ElasticLoadBalancingV2::LoadBalancer")}, origin["Arn"])

		var into []any
		for _, group := range stack.of("AWS::EC2::SecurityGroup") {
			require.NotEmpty(t, group.Properties["SecurityGroupEgress"], "without a rule, everything may be called")
			inline, _ := group.Properties["SecurityGroupIngress"].([]any)
			into = append(into, inline...)
		}
		require.Equal(t, []any{map[string]any{
			"IpProtocol": "tcp", "FromPort": want.port, "ToPort": want.port, "SourcePrefixListId": want.list, "Description": "CloudFront",
		}}, into)
		between := stack.one(t, "AWS::EC2::SecurityGroupIngress").Properties
		require.Equal(t, []any{8080.0, 8080.0}, []any{between["FromPort"], between["ToPort"]})
		require.Contains(t, plain(t, between["SourceSecurityGroupId"]), "Front")
		require.Contains(t, plain(t, between["GroupId"]), "Behind")
		require.NotContains(t, stack.text, "CidrIpv6")
		require.Empty(t, stack.of("AWS::EC2::NatGateway"))

		open, zones := routed(stack), map[any]int{}
		require.Len(t, stack.of("AWS::EC2::Subnet"), 4)
		for _, subnet := range stack.of("AWS::EC2::Subnet") {
			zones[subnet.Properties["AvailabilityZoneId"]]++
		}
		require.Equal(t, map[any]int{want.zones[0]: 2, want.zones[1]: 2}, zones)
		require.Len(t, open, 2)
		for _, subnet := range balancer["Subnets"].([]any) {
			require.NotContains(t, open, subnet.(map[string]any)["Ref"])
		}
		for _, group := range balancer["SecurityGroups"].([]any) {
			require.Contains(t, plain(t, group), "Front")
		}
		tasks := stack.one(t, "AWS::ECS::Service").Properties["NetworkConfiguration"].(map[string]any)["AwsvpcConfiguration"].(map[string]any)
		for _, subnet := range tasks["Subnets"].([]any) {
			require.Contains(t, open, subnet.(map[string]any)["Ref"])
		}
		require.Contains(t, plain(t, tasks["SecurityGroups"]), "Behind")
	}
}

// routed gives the ids of the subnets that have a way to the internet.
func routed(stack template) (open []any) {
	for _, association := range stack.of("AWS::EC2::SubnetRouteTableAssociation") {
		open = append(open, association.Properties["SubnetId"].(map[string]any)["Ref"])
	}
	return open
}

// TestADeploymentOfTasksThatFailIsRolledBack, and there are more tasks when these have much to do.
func TestADeploymentOfTasksThatFailIsRolledBack(t *testing.T) {
	stack := ofUploads(t)["Lectern-us-Uploads"]
	service := stack.one(t, "AWS::ECS::Service").Properties
	require.Equal(t, map[string]any{
		"MinimumHealthyPercent": 100.0, "MaximumPercent": 200.0, "DeploymentCircuitBreaker": map[string]any{"Enable": true, "Rollback": true},
	}, service["DeploymentConfiguration"])
	require.NotContains(t, service, "DesiredCount", "a deployment must not undo the scaling")
	number := stack.one(t, "AWS::ApplicationAutoScaling::ScalableTarget").Properties
	require.Equal(t, []any{"service/lectern-us-uploads/lectern-us-uploads", 1.0, 4.0}, []any{number["ResourceId"], number["MinCapacity"], number["MaxCapacity"]})
	targets := stack.one(t, "AWS::ElasticLoadBalancingV2::TargetGroup").Properties
	require.Equal(t, "/health", targets["HealthCheckPath"])
}

// distributionOf gives the distribution of a region.
func distributionOf(t *testing.T, at string) map[string]any {
	t.Helper()
	return ofUploads(t)["Lectern-"+at+"-Service"].one(t, "AWS::CloudFront::Distribution").Properties["DistributionConfig"].(map[string]any)
}

// TestTheEdgesPassFormsToTheUploadService and everything else to the API, with every header of the client. They
// cache and log nothing.
func TestTheEdgesPassFormsToTheUploadService(t *testing.T) {
	const none, all, butHost = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad", "216adef6-5c7f-47e4-b989-5492eafa07d3", "b689b0a8-53d0-40ab-baf2-68738e2966ac"
	for at, want := range map[string]struct{ path, headers string }{
		"us": {"/v1/event/*/sessions/*/files/upload", all}, "eu": {"/live/v1/event/*/sessions/*/files/upload", butHost},
	} {
		config := distributionOf(t, at)
		require.NotContains(t, config, "Logging")
		errors := map[any]any{}
		for _, one := range config["CustomErrorResponses"].([]any) {
			kept := one.(map[string]any)
			require.Len(t, kept, 2, "an answer of the API stays as it is")
			errors[kept["ErrorCode"]] = kept["ErrorCachingMinTTL"]
		}
		for _, status := range []float64{400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504} {
			require.Equal(t, 0.0, errors[status], "a refusal of one caller must not be the answer to another")
		}
		forms := config["CacheBehaviors"].([]any)
		require.Len(t, forms, 1)
		for behavior, expected := range map[string][]any{
			plain(t, config["DefaultCacheBehavior"]): {"api", none, want.headers, nil},
			plain(t, forms[0]):                       {"uploads", none, all, want.path},
		} {
			var b map[string]any
			require.NoError(t, json.Unmarshal([]byte(behavior), &b))
			require.Equal(t, expected, []any{b["TargetOriginId"], b["CachePolicyId"], b["OriginRequestPolicyId"], b["PathPattern"]})
			require.Equal(t, "https-only", b["ViewerProtocolPolicy"])
			require.ElementsMatch(t, []any{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"}, b["AllowedMethods"])
		}
	}
}

// TestTheHostOfTheEdgesIsThatOfTheAPI: with a domain, its record leads to the edges, which have a certificate of
// their own. Without one, the address of the edges is that of all links.
func TestTheHostOfTheEdgesIsThatOfTheAPI(t *testing.T) {
	us, eu := ofUploads(t)["Lectern-us-Service"], ofUploads(t)["Lectern-eu-Service"]
	config := distributionOf(t, "us")
	require.Equal(t, []any{"api.example.org"}, config["Aliases"])
	require.Equal(t, "arn:aws:acm:us-east-1:123456789012:certificate/3", config["ViewerCertificate"].(map[string]any)["AcmCertificateArn"])
	host := "${" + us.id(t, "AWS::CloudFront::Distribution") + ".DomainName}"
	record := us.one(t, "AWS::Route53::RecordSet").Properties
	require.Equal(t, host, written(record["AliasTarget"].(map[string]any)["DNSName"]))
	require.Equal(t, host, written(us.Outputs["DomainTarget"].Value))
	require.Equal(t, "https://api.example.org", us.Outputs["Address"].Value)
	require.Equal(t, "${"+us.id(t, "AWS::ApiGateway::DomainName")+".RegionalDomainName}", written(originOf(t, config, "api")["DomainName"]))

	config = distributionOf(t, "eu")
	require.NotContains(t, config, "Aliases")
	address := "https://${" + eu.id(t, "AWS::CloudFront::Distribution") + ".DomainName}/live"
	require.Equal(t, address, written(eu.Outputs["Address"].Value))
	require.Equal(t, written(eu.Outputs["ApiId"].Value).(string)+".execute-api.eu-central-1.${AWS::URLSuffix}",
		written(originOf(t, config, "api")["DomainName"]))
	variables := func(service template) map[string]any {
		return service.one(t, "AWS::ApiGateway::Stage").Properties["Variables"].(map[string]any)
	}
	require.Equal(t, address, written(variables(eu)["address"]))
	require.NotContains(t, variables(us), "address")
	for at, service := range map[string]template{"us": us, "eu": eu} {
		// The name of the record is the same as without the service, so that CloudFormation changes it in its place.
		sent := originOf(t, distributionOf(t, at), "api")["OriginCustomHeaders"].([]any)[0].(map[string]any)
		require.Equal(t, "X-Lectern-Edges", sent["HeaderName"])
		require.Equal(t, "{{resolve:secretsmanager:${"+service.id(t, "AWS::SecretsManager::Secret")+"}:SecretString}}", written(sent["HeaderValue"]))
		require.Equal(t, sent["HeaderValue"], variables(service)["edges"])
		require.NotContains(t, originOf(t, distributionOf(t, at), "uploads"), "OriginCustomHeaders")
		for _, f := range []string{"matcher", "dataworker"} {
			made := service.Resources[service.logical(t, "AWS::Lambda::Function", "FunctionName", "lectern-"+at+"-"+f)]
			require.Equal(t, service.Outputs["Address"].Value, environment(made)["LECTERN_API_URL"])
		}
	}
	with := slices.Collect(maps.Keys(ofEverything(t)["Lectern-us-Service"].of("AWS::Route53::RecordSet")))
	require.Equal(t, with, slices.Collect(maps.Keys(us.of("AWS::Route53::RecordSet"))), "CloudFormation changes the record in its place")
}

// originOf gives an origin of a distribution.
func originOf(t *testing.T, config map[string]any, id string) map[string]any {
	t.Helper()
	for _, origin := range config["Origins"].([]any) {
		if origin.(map[string]any)["Id"] == id {
			return origin.(map[string]any)
		}
	}
	require.Fail(t, "no such origin", id)
	return nil
}

// TestTheOriginIsFoundByParameters of the stack of the upload service.
func TestTheOriginIsFoundByParameters(t *testing.T) {
	for _, at := range []string{"us", "eu"} {
		uploads, service := ofUploads(t)["Lectern-"+at+"-Uploads"], ofUploads(t)["Lectern-"+at+"-Service"]
		published := map[any]any{}
		for _, p := range uploads.of("AWS::SSM::Parameter") {
			published[p.Properties["Name"]] = written(p.Properties["Value"])
		}
		require.Equal(t, map[any]any{
			"/lectern/" + at + "/uploads/origin": "${" + uploads.id(t, "AWS::CloudFront::VpcOrigin") + ".Id}",
			"/lectern/" + at + "/uploads/host":   "${" + uploads.id(t, "AWS::ElasticLoadBalancingV2::LoadBalancer") + ".DNSName}",
		}, published)
		origin := originOf(t, distributionOf(t, at), "uploads")
		for id, name := range map[any]string{
			origin["DomainName"].(map[string]any)["Ref"]:                                      "host",
			origin["VpcOriginConfig"].(map[string]any)["VpcOriginId"].(map[string]any)["Ref"]: "origin",
		} {
			require.Equal(t, "/lectern/"+at+"/uploads/"+name, service.Parameters[id.(string)]["Default"])
		}
	}
}

// TestTheLinesOfTheUploadServiceAreRead as those of the API: by the ingester, and by the filters of alarms.
func TestTheLinesOfTheUploadServiceAreRead(t *testing.T) {
	service, uploads := ofUploads(t)["Lectern-us-Service"], ofUploads(t)["Lectern-us-Uploads"]
	log := uploads.one(t, "AWS::Logs::LogGroup").Properties
	require.Equal(t, []any{"/lectern/us/uploads", 90.0}, []any{log["LogGroupName"], log["RetentionInDays"]})
	require.Equal(t, "awslogs", container(t, "us")["LogConfiguration"].(map[string]any)["LogDriver"])
	filters := map[string][]string{}
	for _, filter := range service.of("AWS::Logs::MetricFilter") {
		name := filter.Properties["MetricTransformations"].([]any)[0].(map[string]any)["MetricName"].(string)
		group, own := filter.Properties["LogGroupName"].(string)
		if own {
			filters[group] = append(filters[group], name)
		}
	}
	for _, names := range filters {
		slices.Sort(names)
	}
	require.Equal(t, map[string][]string{"/lectern/us/uploads": {"Busy", "RateLimiterFailedOpen", "SignInsMisused", "VersionsDisagree"}}, filters)
	subscribed := []any{}
	for _, s := range service.of("AWS::Logs::SubscriptionFilter") {
		subscribed = append(subscribed, s.Properties["LogGroupName"])
	}
	require.Len(t, subscribed, 2)
	require.Contains(t, subscribed, "/lectern/us/uploads")
}

func TestTheUploadServiceIsWatched(t *testing.T) {
	names := map[any]any{}
	for id, alarm := range ofUploads(t)["Lectern-us-Uploads"].of("AWS::CloudWatch::Alarm") {
		names[alarm.Properties["AlarmName"]] = alarm.Properties["TreatMissingData"]
		require.NotEmpty(t, alarm.Properties["AlarmDescription"], id)
		require.Contains(t, plain(t, written(alarm.Properties["AlarmActions"])), ":sns:us-east-1:${AWS::AccountId}:lectern-us-alarms", id)
	}
	require.Equal(t, map[any]any{"lectern-us-uploads-fail": "notBreaching", "lectern-us-uploads-down": "breaching"}, names)
}

// TestTheUploadServiceFitsBesideEveryOption of the service.
func TestTheUploadServiceFitsBesideEveryOption(t *testing.T) {
	context := everything(t)
	maps.Copy(context, uploading(t))
	delete(context, "firewallRate")
	context["eu"].(map[string]any)["domain"].(map[string]any)["edgeCertificateArn"] = "arn:aws:acm:us-east-1:123456789012:certificate/4"
	for name, stack := range synthesized(t, context) {
		require.LessOrEqual(t, len(stack.Resources), mostResources, name)
		require.Less(t, len(stack.text), 800_000, name)
		require.Empty(t, unexplained(t, stack), name)
	}
	require.LessOrEqual(t, len(finished(t, context).Resources), mostResources)
}

func TestTheUploadServiceRefusesWhatItCannotDo(t *testing.T) {
	for _, c := range []struct {
		more map[string]any
		want string
	}{
		{map[string]any{"firewallRate": 2000}, "firewallRate counts addresses, and with uploadService all requests come from those of CloudFront"},
		{map[string]any{"us": map[string]any{"domain": map[string]any{"name": "api.example.org", "certificateArn": "arn:aws:acm:us-east-1:123456789012:certificate/1"}}},
			`us.domain.edgeCertificateArn is missing: uploadService needs the ARN of a certificate of "api.example.org" in us-east-1`},
		{map[string]any{"eu": map[string]any{"domain": map[string]any{
			"name": "eu.example.org", "certificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/2",
			"edgeCertificateArn": "arn:aws:acm:eu-central-1:123456789012:certificate/2"}}}, "eu.domain.edgeCertificateArn is not an ARN of acm in us-east-1"},
		{map[string]any{"eu": map[string]any{"awsRegion": "ap-south-1"}}, "uploadService is not described for ap-south-1, the AWS region of eu, only for eu-central-1,"},
		{map[string]any{"uploadService": "yes"}, "uploadService is neither true nor false"},
	} {
		context := uploading(t)
		maps.Copy(context, c.more)
		_, err := config.Read(context)
		require.ErrorContains(t, err, c.want)
	}
	_, err := config.Read(map[string]any{"uploadService": true, "regions": "us", "eu": map[string]any{"awsRegion": "ap-south-1"}})
	require.NoError(t, err, "eu is not deployed")
}

// TestTheImageMustBeBuilt: its binary and its Dockerfile are named.
func TestTheImageMustBeBuilt(t *testing.T) {
	folder := t.TempDir()
	err := checkImage(folder)
	require.ErrorContains(t, err, "infra: uploads is not built")
	require.ErrorContains(t, err, "Dockerfile")
	require.NoError(t, standIn(folder, "uploads", ""))
	require.ErrorContains(t, checkImage(folder), "infra: the image of the upload service is not built")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "uploads", "Dockerfile"), nil, 0o644))
	require.NoError(t, checkImage(folder))
}
