// Package schemas describes the bodies of webhooks: a JSON Schema and an example for each kind of
// change. Both are made from the OpenAPI document; `make golden` writes them again. Read
// schemas.go, then body.go.
package schemas

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"slices"

	"lectern/shared/webhook"
)

// Type is a kind with the form of its body.
type Type struct {
	Kind, Description string
	// Schema is a JSON Schema, Example a body.
	Schema, Example json.RawMessage
}

//go:embed kinds/*.json
var files embed.FS

// descriptions say what each kind tells.
var descriptions = map[string]string{
	"contact.created":               "A contact is new in the organization.",
	"contact.updated":               "A contact has changed. A change of standard and custom fields is told twice.",
	"contact.deleted":               "A contact was removed from its last event.",
	"contact.event.associated":      "A contact was added to an event, or restored.",
	"contact.event.disassociated":   "A contact was removed from an event.",
	"session.created":               "A session or abstract is new.",
	"session.updated":               "A session has changed, or was restored.",
	"session.deleted":               "A session was deleted; it can be restored.",
	"session.speaker.attached":      "A contact got a role on a session.",
	"session.speaker.detached":      "A contact lost a role on a session.",
	"exhibitor.created":             "An exhibitor is new in the organization.",
	"exhibitor.updated":             "An exhibitor has changed.",
	"exhibitor.deleted":             "An exhibitor was removed from its last event.",
	"exhibitor.event.associated":    "An account became an exhibitor of an event.",
	"exhibitor.event.disassociated": "An account is no exhibitor of an event any more.",
	"sponsor.created":               "A sponsor is new in the organization.",
	"sponsor.updated":               "A sponsor has changed.",
	"sponsor.deleted":               "A sponsor was removed from its last event.",
	"sponsor.event.associated":      "An account became a sponsor of an event.",
	"sponsor.event.disassociated":   "An account is no sponsor of an event any more.",
	webhook.Ping:                    "A test of an endpoint.",
}

// All lists the kinds in the order of webhook.Kinds, and webhook.Ping.
var All = load()

func load() []Type {
	all := make([]Type, 0, len(webhook.Kinds)+1)
	for _, kind := range append(slices.Clone(webhook.Kinds), webhook.Ping) {
		all = append(all, Type{kind, descriptions[kind], file(SchemaFile(kind)), file(ExampleFile(kind))})
	}
	return all
}

// SchemaFile and ExampleFile return the names of the files of a kind.
func SchemaFile(kind string) string { return "kinds/" + kind + ".schema.json" }

// ExampleFile returns the name of the file with the example of a kind.
func ExampleFile(kind string) string { return "kinds/" + kind + ".example.json" }

// file returns the JSON of a file without spaces. The files are part of the program.
func file(name string) json.RawMessage {
	text, err := files.ReadFile(name)
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, text)
	}
	if err != nil {
		panic(fmt.Sprintf("schemas: %s: %v", name, err))
	}
	return compact.Bytes()
}
