package smoke

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"lectern/localstack/local/stack"
	"lectern/shared/auth"
)

// maxSkew is the largest difference between the clocks of the API and of this machine.
const maxSkew = 5 * time.Second

// latency measures the first answer of a function, and the median of the next answers.
func (r *run) latency(ctx context.Context) (string, error) {
	const repeats = 11
	times := make([]time.Duration, repeats)
	for i := range times {
		a, err := r.expect(ctx, http.StatusOK, r.post(r.at("/sessions"), object{}))
		if err != nil {
			return "", err
		}
		times[i], r.lastRequest, r.lastAnswer = a.took, a.header.Get("X-Request-Id"), time.Now()
	}
	rest := slices.Sorted(slices.Values(times[1:]))
	return fmt.Sprintf("the first search took %d ms (cold, if no instance was running), the median of the next %d is %d ms",
		times[0].Milliseconds(), len(rest), rest[len(rest)/2].Milliseconds()), nil
}

// health checks the health answer.
func (r *run) health(ctx context.Context) (string, error) {
	a, err := r.expect(ctx, http.StatusOK, call{method: http.MethodGet, path: "/health"})
	if err != nil {
		return "", err
	}
	var health struct{ Status string }
	if err := a.into(&health); err != nil || health.Status != "ok" {
		return "", errors.Join(err, fmt.Errorf("the status is %q", health.Status))
	}
	return health.Status, nil
}

// links follows the links of the entry.
func (r *run) links(ctx context.Context) (string, error) {
	a, err := r.expect(ctx, http.StatusOK, call{method: http.MethodGet, path: "/"})
	if err != nil {
		return "", err
	}
	var entry struct{ Region, Description, Documentation string }
	if err := a.into(&entry); err != nil {
		return "", err
	}
	if entry.Region != r.Made.At.Name {
		return "", fmt.Errorf("the entry names the region %q", entry.Region)
	}
	var document struct{ Servers []struct{ URL string } }
	for _, link := range []string{entry.Documentation, entry.Description} {
		if a, err = r.follow(ctx, link); err != nil {
			return "", err
		}
		if a.status != http.StatusOK {
			return "", fmt.Errorf("the link %s leads to %s", link, a.seen())
		}
	}
	if err := a.into(&document); err != nil || len(document.Servers) != 1 {
		return "", errors.Join(err, errors.New("the document does not name one server"))
	}
	health := strings.TrimSuffix(document.Servers[0].URL, "/") + "/health"
	if a, err = r.follow(ctx, health); err != nil || a.status != http.StatusOK {
		return "", errors.Join(err, fmt.Errorf("the document's server leads to %s", a.seen()))
	}
	return strings.Join([]string{entry.Description, entry.Documentation, health}, ", ") + " answer", nil
}

// outside prints the answer to a path outside of the stage, which comes from AWS itself. The first part
// of the path is no name of a stage: a stage may be called v1.
func (r *run) outside(ctx context.Context) (string, error) {
	base, err := url.Parse(r.Region.URL)
	if err != nil {
		return "", err
	}
	if strings.Trim(base.Path, "/") == "" {
		return "", leftOut("the API is at the root of its host")
	}
	a, err := r.follow(ctx, "/-/v1/events")
	if err != nil {
		return "", err
	}
	if a.status != http.StatusForbidden {
		return "", fmt.Errorf("docs/deploying.md names a 403; the answer is %s", a.seen())
	}
	return a.seen(), nil
}

// clock compares the header Date with the clock of this machine.
func (r *run) clock(ctx context.Context) (string, error) {
	a, err := r.expect(ctx, http.StatusOK, call{method: http.MethodGet, path: "/health"})
	if err != nil {
		return "", err
	}
	date, err := http.ParseTime(a.header.Get("Date"))
	if err != nil {
		return "", fmt.Errorf("the header Date is %q: %w", a.header.Get("Date"), err)
	}
	if skew := time.Since(date); skew.Abs() > maxSkew {
		return "", fmt.Errorf("the header Date is %s away from this machine's clock", skew.Round(time.Second))
	}
	return "Date is within " + maxSkew.String() + " of this machine's clock", nil
}

// refused sends a request that the API must refuse with the status and the error's name.
func (r *run) refused(ctx context.Context, status int, name string, c call) (answer, error) {
	a, err := r.expect(ctx, status, c)
	if err == nil {
		err = a.refusal(name)
	}
	return a, err
}

// unknownRoute asks for paths that the API does not have.
func (r *run) unknownRoute(ctx context.Context) (string, error) {
	for _, path := range []string{"/v2/events", "/v1/events//", "/nothing"} {
		if _, err := r.refused(ctx, http.StatusNotFound, "NotFoundError", r.get(path)); err != nil {
			return "", err
		}
	}
	return "404 in the API's shape", nil
}

// missingToken sends no token, and names the header with the challenge: API Gateway renames it.
func (r *run) missingToken(ctx context.Context) (string, error) {
	a, err := r.refused(ctx, http.StatusUnauthorized, "UnauthorizedError", call{method: http.MethodGet, path: "/v1/events"})
	if err != nil {
		return "", err
	}
	for _, name := range []string{"WWW-Authenticate", "X-Amzn-Remapped-Www-Authenticate"} {
		if value := a.header.Get(name); value != "" {
			return fmt.Sprintf("401 with %s: %s", name, value), nil
		}
	}
	return "", errors.New("the 401 has no header with a challenge")
}

// otherRegion sends the token with the name of another region.
func (r *run) otherRegion(ctx context.Context) (string, error) {
	text, err := auth.Parse(auth.FormToken, r.token)
	if err != nil {
		return "", err
	}
	for name := range stack.Regions {
		if name != text.Region {
			text.Region = name
			break
		}
	}
	c := call{method: http.MethodGet, path: "/v1/events", token: text.String()}
	_, err = r.refused(ctx, http.StatusUnauthorized, "UnauthorizedError", c)
	return "a token of " + text.Region + " is refused with 401", err
}

