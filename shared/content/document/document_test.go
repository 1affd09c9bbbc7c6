package document_test

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/pdftest"
	"lectern/shared/content/document"
)

// mostBytes is what fits into the answer of a Lambda in base64.
const mostBytes = 4_300_000

// of returns a report with sessions of a text each.
func of(texts ...string) *document.Document {
	d := &document.Document{Title: "A report", About: "11 May 2027", At: time.Date(2027, 5, 11, 9, 0, 0, 0, time.UTC)}
	c := document.Chapter{Title: "A chapter"}
	for i, text := range texts {
		c.Sections = append(c.Sections, document.Section{
			Title: fmt.Sprint("Session ", i), About: "09:00", Texts: []document.Text{{Heading: "Summary", Text: text}},
		})
	}
	d.Chapters = []document.Chapter{c}
	return d
}

func TestEveryPageHasItsNumber(t *testing.T) {
	d := of(strings.Repeat("word ", 20_000), "The end.")
	file, err := d.PDF()
	require.NoError(t, err)
	got := pdftest.Read(t, file)
	require.Equal(t, "A report", got.Title)
	require.Greater(t, got.Len(), 10)
	for n := 1; n <= got.Len(); n++ {
		require.True(t, strings.HasSuffix(got.Page(n), fmt.Sprintf("%d / %d", n, got.Len())), got.Page(n))
	}
	require.Equal(t, 20_000, strings.Count(got.Text(), "word"))
	require.Contains(t, got.Text(), "The end.")
	require.NotContains(t, got.Text(), "ends here")
	again, err := d.PDF()
	require.NoError(t, err)
	require.Equal(t, file, again)
}

// every returns a text with every character of Japanese once.
func every() string {
	var all strings.Builder
	for r := '一'; r <= '龥'; r++ {
		all.WriteRune(r)
	}
	return all.String()
}

// TestALongDocumentEndsEarly whatever makes it long, says how many sessions it leaves out, and fits
// into an answer.
func TestALongDocumentEndsEarly(t *testing.T) {
	kanji := every()
	for name, text := range map[string]string{
		"words": strings.Repeat("Some words of a long text. ", 2_400), "characters": kanji, "lines": strings.Repeat("a\n", 32_000),
	} {
		texts := make([]string, 60)
		for i := range texts {
			texts[i] = text
		}
		file, err := of(texts...).PDF()
		require.NoError(t, err, name)
		require.Less(t, len(file), mostBytes, name)
		got := pdftest.Read(t, file)
		last := got.Last()
		require.Contains(t, last, "more sessions are left out", name)
		require.Contains(t, last, fmt.Sprintf("%d / %d", got.Len(), got.Len()), name)
		t.Logf("%s: %d pages, %d bytes", name, got.Len(), len(file))
	}
	d := of("short")
	d.Left = 7
	file, err := d.PDF()
	require.NoError(t, err)
	require.Contains(t, pdftest.Read(t, file).Text(), "7 more sessions are left out")
}

func TestACardIsAPicture(t *testing.T) {
	for _, text := range []string{"", "Short.", strings.Repeat("a long text ", 5_000), every(), strings.Repeat("كلمة طويلة ", 500)} {
		c := &document.Card{Title: text, About: text, Text: text}
		file, err := c.PNG()
		require.NoError(t, err)
		shown, err := png.Decode(bytes.NewReader(file))
		require.NoError(t, err)
		require.Equal(t, "(1200,630)", shown.Bounds().Size().String())
		require.Less(t, len(file), 1<<20)
	}
}

func TestAnExcerptEndsBetweenWords(t *testing.T) {
	require.Equal(t, "short", document.Excerpt("short", 10))
	require.Equal(t, "one two…", document.Excerpt("one two three", 10))
	require.Equal(t, "日本…", document.Excerpt("日本語の文章", 2))
}
