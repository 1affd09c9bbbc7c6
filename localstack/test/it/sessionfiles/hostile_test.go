package sessionfiles_test

import (
	"archive/zip"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// zipped returns a ZIP with empty files of the names.
func zipped(t *testing.T, names ...string) string {
	t.Helper()
	var text bytes.Buffer
	w := zip.NewWriter(&text)
	for _, name := range names {
		_, err := w.Create(name)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return text.String()
}

// drawing returns an SVG with a part.
func drawing(part string) string {
	return `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9">` + part + `</svg>`
}

const (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01"
	elf  = "\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00\x01\x00\x00\x00"
	html = "<!DOCTYPE html><html><script>alert(1)</script></html>"
)

// TestHostileBytes are refused as what they are, whatever they are called.
func TestHostileBytes(t *testing.T) {
	d := newDesk(t)
	exe := "MZ" + strings.Repeat("\x00", 58) + "\x40\x00\x00\x00PE\x00\x00" + strings.Repeat("\x00", 100)
	for name, c := range map[string]struct{ filename, kind, text string }{
		"HTML as a picture":            {"a.png", "image/png", html},
		"HTML as text":                 {"a.txt", "text/plain", html},
		"HTML as anything":             {"a.bin2", "application/octet-stream", html},
		"HTML as a PDF":                {"a.pdf", "application/pdf", html},
		"HTML after spaces":            {"a.txt", "text/plain", "  \n\t" + html},
		"HTML after many spaces":       {"a.txt", "text/plain", strings.Repeat(" ", 5000) + html},
		"a ZIP as an unknown picture":  {"a.img2", "image/x-of-mine", zipped(t, "a.txt")},
		"text as an unknown sound":     {"a.snd", "audio/x-of-mine", "Good morning."},
		"a script":                     {"a.txt", "text/plain", "#!/bin/sh\nrm -rf /\n"},
		"a script of Python":           {"a.txt", "text/plain", "#!/usr/bin/env python3\nprint(1)\n"},
		"PHP":                          {"a.txt", "text/plain", "<?php system('id'); ?>"},
		"XML":                          {"a.txt", "text/plain", `<?xml version="1.0"?><a/>`},
		"a program of Linux":           {"a.pdf", "application/pdf", elf},
		"a program as unknown":         {"a", "application/octet-stream", elf},
		"a program of Windows":         {"a.dat", "application/x-of-mine", exe},
		"a class":                      {"a.dat", "application/octet-stream", "\xca\xfe\xba\xbe\x00\x00\x00\x34"},
		"a JAR":                        {"a.zip", "application/zip", zipped(t, "META-INF/MANIFEST.MF", "A.class")},
		"WebAssembly":                  {"a.dat", "application/octet-stream", "\x00asm\x01\x00\x00\x00"},
		"a picture as a PDF":           {"a.pdf", "application/pdf", png},
		"a PDF as a picture":           {"a.png", "image/png", pdf},
		"text as a PDF":                {"a.pdf", "application/pdf", "Not a PDF."},
		"noise as a picture":           {"a.jpg", "image/jpeg", "\x01\x02\x03\x04\x05"},
		"a film as a sound":            {"a.mp3", "audio/mpeg", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"},
		"a document of Word as slides": {"a.pptx", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "word/document.xml")},
		"a text as an SVG":             {"a.svg", "", "No picture."},
		"a script in an SVG":           {"a.svg", "", drawing("<script>alert(1)</script>")},
		"another script":               {"a.svg", "", drawing(`<g><a:SCRIPT xmlns:a="http://www.w3.org/2000/svg"/></g>`)},
		"a handler":                    {"a.svg", "", drawing(`<rect onload="alert(1)"/>`)},
		"HTML in an SVG":               {"a.svg", "", drawing(`<foreignObject><p/></foreignObject>`)},
		"an address":                   {"a.svg", "", drawing(`<a xlink:href=" javascript:alert(1)"/>`)},
		"another's picture":            {"a.svg", "", drawing(`<image href="https://evil.example/a.png"/>`)},
		"an animation":                 {"a.svg", "", drawing(`<animate attributeName="href" to="javascript:alert(1)"/>`)},
		"an entity":                    {"a.svg", "", `<!DOCTYPE svg [<!ENTITY a "b">]>` + drawing("")},
		"a style sheet":                {"a.svg", "", `<?xml-stylesheet href="https://evil.example/a.css"?>` + drawing("")},
		"a style that imports":         {"a.svg", "", drawing(`<style>@im<!-- -->port "https://evil.example/a.css";</style>`)},
		"a style that loads":           {"a.svg", "", drawing(`<style><![CDATA[rect{fill:URL( "https://evil.example/a.svg")}]]></style>`)},
		"a style with an image set":    {"a.svg", "", drawing(`<style>rect{background:image-set("https://evil.example/a.png" 1x)}</style>`)},
		"a style that is spelled":      {"a.svg", "", drawing(`<rect style="fill:\75rl(https://evil.example/a.png)"/>`)},
		"a fill that loads":            {"a.svg", "", drawing(`<rect fill="url('//evil.example/a.svg#b')"/>`)},
		"another fill":                 {"a.svg", "", drawing(`<rect fill="url(#a) url(https://evil.example/a.svg#b)"/>`)},
		"a source":                     {"a.svg", "", drawing(`<image src="https://evil.example/a.png"/>`)},
		"HTML by its namespace":        {"a.svg", "", drawing(`<meta xmlns="http://www.w3.org/1999/xhtml" http-equiv="refresh" content="0"/>`)},
		"a broken SVG":                 {"a.svg", "", drawing("<g>")},
		"an SVG as text":               {"a.txt", "text/plain", drawing("<script/>")},
		"an SVG as unknown":            {"a", "application/octet-stream", drawing("<script/>")},
	} {
		more := object{"filename": c.filename}
		if c.kind != "" {
			more["content_type"] = c.kind
		}
		refusal := d.refused(c.text, more)
		require.Equal(t, "content_type", refusal.At("details.field"), name)
	}
	require.Empty(t, d.list())
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// TestHarmlessBytes are of the declared type, or of a type that holds it.
func TestHarmlessBytes(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct{ filename, kind, text string }{
		{"a.png", "", png}, {"a.txt", "", "Good morning."}, {"a.csv", "", "a,b\n1,2\n3,4\n"}, {"a.md", "", "# Title"}, {"a.json", "", `{"a": 1}`},
		{"a.zip", "", zipped(t, "a.txt")}, {"a.key", "", zipped(t, "Index/Document.iwa")}, {"a.svg", "", drawing(`<rect width="3" height="3"/>`)},
		{"a.svg", "", drawing(`<style>.a{fill:url(#b)} @font-face{src:url("data:font/woff2;base64,AA//AA==")}</style><a xlink:href="#c"/>`)},
		{"a.img2", "image/x-of-mine", "\x01\x02"}, {"a.img2", "image/x-of-mine", png}, {"a.note", "text/x-of-mine", "Good morning."},
		{"a.pptx", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml")}, {"notes", "", "\x01\x02\x03"},
		{"a.dat", "application/x-of-mine", "\x01\x02"}, {"a.zip", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "word/document.xml")},
	} {
		more := object{"filename": c.filename}
		if c.kind != "" {
			more["content_type"] = c.kind
		}
		text, header := d.download(d.add(c.text, more))
		require.Equal(t, c.text, text)
		require.Contains(t, header.Get("Content-Disposition"), "attachment")
		if strings.HasSuffix(c.filename, ".svg") {
			require.Equal(t, "application/octet-stream", header.Get("Content-Type"))
		}
	}
}

// TestWrongUploads: the store of bytes refuses another length, type or method, and a second use.
func TestWrongUploads(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	send := func(change func(*http.Request), text string) int {
		t.Helper()
		to := begun.At("upload").(object)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, to["url"].(string), strings.NewReader(text))
		require.NoError(t, err)
		for name, value := range to["headers"].(object) {
			request.Header.Set(name, value.(string))
		}
		change(request)
		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer func() { require.NoError(t, answer.Body.Close()) }()
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		return answer.StatusCode
	}
	nothing := func(*http.Request) {}
	for name, status := range map[string]int{
		"too long":    send(nothing, pdf+"x"),
		"too short":   send(nothing, pdf[1:]),
		"empty":       send(nothing, ""),
		"another":     send(func(r *http.Request) { r.Header.Set("Content-Type", "text/html") }, pdf),
		"no type":     send(func(r *http.Request) { r.Header.Del("Content-Type") }, pdf),
		"overwriting": send(func(r *http.Request) { r.Header.Del("If-None-Match") }, pdf),
		"another key": send(func(r *http.Request) { r.URL.Path += "x" }, pdf),
		"a tampered signature": send(func(r *http.Request) {
			r.URL.RawQuery = strings.Replace(r.URL.RawQuery, "X-Amz-Signature=", "X-Amz-Signature=0", 1)
		}, pdf),
	} {
		require.GreaterOrEqual(t, status, 400, name)
		require.Less(t, status, 500, name)
	}
	d.complete(400, begun.ID())
	require.Equal(t, 200, send(nothing, pdf))
	require.Equal(t, 412, send(nothing, pdf))
	d.complete(200, begun.ID())
}

// TestEncodedBytesAreRefused: a browser would decode the bytes, so they would be others than those that
// were checked.
func TestEncodedBytesAreRefused(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	to := begun.At("upload").(object)
	to["headers"].(object)["Content-Encoding"] = "gzip"
	require.Equal(t, 200, put(t, begun, pdf))
	require.Contains(t, d.complete(400, begun.ID())["message"], "Content-Encoding")
	d.complete(404, begun.ID())
}

// TestForgedLinks are a 404, and so are links that are changed or cut.
func TestForgedLinks(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	whole := link(t, file)
	text := whole[len("/files/"):]
	swapped := func(i int) string {
		c := byte('A')
		if text[i] == c {
			c = 'B'
		}
		return text[:i] + string(c) + text[i+1:]
	}
	for _, forged := range []string{
		swapped(0), swapped(10), swapped(len(text) / 2), swapped(len(text) - 2), text[1:], text[:len(text)-1], text + "A", "x", strings.Repeat("A", len(text)),
		strings.Repeat("A", 2000), it.UnknownID, text + "=", "..%2F" + text,
	} {
		answer, err := d.As("").Send(t, http.MethodGet, "/files/"+forged, nil)
		require.NoError(t, err)
		require.Equal(t, 404, answer.Status, forged)
	}
	require.Equal(t, 302, d.As("").Call(t, 302, http.MethodHead, whole, nil).Status)
	d.As("").Call(t, 405, http.MethodPost, whole, object{})
	answer := d.Call(t, 302, http.MethodGet, whole, nil)
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Empty(t, answer.Body)
}
