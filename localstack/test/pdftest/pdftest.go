// Package pdftest reads PDF files in tests, with a library that does not write them.
package pdftest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ledongthuc/pdf"
	"github.com/stretchr/testify/require"
)

// File is a PDF file.
type File struct {
	Title  string
	t      *testing.T
	reader *pdf.Reader
}

// Read opens a PDF file.
func Read(t *testing.T, file []byte) *File {
	t.Helper()
	r, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	return &File{r.Trailer().Key("Info").Key("Title").Text(), t, r}
}

// Len returns the number of pages.
func (f *File) Len() int { return f.reader.NumPage() }

// Page returns the text of a page, in the order of the file and without line breaks. The first page
// is 1.
func (f *File) Page(n int) string {
	f.t.Helper()
	text, err := f.reader.Page(n).GetPlainText(nil)
	require.NoError(f.t, err)
	return strings.ReplaceAll(text, "\n", "")
}

// Last returns the text of the last page.
func (f *File) Last() string { return f.Page(f.Len()) }

// Text returns the text of all pages.
func (f *File) Text() string {
	var all strings.Builder
	for n := range f.Len() {
		all.WriteString(f.Page(n + 1))
	}
	return all.String()
}
