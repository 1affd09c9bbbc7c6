package emulator

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"lectern/localstack/cloud/target"
	"lectern/localstack/local/stack"
)

// account is the number of an emulator's account; appProgram is the app of cdk.json.
const (
	account    = "000000000000"
	appProgram = "bin/infra"
)

// App is the CDK app to deploy to an emulator.
type App struct {
	// Root is the project's folder, with cdk.json, bin/infra, infra/node_modules and the
	// functions in dist.
	Root string
	// Program is the app's binary; empty means bin/infra, as in cdk.json.
	Program string
	// EveryOption deploys with every option of infra/testdata/everything.json.
	EveryOption bool
	// Out is the folder for templates and outputs.
	Out string
	// Functions is the folder of the functions' binaries; empty means the project's binaries
	// for this machine, because an emulator runs functions on this machine.
	Functions string
	// Log gets the output of the tools.
	Log io.Writer
}

// Bootstrap prepares the account for the app, in both regions.
func (e *Emulator) Bootstrap(ctx context.Context, a App) error {
	assembly, err := a.synth(ctx, e.URL)
	if err != nil {
		return err
	}
	args := []string{"bootstrap", "--app", assembly}
	for _, region := range slices.Sorted(maps.Keys(stack.Regions)) {
		args = append(args, "aws://"+account+"/"+stack.Regions[region])
	}
	if err := a.cdk(ctx, e.URL, args...); err != nil {
		return err
	}
	return e.openBuckets(ctx, staging)
}

// Deploy deploys all stacks of both regions and returns the addresses. An emulator changes the
// address of an API with every deployment.
func (e *Emulator) Deploy(ctx context.Context, a App) (target.Regions, error) {
	assembly, err := a.synth(ctx, e.URL)
	if err != nil {
		return nil, err
	}
	outputs := filepath.Join(a.Out, "outputs.json")
	args := []string{"deploy", "--app", assembly, "--all", "--progress", "events", "--require-approval", "never", "--outputs-file", outputs}
	if err := a.cdk(ctx, e.URL, args...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(outputs) //nolint:gosec // written just now
	if err != nil {
		return nil, fmt.Errorf("emulator: %w", err)
	}
	var deployed map[string]map[string]string
	if err := json.Unmarshal(text, &deployed); err != nil {
		return nil, fmt.Errorf("emulator: %s: %w", outputs, err)
	}
	if err := e.openBuckets(ctx, files); err != nil {
		return nil, err
	}
	regions := target.Regions{}
	for region, aws := range stack.Regions {
		service := deployed["Lectern-"+region+"-Service"]
		regions[region] = target.Region{
			URL:      e.URL + "/restapis/" + service["ApiId"] + "/" + service["Stage"] + "/_user_request_",
			Operator: service["Operator"], Table: service["Table"], AWSRegion: aws, Endpoint: e.URL,
		}
		if err := e.expire(ctx, regions[region]); err != nil {
			return nil, err
		}
	}
	return regions, nil
}

// synth writes the app's templates for the emulator and returns their folder. At the end of ctx
// the app ends by itself within seconds.
func (a App) synth(ctx context.Context, endpoint string) (folder string, err error) {
	folder = filepath.Join(a.Out, "cdk.out")
	arch := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	values, err := a.context(endpoint, arch, cmp.Or(a.Functions, filepath.Join(a.Root, stack.Binaries())))
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return "", fmt.Errorf("emulator: %w", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return "", fmt.Errorf("emulator: %w", err)
	}
	cmd := exec.CommandContext(ctx, cmp.Or(a.Program, filepath.Join(a.Root, appProgram))) //nolint:gosec // the project's own app
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.Root, a.Log, a.Log
	cmd.Env = append(plain(), "CDK_OUTDIR="+folder, "CDK_CONTEXT_JSON="+string(text))
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("emulator: synthesize: %w", err)
	}
	return folder, strip(folder, Lacking)
}

// cdk runs the pinned CDK against the emulator. At the end of ctx the CDK is killed.
func (a App) cdk(ctx context.Context, endpoint string, args ...string) error {
	all := []string{filepath.Join(a.Root, "infra/node_modules/aws-cdk/bin/cdk"), "--no-notices"}
	cmd := exec.CommandContext(ctx, "node", append(all, args...)...) //nolint:gosec // the project's own tool
	cmd.Dir, cmd.Stdout, cmd.Stderr = a.Root, a.Log, a.Log
	cmd.Env = append(plain(), "AWS_ENDPOINT_URL="+endpoint, "AWS_ENDPOINT_URL_S3="+endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID="+target.Key, "AWS_SECRET_ACCESS_KEY="+target.Key, "AWS_EC2_METADATA_DISABLED=true",
		"AWS_CONFIG_FILE="+os.DevNull, "AWS_SHARED_CREDENTIALS_FILE="+os.DevNull,
		"CDK_DISABLE_CLI_TELEMETRY=true", "CDK_DISABLE_VERSION_CHECK=true", "CDK_VALIDATION=false")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("emulator: cdk %s: %w", args[0], err)
	}
	return nil
}
