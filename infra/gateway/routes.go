package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lectern/infra/config"
	"lectern/shared/api"
)

// methods lists every method that the gateway knows. Each path declares all of them: the
// gateway refuses a missing method with an answer of its own.
var methods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost, http.MethodPut,
}

// root is the group for every method and path that no group declares.
const root = "root"

// rest is the gateway's pattern for every other path.
const rest = "/{proxy+}"

// routes maps a path and a method to a group.
type routes map[string]map[string]string

// routesOf returns the routes of the groups, the same as in the door of
// localstack/local/stack.
func routesOf(groups []api.Group) routes {
	all := routes{}
	all.path("/")
	all.path(rest)
	for _, g := range groups {
		for _, op := range g.Operations {
			for _, method := range op.Methods() {
				all.path(op.Path)[method] = g.Name
			}
		}
	}
	return all
}

// path returns the methods of a path, at first all of root.
func (r routes) path(path string) map[string]string {
	if r[path] == nil {
		r[path] = map[string]string{}
		for _, method := range methods {
			r[path][method] = root
		}
	}
	return r[path]
}

// allMedia lets the gateway pass bodies and answers unchanged, compressed bodies too.
const allMedia = "*/*"

// document returns the description that the gateway imports: for each method of a path the
// function to invoke, and the gateway's own answers. An import replaces the whole API, so
// the description also repeats the properties beside routes. uris has the address of each
// group's function.
func document(at config.Region, groups []api.Group, uris map[string]any) map[string]any {
	paths := map[string]any{}
	connected := connectedOf(groups)
	for path, to := range routesOf(groups) {
		operations := map[string]any{}
		for method, group := range to {
			described := map[string]any{
				"responses": map[string]any{},
				"x-amazon-apigateway-integration": map[string]any{
					"type": "aws_proxy", "httpMethod": http.MethodPost, "uri": uris[group],
				},
			}
			if slices.Contains(connected, method+" "+path) {
				described["security"] = []any{map[string]any{authorizer: []any{}}}
			}
			operations[strings.ToLower(method)] = described
		}
		paths[path] = operations
	}
	return map[string]any{
		"openapi": "3.0.1",
		"info":    map[string]any{"title": at.Prefix(), "description": "The API of Lectern " + at.Name, "version": "1.0"},
		"paths":   paths,

		"x-amazon-apigateway-binary-media-types": []string{allMedia},
		"x-amazon-apigateway-gateway-responses":  answers(at),
		"components":                             map[string]any{"securitySchemes": map[string]any{authorizer: asking(uris[asked])}},
	}
}

// authorizer names the authorizer of the operations of applications in the description.
const authorizer = "application"

// asked is the function of the authorizer, that of the operations of applications.
const asked = "mcp"

// asking describes the authorizer, a function that allows every token (api.Serve). Without the header Authorization the gateway does not
// ask, and answers 401 itself: only then does WWW-Authenticate keep the name, and an assistant finds the sign-in there.
func asking(uri any) map[string]any {
	return map[string]any{
		"type": "apiKey", "name": "Authorization", "in": "header", "x-amazon-apigateway-authtype": "custom",
		"x-amazon-apigateway-authorizer": map[string]any{
			"type": "request", "identitySource": "method.request.header.Authorization", "authorizerUri": uri,
			"authorizerResultTtlInSeconds": longestAnswer,
		},
	}
}

// longestAnswer is how long the gateway remembers that a token is allowed, in seconds: as long as an access token is valid.
const longestAnswer = 3600

// connectedOf lists method and path of the operations of applications (api.Connected).
func connectedOf(groups []api.Group) (all []string) {
	for _, g := range groups {
		for _, op := range g.Operations {
			if op.IsConnected() {
				all = append(all, op.Method+" "+op.Path)
			}
		}
	}
	return all
}

// CheckPaths refuses routes that the gateway cannot have: variables with different names at
// the same place of a path, a route of two groups, and groups without root.
func CheckPaths(groups []api.Group) error {
	var mistakes []error
	variables, owners := map[string]string{}, map[string]string{}
	for _, g := range groups {
		for _, op := range g.Operations {
			route := op.Method + " " + op.Path
			if owner, taken := owners[route]; taken {
				mistakes = append(mistakes, fmt.Errorf("infra: %s is declared by %s and by %s", route, owner, g.Name))
			}
			owners[route] = g.Name
			segments := strings.Split(op.Path, "/")
			for i, segment := range segments {
				before := strings.Join(segments[:i], "/")
				other, known := variables[before]
				switch {
				case !strings.HasPrefix(segment, "{"):
				case known && other != segment:
					mistakes = append(mistakes, fmt.Errorf("infra: %s has %s where another path has %s", op.Path, segment, other))
				default:
					variables[before] = segment
				}
			}
		}
	}
	if !slices.ContainsFunc(groups, isRoot) {
		mistakes = append(mistakes, errors.New("infra: there is no group root"))
	}
	return errors.Join(mistakes...)
}

// isRoot reports whether the group is root.
func isRoot(g api.Group) bool { return g.Name == root }
