package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
	"github.com/cdklabs/cdk-nag-go/cdknag/v2"
	"github.com/stretchr/testify/require"

	"lectern/infra/stack"
)

// ruleWildcards is the rule of cdk-nag that accepted wildcards name.
const ruleWildcards = stack.RuleWildcards

var update = flag.Bool("update", false, "write the golden files anew, but for the functions' permissions")

// golden compares lines with a file of testdata, or with -update writes it.
func golden(t *testing.T, file string, lines []string) {
	t.Helper()
	file, got := "testdata/"+file, strings.Join(lines, "\n")+"\n"
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s is not what the templates say; see go test ./infra -update", file)
}

// written is a value of a template in which what CloudFormation fills in is text, as in
// Fn::Sub: a parameter or a resource's own in braces.
func written(value any) any {
	switch value := value.(type) {
	case []any:
		all := make([]any, len(value))
		for i, one := range value {
			all[i] = written(one)
		}
		return all
	case map[string]any:
		if text, ok := intrinsic(value); ok {
			return text
		}
		all := map[string]any{}
		for key, one := range value {
			all[key] = written(one)
		}
		return all
	default:
		return value
	}
}

func intrinsic(value map[string]any) (text string, ok bool) {
	if len(value) != 1 {
		return "", false
	}
	if ref, ok := value["Ref"].(string); ok {
		return "${" + ref + "}", true
	}
	if get, ok := value["Fn::GetAtt"].([]any); ok {
		return fmt.Sprintf("${%v.%v}", get...), true
	}
	if sub, ok := value["Fn::Sub"].(string); ok {
		return sub, true
	}
	join, ok := value["Fn::Join"].([]any)
	if !ok {
		return "", false
	}
	var parts []string
	for _, part := range join[1].([]any) {
		parts = append(parts, written(part).(string))
	}
	return strings.Join(parts, join[0].(string)), true
}

// grant is a statement of a policy, in a role or on a resource, or the trust in one.
type grant struct {
	// of is the role's or the resource's name, and policy what the statement is in.
	of, policy string
	statement  map[string]any
}

// grants gives all that the stack permits anybody. It fails where something may be
// permitted in a way that it does not know.
func grants(t *testing.T, stack template) (all []grant) {
	t.Helper()
	for id, r := range stack.Resources {
		of := named(id, r)
		add := func(policy string, document any) {
			for _, s := range document.(map[string]any)["Statement"].([]any) {
				all = append(all, grant{of, policy, written(s).(map[string]any)})
			}
		}
		switch r.Type {
		case "AWS::IAM::Role":
			require.Subset(t, []string{"RoleName", "Description", "Tags", "AssumeRolePolicyDocument", "Policies", "ManagedPolicyArns"},
				slices.Collect(maps.Keys(r.Properties)), id)
			add("trust", r.Properties["AssumeRolePolicyDocument"])
			inline, _ := r.Properties["Policies"].([]any)
			for _, p := range inline {
				policy := p.(map[string]any)
				add(policy["PolicyName"].(string), policy["PolicyDocument"])
			}
			managed, _ := r.Properties["ManagedPolicyArns"].([]any)
			for _, arn := range managed {
				all = append(all, grant{of, "managed", map[string]any{"Arn": written(arn)}})
			}
		case "AWS::KMS::Key":
			add("key policy", r.Properties["KeyPolicy"])
		case "AWS::SNS::TopicPolicy":
			add("topic policy", r.Properties["PolicyDocument"])
		case "AWS::SQS::QueuePolicy":
			add("queue policy", r.Properties["PolicyDocument"])
		case "AWS::S3::BucketPolicy":
			add("bucket policy", r.Properties["PolicyDocument"])
		case "AWS::ApplicationAutoScaling::ScalingPolicy": // It permits nothing.
		case "AWS::Lambda::Permission":
			all = append(all, grant{of, "permission", written(r.Properties).(map[string]any)})
		default:
			require.NotContains(t, r.Type, "::IAM::", id)
			require.NotRegexp(t, `Policy$|Permission$`, r.Type, id)
			require.NotContains(t, plain(t, r.Properties), `"Effect"`, id)
		}
	}
	return all
}

// digest is what the CDK ends an id with.
var digest = regexp.MustCompile(`[0-9A-F]{8}$`)

// named is the name that a resource was given, or else its id.
func named(id string, r resource) string {
	if name, ok := r.Properties["RoleName"].(string); ok {
		return name
	}
	return digest.ReplaceAllString(id, "")
}

// inEurope is what is said of us, as it has to be said of eu.
func inEurope(lines []string) []string {
	there := strings.NewReplacer("ectern-us", "ectern-eu", "ectern/us", "ectern/eu", "us-east-1", "eu-central-1", "us-west-2", "eu-west-1",
		"us-east-2", "eu-west-1", "us.amazon", "eu.amazon", ":us-*:", ":eu-*:",
		"certificate/1", "certificate/2")
	all := make([]string, len(lines))
	for i, line := range lines {
		all[i] = there.Replace(line)
	}
	return all
}

