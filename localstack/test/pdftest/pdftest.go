// Package pdftest reads PDF files in tests, with another library than the one that writes them.
package pdftest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ledongthuc/pdf"
	"github.com/stretchr/testify/require"
)

// File is what a PDF file says.
type File struct {
	Title string
	// Pages are the texts of the pages, in the order of the file and without line breaks.
	Pages []string
}

// Text returns the texts of all pages.
func (f *File) Text() string { return strings.Join(f.Pages, "") }

// Read reads a PDF file.
func Read(t *testing.T, file []byte) *File {
	t.Helper()
	r, err := pdf.NewReader(bytes.NewReader(file), int64(len(file)))
	require.NoError(t, err)
	f := &File{Title: r.Trailer().Key("Info").Key("Title").Text()}
	for n := range r.NumPage() {
		text, err := r.Page(n + 1).GetPlainText(nil)
		require.NoError(t, err)
		f.Pages = append(f.Pages, strings.ReplaceAll(text, "\n", ""))
	}
	return f
}
