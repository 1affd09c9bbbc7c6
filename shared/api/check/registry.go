package check

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
)

// prefix is the beginning of references to schemas in the document.
const prefix = "#/components/schemas/"

// setArrayDefault sets the global of huma for schemas of arrays.
var setArrayDefault = sync.OnceFunc(func() { huma.DefaultArrayNullable = false })

// NewRegistry returns an empty registry. Names of schemas contain package and type, so that two
// packages can both have a searchBody. Arrays are not nullable.
func NewRegistry() huma.Registry {
	setArrayDefault()
	return huma.NewMapRegistry(prefix, name)
}

// name returns the name of a schema: SessionsSearchBody for sessions.searchBody, and Session
// for session.Session. For a type without a name it uses the hint.
func name(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[apierr.Error]():
		return "Error"
	case t.Name() == "":
		return qualified("", hint)
	}
	generic, args, _ := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	full := []string{qualified(owner(t.PkgPath()), generic)}
	for arg := range strings.FieldsFuncSeq(args, func(r rune) bool { return strings.ContainsRune("[],*", r) }) {
		dot := strings.LastIndex(arg, ".")
		full = append(full, qualified(owner(arg[:max(dot, 0)]), arg[dot+1:]))
	}
	return strings.Join(full, "")
}

// owner returns the package in the name of a type: session for session/view and session/store,
// too.
func owner(path string) string {
	path = strings.TrimSuffix(strings.TrimSuffix(path, "/view"), "/store")
	return path[strings.LastIndex(path, "/")+1:]
}

// qualified returns the name of a type with its package in front, unless the name begins with
// the package.
func qualified(pkg, name string) string {
	pkg, name = capital(pkg), capital(name)
	if strings.HasPrefix(name, pkg) {
		return name
	}
	return pkg + name
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// Finish completes the schemas of a registry that contains all types: it makes properties
// nullable. It panics on a keyword that this package does not check, since the document would
// promise a check that is not made.
func Finish(r huma.Registry) {
	for name, s := range r.Map() {
		nullablePointers(r.TypeFromRef(prefix+name), s)
		finish(s)
	}
}

// nullablePointers makes properties with pointer types nullable, except properties with
// omitempty, omitzero or the tag nullable:"false".
func nullablePointers(t reflect.Type, s *huma.Schema) {
	for _, field := range reflect.VisibleFields(t) {
		key, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := s.Properties[key]
		never := strings.Contains(options, "omit") || field.Tag.Get("nullable") == "false"
		if property == nil || field.Type.Kind() != reflect.Pointer || never {
			continue
		}
		if property.Ref == "" {
			property.Nullable = property.Type != ""
			continue
		}
		s.Properties[key] = &huma.Schema{
			AnyOf:       []*huma.Schema{{Ref: property.Ref}, {Type: "null"}},
			Description: property.Description,
		}
	}
}

// finish completes a schema and its inner schemas. A nullable enum must list null, as JSON
// Schema requires.
func finish(s *huma.Schema) {
	if unchecked(s) {
		panic(fmt.Sprintf("check: a schema uses a keyword that is not checked: %+v", s))
	}
	if s.Nullable && len(s.Enum) > 0 && !slices.Contains(s.Enum, nil) {
		s.Enum = append(s.Enum, nil)
	}
	for _, property := range s.Properties {
		finish(property)
	}
	for _, alternative := range s.AnyOf {
		finish(alternative)
	}
	if s.Items != nil {
		finish(s.Items)
	}
	if others, ok := s.AdditionalProperties.(*huma.Schema); ok {
		finish(others)
	}
}

// unchecked reports whether a schema has a keyword that the checker ignores.
func unchecked(s *huma.Schema) bool {
	combined := s.OneOf != nil || s.AllOf != nil || s.Not != nil
	bounded := s.MultipleOf != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil
	return combined || bounded || s.MinProperties != nil || s.MaxProperties != nil || len(s.DependentRequired) > 0
}
