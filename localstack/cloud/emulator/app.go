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

// account is the number of an emulator's account.
const account = "000000000000"

// App is the CDK app to deploy to an emulator.
type App struct {
	// Root is the project's folder, with cdk.json, bin/infra, infra/node_modules and the
	// functions in dist.
	Root string
	// Program is the app's binary; empty means the binary of cdk.json.
	Program string
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
	args := []string{"bootstrap"}
	for _, region := range slices.Sorted(maps.Keys(stack.Regions)) {
		args = append(args, "aws://"+account+"/"+stack.Regions[region])
	}
	if err := a.cdk(ctx, e.URL, args...); err != nil {
		return err
	}
	return e.openStaging(ctx)
}

// Deploy deploys all stacks of both regions and returns the addresses. An emulator changes the
// address of an API with every deployment.
func (e *Emulator) Deploy(ctx context.Context, a App) (target.Regions, error) {
	outputs := filepath.Join(a.Out, "outputs.json")
	args := []string{"deploy", "--all", "--progress", "events", "--require-approval", "never", "--outputs-file", outputs}
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

// cdk runs the pinned CDK with the project's app against the emulator. At the end of ctx the
// CDK is killed, and the app ends by itself within seconds.
func (a App) cdk(ctx context.Context, endpoint string, args ...string) error {
	context := map[string]string{
		"endpoint": endpoint, "arch": map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH],
		"functions": cmp.Or(a.Functions, filepath.Join(a.Root, stack.Binaries())),
	}
	all := []string{filepath.Join(a.Root, "infra/node_modules/aws-cdk/bin/cdk"), "--no-notices",
		"--output", filepath.Join(a.Out, "cdk.out")}
	if a.Program != "" {
		all = append(all, "--app", a.Program)
	}
	for _, name := range slices.Sorted(maps.Keys(context)) {
		all = append(all, "--context", name+"="+context[name])
	}
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
