// Package document renders documents of content packs: texts of sessions as PDF, and a session as a
// picture (gaps.md section 6.5, decision 38). It knows texts and no record. The same texts give the
// same bytes.
//
// Read document.go for the shapes and the PDF, flow.go for pages, card.go for the picture.
package document

import (
	"fmt"
	"time"

	"lectern/shared/typeset"
)

// The limits of a document. An answer of a Lambda has at most 6 MB in base64, and setting a million
// characters takes a Lambda of 512 MB some ten seconds.
const (
	maxBytes      = 3_900_000
	maxCharacters = 1_000_000
)

// Document is a document of one or more sessions.
type Document struct {
	Title string
	// About is the line below the title.
	About string
	// At is the time of the newest text.
	At       time.Time
	Chapters []Chapter
	// Left is the number of sessions that the document leaves out.
	Left int
}

// Chapter is a part of a report, such as a day.
type Chapter struct {
	// Title is empty in a document of one chapter.
	Title    string
	Sections []Section
}

// Section is a session. Title and About are empty in the document of one session.
type Section struct {
	Title, About string
	Texts        []Text
}

// Text is a text about a session with its heading, which is empty for no heading.
type Text struct{ Heading, Text string }

// The styles of a document.
var (
	titleStyle   = typeset.Style{Size: 22, Bold: true}
	chapterStyle = typeset.Style{Size: 16, Bold: true}
	sectionStyle = typeset.Style{Size: 12, Bold: true}
	headingStyle = typeset.Style{Size: 10, Bold: true}
	textStyle    = typeset.Style{Size: 10}
	aboutStyle   = typeset.Style{Size: 9}
)

// PDF returns the document as a PDF file. A document beyond the limits ends early, and its last
// line says so.
func (d *Document) PDF() ([]byte, error) {
	f := newFlow()
	f.add(d.Title, titleStyle, block{})
	f.add(d.About, aboutStyle, block{shade: gray})
	f.rule()
	left := d.Left
	for _, c := range d.Chapters {
		if f.full {
			left += len(c.Sections)
			continue
		}
		f.add(c.Title, chapterStyle, block{above: 18, keep: 70})
		for _, s := range c.Sections {
			if f.full {
				left++
				continue
			}
			f.section(s)
		}
	}
	if f.full || left > 0 {
		end := "The document ends here, since it would be too long."
		if left > 0 {
			end += fmt.Sprintf(" %d more sessions are left out; the content of each session has its texts.", left)
		}
		f.close(end)
	}
	return f.pdf(typeset.Info{Title: d.Title, At: d.At})
}

// section adds a session.
func (f *flow) section(s Section) {
	f.add(s.Title, sectionStyle, block{above: 12, keep: 45})
	f.add(s.About, aboutStyle, block{shade: gray})
	for _, t := range s.Texts {
		f.add(t.Heading, headingStyle, block{above: 8, keep: 30})
		f.add(t.Text, textStyle, block{above: 4})
	}
}
