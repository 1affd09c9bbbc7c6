package main

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
	"github.com/stretchr/testify/require"

	"lectern/events"
	"lectern/functions"
	"lectern/infra/config"
	"lectern/infra/function"
)

// scratch is where the tests' templates and stand-ins for binaries are.
var scratch string

// TestMain shares one runtime of the CDK between the tests. The CDK's own check of
// templates is off, since it takes ten times the rest and cfn-lint checks more.
func TestMain(m *testing.M) {
	defer jsii.Close()
	var err error
	if scratch, err = os.MkdirTemp("", "lectern-infra"); err != nil {
		panic(err)
	}
	defer os.RemoveAll(scratch)
	if err := os.Setenv("CDK_VALIDATION", "false"); err != nil {
		panic(err)
	}
	m.Run()
}

// template is a stack as CloudFormation gets it.
type template struct {
	Parameters map[string]map[string]any
	Resources  map[string]resource
	Outputs    map[string]struct {
		Value  any
		Export any
	}
	text string
	// tags are the stack's own.
	tags map[string]*string
}

type resource struct {
	Type                string
	Properties          map[string]any
	Metadata            map[string]any
	DeletionPolicy      string
	UpdateReplacePolicy string
	DependsOn           []string
}

// of gives the stack's resources of a type, by their ids.
func (t template) of(kind string) map[string]resource {
	all := map[string]resource{}
	for id, r := range t.Resources {
		if r.Type == kind {
			all[id] = r
		}
	}
	return all
}

// one gives the only resource of a type.
func (t template) one(test *testing.T, kind string) resource {
	test.Helper()
	return t.Resources[t.id(test, kind)]
}

// id gives the id of the only resource of a type.
func (t template) id(test *testing.T, kind string) string {
	test.Helper()
	all := t.of(kind)
	require.Len(test, all, 1, kind)
	return slices.Collect(maps.Keys(all))[0]
}

// logical gives the id of the resource of a type with a property.
func (t template) logical(test *testing.T, kind, property string, value any) string {
	test.Helper()
	for id, r := range t.of(kind) {
		if r.Properties[property] == value {
			return id
		}
	}
	require.Fail(test, "no such resource", "%s %v", kind, value)
	return ""
}

// standIns is a folder with a stand-in for the binary of every function. None is run.
var standIns = sync.OnceValues(func() (string, error) {
	dist := filepath.Join(scratch, "dist")
	var err error
	for _, arch := range goarch {
		for _, name := range functions.Names() {
			err = errors.Join(err, standIn(filepath.Join(dist, "linux-"+arch), name, arch+" "+name))
		}
		err = errors.Join(err, standIn(filepath.Join(dist, "linux-"+arch), "uploads", arch),
			os.WriteFile(filepath.Join(dist, "linux-"+arch, "uploads", "Dockerfile"), []byte("FROM scratch\n"), 0o644))
	}
	return dist, err
})

// standIn writes a stand-in for the binary of a function.
func standIn(dist, name, text string) error {
	binary := filepath.Join(dist, name, "bootstrap")
	if err := os.MkdirAll(filepath.Dir(binary), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(binary, []byte(text), 0o755); err != nil {
		return err
	}
	return os.Chmod(binary, 0o755) // Whatever the umask.
}

// newApp gives an app with the feature flags of cdk.json and nothing else.
func newApp(t *testing.T) awscdk.App {
	t.Helper()
	flags := flagsOf(t)
	return awscdk.NewApp(&awscdk.AppProps{Outdir: jsii.String(t.TempDir()), AnalyticsReporting: jsii.Bool(false), Context: &flags})
}

// declared has what the service declares.
var declared = declarations{functions.Groups, events.Workers, events.Rules}

// appOf describes the app with a context, which need not be sound on AWS.
func appOf(t *testing.T, context map[string]any) awscdk.App {
	t.Helper()
	dist, err := standIns()
	require.NoError(t, err)
	app := newApp(t)
	c, err := config.Read(context)
	require.NoError(t, err)
	require.NoError(t, build(app, c, declared, dist))
	return app
}

// synthesized gives the templates of a context by the names of their stacks.
func synthesized(t *testing.T, context map[string]any) map[string]template {
	t.Helper()
	return readTemplates(t, appOf(t, context))
}

// readTemplates gives the templates of an app by the names of their stacks.
func readTemplates(t *testing.T, app awscdk.App) map[string]template {
	t.Helper()
	all := map[string]template{}
	for _, stack := range *app.Synth(nil).Stacks() {
		text, err := json.Marshal(stack.Template())
		require.NoError(t, err)
		var made template
		require.NoError(t, json.Unmarshal(text, &made))
		made.text, made.tags = string(text), *stack.Tags()
		all[*stack.StackName()] = made
	}
	return all
}

// templates are the templates of a context, which are synthesized once for all tests.
type templates struct {
	once sync.Once
	made map[string]template
}

// of gives the templates.
func (s *templates) of(t *testing.T, context func(*testing.T) map[string]any) map[string]template {
	t.Helper()
	s.once.Do(func() { s.made = synthesized(t, context(t)) })
	require.NotEmpty(t, s.made)
	return s.made
}

// contextOf gives the context of a file in testdata.
func contextOf(t *testing.T, file string) (context map[string]any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &context))
	return context
}

// nothing is a context in which nothing is set.
func nothing(*testing.T) map[string]any { return map[string]any{} }

