// Package docs has the pages of the documentation that the service shows.
package docs

import _ "embed"

// QueryLanguage is the page of the query language, in Markdown.
//
//go:embed query-language.md
var QueryLanguage string
