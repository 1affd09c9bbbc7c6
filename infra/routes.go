package main

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lectern/shared/api"
)

// methods are all that the gateway knows. Each is written out on every path, since
// a method that is not there is refused by the gateway itself, in words of its own.
var methods = []string{
	http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodPatch, http.MethodPost, http.MethodPut,
}

// root is the group that answers what no other declares.
const root = "root"

// rest is the path, as the gateway writes it, of whatever no other path fits.
const rest = "/{proxy+}"

// routes tells which group a method on a path is for, as the door of
// localstack/stack does. What no group declares is for root.
func routes(groups []api.Group) map[string]map[string]string {
	all := map[string]map[string]string{}
	at := func(path string) map[string]string {
		if all[path] == nil {
			all[path] = map[string]string{}
			for _, method := range methods {
				all[path][method] = root
			}
		}
		return all[path]
	}
	at("/")
	at(rest)
	for _, g := range groups {
		for _, op := range g.Operations {
			for _, method := range op.Methods() {
				at(op.Path)[method] = g.Name
			}
		}
	}
	return all
}

// allMedia has bodies and answers pass the gateway as they are, compressed ones too.
const allMedia = "*/*"

// document is the API as the gateway imports it: paths, for each method the function
// to invoke, and the gateway's own answers. An import that replaces an API takes all
// of it from here, so that what an API has beside routes stands here too. uri gives
// the address of a group's function.
func document(title, description string, groups []api.Group, uri func(group string) any) map[string]any {
	paths := map[string]any{}
	for path, to := range routes(groups) {
		operations := map[string]any{}
		for method, group := range to {
			operations[strings.ToLower(method)] = map[string]any{
				"responses": map[string]any{},
				"x-amazon-apigateway-integration": map[string]any{
					"type": "aws_proxy", "httpMethod": http.MethodPost, "uri": uri(group),
				},
			}
		}
		paths[path] = operations
	}
	return map[string]any{
		"openapi": "3.0.1",
		"info":    map[string]any{"title": title, "description": description, "version": "1.0"},
		"paths":   paths,

		"x-amazon-apigateway-binary-media-types": []string{allMedia},
		"x-amazon-apigateway-gateway-responses":  answers(),
	}
}

// checkPaths finds what the gateway cannot hold: two variables of different names
// at one place, and a route that two groups declare.
func checkPaths(groups []api.Group) error {
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
				other, there := variables[before]
				switch {
				case !strings.HasPrefix(segment, "{"):
				case there && other != segment:
					mistakes = append(mistakes, fmt.Errorf("infra: %s has %s where another path has %s", op.Path, segment, other))
				default:
					variables[before] = segment
				}
			}
		}
	}
	if !slices.ContainsFunc(groups, func(g api.Group) bool { return g.Name == root }) {
		mistakes = append(mistakes, errors.New("infra: there is no group root"))
	}
	return errors.Join(mistakes...)
}
