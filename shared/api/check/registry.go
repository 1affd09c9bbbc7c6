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

// prefix is where schemas stand in the document.
const prefix = "#/components/schemas/"

// listsAreNotNull sets the one default of schemas that huma keeps as a global.
var listsAreNotNull = sync.OnceFunc(func() { huma.DefaultArrayNullable = false })

// NewRegistry makes an empty registry whose schemas are named by package and
// type, so that two packages may both have a searchBody. Arrays in it are not
// nullable.
func NewRegistry() huma.Registry {
	listsAreNotNull()
	return huma.NewMapRegistry(prefix, name)
}

// name makes SessionsSearchBody of sessions.searchBody, and Session, not
// SessionSession, of session.Session. Types without a name go by the hint.
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
	path := strings.Split(t.PkgPath(), "/")
	generic, args, _ := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	full := []string{qualified(path[len(path)-1], generic)}
	for arg := range strings.FieldsFuncSeq(args, func(r rune) bool { return strings.ContainsRune("[],*", r) }) {
		arg = arg[strings.LastIndex(arg, "/")+1:]
		pkg, bare, ok := strings.Cut(arg, ".")
		if !ok {
			pkg, bare = "", arg
		}
		full = append(full, qualified(pkg, bare))
	}
	return strings.Join(full, "")
}

// qualified puts the package before a type's name that does not begin with it.
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

// Finish completes the schemas of a registry once every type is in it: what
// huma leaves out about null. It panics on a keyword that the checks here do
// not know, since that would be declared and not held.
func Finish(r huma.Registry) {
	for name, s := range r.Map() {
		nullablePointers(r.TypeFromRef(prefix+name), s)
		finish(s)
	}
}

// nullablePointers makes properties that are pointers nullable: one to a struct
// is any of the struct and null. With omitempty, or by its tag, it never is.
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

// finish walks a schema. A nullable enum must list null, says JSON Schema.
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

// unchecked is whether a schema asks for what the checker does not look at.
func unchecked(s *huma.Schema) bool {
	combined := s.OneOf != nil || s.AllOf != nil || s.Not != nil
	bounded := s.MultipleOf != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil
	return combined || bounded || s.MinProperties != nil || s.MaxProperties != nil || len(s.DependentRequired) > 0
}
