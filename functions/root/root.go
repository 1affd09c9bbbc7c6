// Package root is the group of routes without a tag: the entry, the OpenAPI document, the
// reference page and the health check. It also answers methods and paths that no group has.
package root

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
)

// document is the golden copy of the OpenAPI document. A test of package functions compares and
// writes it.
//
//go:embed openapi.json
var document []byte

// assets has the script of the reference page, if the build has fetched the script.
//
//go:embed assets
var assets embed.FS

// scalarScript is the compressed script of the reference page, Scalar.
const scalarScript = "assets/scalar.js.gz"

// Group declares the routes of the group.
var Group = group()

func group() api.Group {
	g := api.NewGroup("Root", start, []api.Route[service]{
		api.Get("getEntry", "/", (*service).entry, auth.Public, api.Hidden),
		api.Get("getDocument", "/openapi.json", (*service).document, auth.Public, api.Hidden, api.ClientCache),
		api.Get("getReference", "/docs", (*service).reference, auth.Public, api.Hidden),
		api.Get("getReferenceScript", "/docs/scalar.js", (*service).script, auth.Public, api.Hidden, api.ClientCache),
		api.Get("getHealth", "/health", (*service).health, auth.Public, api.Hidden),
	})
	g.OtherRoutes = documented
	return g
}

// documented lists the methods and paths of the document.
func documented() (all []api.Operation) {
	var described struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(document, &described); err != nil {
		panic("root: openapi.json: " + err.Error())
	}
	for path, methods := range described.Paths {
		for method := range methods {
			all = append(all, api.Operation{Method: strings.ToUpper(method), Path: path})
		}
	}
	return all
}

type service struct {
	region string
	files  fs.FS
}

func start(env api.Env) *service { return &service{region: env.Region, files: assets} }

type entry struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	Region        string `json:"region"`
	Description   string `json:"description"`
	Documentation string `json:"documentation"`
}

// entry returns the name of the service and the paths of its description. A relative path would
// be wrong here, since the address of the entry may end without a slash.
func (s *service) entry(ctx context.Context, _ *struct{}) (*entry, error) {
	below := api.BasePath(ctx)
	return &entry{
		Name: "Lectern", Version: "1.0", Region: s.region,
		Description: below + "/openapi.json", Documentation: below + "/docs",
	}, nil
}

// document returns the OpenAPI document with the addresses of the caller.
func (*service) document(ctx context.Context, _ *struct{}) (*api.File, error) {
	return &api.File{Type: "application/json", Body: documentBelow(api.BasePath(ctx))}, nil
}

// documentBelow returns the document with the base path before its addresses: the server, and the
// endpoints of OAuth, which clients resolve from the host and not from the server.
func documentBelow(path string) []byte {
	if path == "" {
		return document
	}
	// No text of the document contains these, because a quote inside a text is escaped. The name
	// of a stage (infra/config) needs no escape.
	below := bytes.ReplaceAll(document, []byte(`"url": "/"`), []byte(`"url": "`+path+`"`))
	return bytes.ReplaceAll(below, []byte(`Url": "/`), []byte(`Url": "`+path+`/`))
}

type health struct {
	Status string `json:"status"`
}

// health always returns ok. It does not check the table.
func (*service) health(context.Context, *struct{}) (*health, error) {
	return &health{Status: "ok"}, nil
}

// startScript starts Scalar. Scalar must not use other services: no fonts, no telemetry, no proxy
// and no assistant.
const startScript = `Scalar.createApiReference('#reference', {
  url: document.getElementById('reference').dataset.document, withDefaultFonts: false, telemetry: false, agent: { disabled: true },
  showDeveloperTools: 'never', hideClientButton: true, persistAuth: false
})`

// base stands in a page for the base path of the caller's address.
const base = "{base}"

// page begins each address with base. An address relative to the page would be wrong at
// /docs/, which is the same page as /docs.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Lectern API reference</title>
</head>
<body>
<div id="reference" data-document="{base}/openapi.json"></div>
<script src="{base}/docs/scalar.js"></script>
<script>` + startScript + `</script>
</body>
</html>
`

const missing = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Lectern API reference</title></head>
<body>
<h1>The reference page is not part of this build</h1>
<p>Its script is fetched by <code>make setup</code>; build again after that.
The description itself is at <a href="{base}/openapi.json">openapi.json</a>.</p>
</body>
</html>
`

// policy returns a Content-Security-Policy that allows only the two scripts of the page and
// requests to this service. Scalar compiles templates and writes styles, so the policy allows
// both.
func policy() string {
	sum := sha256.Sum256([]byte(startScript))
	return "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; connect-src 'self'; " +
		"img-src 'self' data:; font-src 'self' data:; style-src 'self' 'unsafe-inline'; " +
		"script-src 'self' 'unsafe-eval' 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// reference returns the reference page, or another page if the build has no script.
func (s *service) reference(ctx context.Context, _ *struct{}) (*api.File, error) {
	text := page
	if _, err := fs.Stat(s.files, scalarScript); err != nil {
		text = missing
	}
	body := strings.ReplaceAll(text, base, api.BasePath(ctx))
	return &api.File{Type: "text/html; charset=utf-8", Body: []byte(body), Policy: policy()}, nil
}

// script returns the script of the reference page.
func (s *service) script(context.Context, *struct{}) (*api.File, error) {
	body, err := fs.ReadFile(s.files, scalarScript)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, apierr.NotFound("Script")
	}
	return &api.File{Type: "text/javascript; charset=utf-8", Body: body, Gzipped: true}, err
}