// everything is a context in which every option is on, which .ci/templates uses too.
func everything(t *testing.T) map[string]any {
	t.Helper()
	return contextOf(t, "everything.json")
}

var withDefaults, withEverything templates

// ofDefaults gives the templates of a context in which nothing is set.
func ofDefaults(t *testing.T) map[string]template {
	t.Helper()
	return withDefaults.of(t, nothing)
}

// ofEverything gives the templates of everything.
func ofEverything(t *testing.T) map[string]template {
	t.Helper()
	return withEverything.of(t, everything)
}

// many gives a value that may be one or several as several.
func many(value any) []any {
	if all, ok := value.([]any); ok {
		return all
	}
	return []any{value}
}

// plain is a value of a template as JSON.
func plain(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}

// inAWS has the default region of AWS by region.
var inAWS = map[string]string{"us": "us-east-1", "eu": "eu-central-1"}

func TestTheFourStacksHaveTheirOutputs(t *testing.T) {
	all := ofDefaults(t)
	require.Len(t, all, 4)
	for _, at := range []string{"us", "eu"} {
		state, service := all["Lectern-"+at+"-State"], all["Lectern-"+at+"-Service"]
		require.Equal(t, []string{"Table"}, slices.Sorted(maps.Keys(state.Outputs)))
		require.Equal(t, []string{"Address", "ApiId", "Operator", "Region", "Stage", "Table"}, slices.Sorted(maps.Keys(service.Outputs)))
		require.Equal(t, "lectern-"+at+"-operator", service.Outputs["Operator"].Value)
		require.Equal(t, "live", service.Outputs["Stage"].Value)
		require.Equal(t, "lectern-"+at, service.Outputs["Table"].Value)
		require.Equal(t, inAWS[at], service.Outputs["Region"].Value)
		require.Regexp(t, `^\$\{Api[0-9A-F]{8}\}$`, written(service.Outputs["ApiId"].Value))
		require.Equal(t, "https://"+written(service.Outputs["ApiId"].Value).(string)+".execute-api."+inAWS[at]+".${AWS::URLSuffix}/live",
			written(service.Outputs["Address"].Value))
	}
}

// A stack is limited to 500 resources and a million bytes. What later groups bring
// has to fit too. Alarms of each function are most of what every option adds.
func TestNoStackComesNearTheLimits(t *testing.T) {
	for _, all := range []map[string]template{ofDefaults(t), ofEverything(t)} {
		for name, stack := range all {
			require.LessOrEqual(t, len(stack.Resources), mostResources, name)
			require.Less(t, len(stack.text), 800_000, name)
		}
	}
}

func TestRegionsShareNothing(t *testing.T) {
	others := map[string][]string{
		"us": {"eu-central-1", "lectern-eu", "/lectern/eu", "Lectern-eu", "Lectern/eu"},
		"eu": {"us-east-1", "lectern-us", "/lectern/us", "Lectern-us", "Lectern/us"},
	}
	for name, stack := range ofDefaults(t) {
		for _, other := range others[strings.Split(name, "-")[1]] {
			require.NotContains(t, stack.text, other, name)
		}
		require.NotContains(t, stack.text, "Fn::ImportValue", name)
		for output, o := range stack.Outputs {
			require.Nil(t, o.Export, "%s %s", name, output)
		}
	}
}

func TestOneRegionAloneIsTheSameAsBesideTheOther(t *testing.T) {
	alone := synthesized(t, map[string]any{"regions": "eu"})
	require.Len(t, alone, 2)
	for name, stack := range alone {
		require.Equal(t, ofDefaults(t)[name].text, stack.text, name)
	}
}

func TestAFunctionThatIsNotBuiltIsNamed(t *testing.T) {
	all, err := function.Specs(functions.Groups)
	require.NoError(t, err)
	err = checkBinaries(t.TempDir(), all)
	for _, f := range all {
		require.ErrorContains(t, err, "infra: "+f.Name+" is not built")
	}
}

// The package of a function has the mode of the file, and Lambda starts the file as a user
// who does not own it.
func TestAFunctionThatOthersCannotStartIsNamed(t *testing.T) {
	folder := t.TempDir()
	binary := filepath.Join(folder, "root", "bootstrap")
	require.NoError(t, os.Mkdir(filepath.Dir(binary), 0o755))
	require.NoError(t, os.WriteFile(binary, nil, 0o700))
	specs := []function.Spec{{Worker: events.Worker{Name: "root"}}}
	for _, mode := range []os.FileMode{0o700, 0o750, 0o744, 0o711, 0o644} {
		require.NoError(t, os.Chmod(binary, mode))
		require.ErrorContains(t, checkBinaries(folder, specs), "infra: root cannot be started by every user", mode)
	}
	require.NoError(t, os.Chmod(binary, 0o755))
	require.NoError(t, checkBinaries(folder, specs))
}

func TestTagsAreOnEveryKindOfResource(t *testing.T) {
	for _, stack := range ofEverything(t) {
		require.Equal(t, map[string]*string{"team": jsii.String("programme")}, stack.tags)
		for id, r := range stack.Resources {
			switch r.Type {
			case "AWS::DynamoDB::Table", "AWS::KMS::Key", "AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Logs::LogGroup",
				"AWS::ApiGateway::RestApi", "AWS::S3::Bucket":
				require.Contains(t, plain(t, r.Properties["Tags"]), `{"Key":"team","Value":"programme"}`, id)
			}
		}
	}
}