// permitted tells in lines all that a region's stacks permit.
func permitted(t *testing.T, title, at string, all map[string]template) (lines []string) {
	t.Helper()
	for _, name := range []string{"Lectern-" + at + "-Service", "Lectern-" + at + "-State"} {
		for _, g := range grants(t, all[name]) {
			lines = append(lines, title+"\t"+g.of+"\t"+g.policy+"\t"+plain(t, g.statement))
		}
	}
	slices.Sort(lines)
	return lines
}

// Nobody is permitted anything that the file does not say, function or not, in both
// regions alike.
func TestAllThatIsPermittedIsGolden(t *testing.T) {
	lines := slices.Concat(permitted(t, "defaults", "us", ofDefaults(t)), permitted(t, "everything", "us", ofEverything(t)))
	golden(t, "policies.golden.txt", lines)
	eu := slices.Concat(permitted(t, "defaults", "eu", ofDefaults(t)), permitted(t, "everything", "eu", ofEverything(t)))
	require.Equal(t, inEurope(lines), eu)
}

// wildcards are what a statement allows by a wildcard, in the words of cdk-nag.
func wildcards(t *testing.T, s map[string]any) (found []string) {
	t.Helper()
	if s["Effect"] != "Allow" {
		return nil
	}
	for _, kind := range []string{"Action", "Resource"} {
		for _, value := range many(s[kind]) {
			if text, _ := value.(string); strings.Contains(text, "*") {
				found = append(found, kind+"::"+regexp.MustCompile(`\$\{([^}]+)\}`).ReplaceAllString(text, "<$1>"))
			}
		}
		require.NotContains(t, s, "Not"+kind)
	}
	return found
}

// unexplained are the wildcards of a stack that nobody has given a reason for.
func unexplained(t *testing.T, stack template) (found []string) {
	t.Helper()
	reasons := map[string]string{}
	for id, r := range stack.Resources {
		noted, _ := r.Metadata["cdk_nag"].(map[string]any)
		rules, _ := noted["rules_to_suppress"].([]any)
		for _, one := range rules {
			rule := one.(map[string]any)
			for _, finding := range many(rule["applies_to"]) {
				if text, ok := finding.(string); ok && rule["id"] == ruleWildcards {
					reasons[named(id, r)+" "+text], _ = rule["reason"].(string)
				}
			}
		}
	}
	for _, g := range grants(t, stack) {
		for _, wildcard := range wildcards(t, g.statement) {
			// A key's own policy speaks of the key alone, to the account that has it.
			if reasons[g.of+" "+wildcard] == "" && g.policy != "key policy" {
				found = append(found, g.of+" "+wildcard)
			}
		}
	}
	return found
}

func TestNoWildcardIsWithoutAReason(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		for name, stack := range all {
			require.Empty(t, unexplained(t, stack), name)
		}
	}
}

// A reason is for the wildcard that it names and for no other.
func TestAWildcardWithoutAReasonIsFound(t *testing.T) {
	statement := func(effect, action, on string) any {
		return map[string]any{"Effect": effect, "Action": action, "Resource": on}
	}
	role := resource{Type: "AWS::IAM::Role", Properties: map[string]any{
		"RoleName":                 "r",
		"AssumeRolePolicyDocument": map[string]any{"Statement": []any{}},
		"Policies": []any{map[string]any{"PolicyName": "p", "PolicyDocument": map[string]any{"Statement": []any{
			statement("Allow", "a:B", "arn:c/*"), statement("Allow", "a:Get*", "arn:d"), statement("Deny", "*", "*"), statement("Allow", "a:B", "*"),
		}}}},
	}, Metadata: map[string]any{"cdk_nag": map[string]any{"rules_to_suppress": []any{
		map[string]any{"id": ruleWildcards, "reason": "so", "applies_to": []any{"Resource::arn:c/*"}},
		map[string]any{"id": ruleWildcards, "reason": "all"},
		map[string]any{"id": "AwsSolutions-IAM4", "reason": "so", "applies_to": []any{"Resource::*"}},
	}}}}
	require.Equal(t, []string{"r Action::a:Get*", "r Resource::*"}, unexplained(t, template{Resources: map[string]resource{"R": role}}))
}

// What a rule finds is mended, or accepted beside the resource with a reason.
func TestTheRulesOfCdkNagAreKept(t *testing.T) {
	for name, context := range map[string]map[string]any{"defaults": {"regions": "us"}, "everything": everything(t), "uploads": uploading(t)} {
		app := appOf(t, context)
		awscdk.Aspects_Of(app).Add(cdknag.NewAwsSolutionsChecks(&cdknag.NagPackProps{
			Verbose: jsii.Bool(true), Reports: jsii.Bool(false),
		}), nil)
		for _, child := range *app.Node().Children() {
			stack, ok := child.(awscdk.Stack)
			if !ok || !strings.HasPrefix(*stack.StackName(), "Lectern-") {
				continue
			}
			notes, all := assertions.Annotations_FromStack(stack), assertions.Match_StringLikeRegexp(jsii.String(".*"))
			require.NotPanics(t, func() { notes.HasNoError(jsii.String("*"), all) }, name)
			require.NotPanics(t, func() { notes.HasNoWarning(jsii.String("*"), all) }, name)
		}
	}
}