// wrongBody sends a body that is not JSON.
func (r *run) wrongBody(ctx context.Context) (string, error) {
	_, err := r.refused(ctx, http.StatusBadRequest, "ValidationError", r.post(r.at("/sessions/create"), []byte(`{"title": `)))
	return "400 in the API's shape", err
}

// wrongMethod sends a method that the path does not have.
func (r *run) wrongMethod(ctx context.Context) (string, error) {
	a, err := r.refused(ctx, http.StatusMethodNotAllowed, "MethodNotAllowedError", call{method: http.MethodDelete, path: "/v1/events"})
	if err == nil && a.header.Get("Allow") == "" {
		err = errors.New("the 405 has no header Allow")
	}
	return "405 with Allow: " + a.header.Get("Allow"), err
}

// origins sends the preflight request of a script of another origin.
func (r *run) origins(ctx context.Context) (string, error) {
	a, err := r.expect(ctx, http.StatusNoContent, call{method: http.MethodOptions, path: r.at("/sessions"), header: []string{
		"Origin", "https://app.example", "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "x-access-token",
	}})
	if err != nil {
		return "", err
	}
	methods, headers := a.header.Get("Access-Control-Allow-Methods"), a.header.Get("Access-Control-Allow-Headers")
	admitted := strings.Contains(methods, "POST") && strings.Contains(headers, "x-access-token")
	if !admitted || a.header.Get("Access-Control-Allow-Origin") != "*" {
		return "", fmt.Errorf("the preflight request is not admitted: methods %q, headers %q", methods, headers)
	}
	return "204, " + methods, nil
}

// head sends HEAD, whose answer has no body and the ETag of the GET.
func (r *run) head(ctx context.Context) (string, error) {
	got, err := r.expect(ctx, http.StatusOK, r.get("/v1/events"))
	if err != nil {
		return "", err
	}
	head, err := r.expect(ctx, http.StatusOK, call{method: http.MethodHead, path: "/v1/events", token: r.token})
	if err == nil && (len(head.body) > 0 || head.header.Get("ETag") != got.header.Get("ETag")) {
		err = fmt.Errorf("HEAD has %d bytes and the ETag %q, GET the ETag %q", len(head.body), head.header.Get("ETag"), got.header.Get("ETag"))
	}
	return "200 without a body", err
}

// compressed compares the document with and without gzip.
func (r *run) compressed(ctx context.Context) (string, error) {
	plain, err := r.expect(ctx, http.StatusOK, r.get("/openapi.json", "Accept", "*/*"))
	if err != nil {
		return "", err
	}
	packed, err := r.expect(ctx, http.StatusOK, r.get("/openapi.json", "Accept", "*/*", "Accept-Encoding", "gzip"))
	if err != nil {
		return "", err
	}
	if encoding := packed.header.Get("Content-Encoding"); encoding != "gzip" {
		return "", fmt.Errorf("the answer has the Content-Encoding %q", encoding)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed.body))
	if err != nil {
		return "", err
	}
	unpacked, err := io.ReadAll(reader)
	if err == nil && !bytes.Equal(unpacked, plain.body) {
		err = errors.New("the unpacked document is not the plain document")
	}
	return fmt.Sprintf("%d bytes instead of %d", len(packed.body), len(plain.body)), err
}

// Sizes of bodies, around the limits of Lambda and of the gateway.
const (
	mega = 1 << 20
	// fits is for a body that Lambda takes in base64, apiLimit the API's own limit of a bulk,
	// lambdaLimit above Lambda's limit and below that of the gateway, gatewayLimit above both.
	fits, apiLimit, lambdaLimit, gatewayLimit = 4 * mega, 5 * mega, 8 * mega, 10*mega + mega/2
)

// padded sends a bulk of a size without operations. The service itself refuses it with 400.
func (r *run) padded(ctx context.Context, size int) (answer, error) {
	text := `{"unknown": "` + strings.Repeat("x", size-len(`{"unknown": ""}`)) + `"}`
	return r.send(ctx, r.post(r.at("/sessions/bulk"), []byte(text)))
}

// sizeInside sends a body that reaches the function.
func (r *run) sizeInside(ctx context.Context) (string, error) {
	a, err := r.padded(ctx, fits)
	if err != nil {
		return "", err
	}
	if a.status != http.StatusBadRequest {
		return "", fmt.Errorf("4 MB are answered with %s", a.seen())
	}
	return "4 MB reach the function", a.refusal("ValidationError")
}

// sizeOfAPI sends a body of the API's limit, which Lambda probably does not take.
func (r *run) sizeOfAPI(ctx context.Context) (string, error) { return r.tooLarge(ctx, apiLimit) }

// sizeOfLambda sends a body that the gateway takes and Lambda does not.
func (r *run) sizeOfLambda(ctx context.Context) (string, error) { return r.tooLarge(ctx, lambdaLimit) }

// sizeOfGateway sends a body that the gateway does not take.
func (r *run) sizeOfGateway(ctx context.Context) (string, error) {
	return r.tooLarge(ctx, gatewayLimit)
}

// tooLarge prints the answer to a large body. It must be a refusal; which one is not known.
func (r *run) tooLarge(ctx context.Context, size int) (string, error) {
	a, err := r.padded(ctx, size)
	if err != nil {
		return "", err
	}
	if a.status < 400 || a.status > 499 {
		return "", fmt.Errorf("%d bytes are answered with %s", size, a.seen())
	}
	return fmt.Sprintf("%d bytes are answered with %s", size, a.seen()), nil
}
