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
				described["parameters"] = []any{map[string]any{
					"name": "Authorization", "in": "header", "required": true, "schema": map[string]any{"type": "string"},
				}}
				described[requestValidator] = validator
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
		requestValidator + "s":                   map[string]any{validator: checkHeader},
	}
}

// The gateway checks the header of operations of applications itself: it sends WWW-Authenticate by its name with its own answers only, and
// an assistant without a token finds the sign-in there.
var checkHeader = map[string]any{"validateRequestParameters": true, "validateRequestBody": false}

// Keys of the description: the validator of an operation, and its name.
const requestValidator, validator = "x-amazon-apigateway-request-validator", "header"

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
