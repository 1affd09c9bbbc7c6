package deploytest_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/emulator"
	"lectern/localstack/cloud/target"
)

// TestTheEmulatorStillRefusesWhatIsLeftOutForIt: a type that the emulator has learned goes from
// the list, and is deployed again.
func TestTheEmulatorStillRefusesWhatIsLeftOutForIt(t *testing.T) {
	regions, err := target.Emulated()
	require.NoError(t, err)
	for _, kind := range emulator.Lacking {
		status, answer := createStack(t, regions["us"], fmt.Sprintf(`{"Resources": {"Only": {"Type": %q}}}`, kind))
		require.Equal(t, http.StatusBadRequest, status, "the emulator has %s now: take it from emulator.Lacking: %s", kind, answer)
		require.Contains(t, answer, "Unrecognized resource types: ["+kind+"]")
	}
}

// createStack asks CloudFormation for a stack of a template and returns the answer.
func createStack(t *testing.T, region target.Region, template string) (status int, answer string) {
	t.Helper()
	form := url.Values{"Action": {"CreateStack"}, "Version": {"2010-05-15"}, "StackName": {"Lacking"}, "TemplateBody": {template}}.Encode()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, region.Endpoint, strings.NewReader(form))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	hash := sha256.Sum256([]byte(form))
	key := aws.Credentials{AccessKeyID: target.Key, SecretAccessKey: target.Key}
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), key, request, hex.EncodeToString(hash[:]), "cloudformation", region.AWSRegion, time.Now()))
	got, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer got.Body.Close()
	text, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	return got.StatusCode, string(text)
}
