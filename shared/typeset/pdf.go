package typeset

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"
)

// The size of a page, A4, in points.
const (
	PageWidth  = 595.28
	PageHeight = 841.89
)

// The objects that others refer to before they are written.
const (
	objectCatalog = iota + 1
	objectInfo
	objectPages
	objectResources
	reserved = objectResources
)

// PDF is a PDF file that is written page by page. The same calls give the same bytes.
type PDF struct {
	out bytes.Buffer
	// offsets are the places of the objects in the file; the first object has number 1.
	offsets []int
	fonts   []*embedded
	byFont  map[*Font]*embedded
	// page has the content of the open page; pages are the objects of the contents before.
	page  bytes.Buffer
	pages []int
}

// NewPDF returns a file with an open page.
func NewPDF() *PDF {
	p := &PDF{byFont: map[*Font]*embedded{}, offsets: make([]int, reserved)}
	// Bytes above 127 tell programs, and the adapter of API Gateway, that the file is no text.
	p.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	return p
}

// The most bytes that a page and its foot, and a code of a font, add at the end of the file.
const (
	pageBytes = 450
	codeBytes = 24
)

// Size returns about the length of the file in bytes, and rather more.
func (p *PDF) Size() int {
	size := p.out.Len() + p.page.Len() + pageBytes*len(p.pages)
	for _, e := range p.fonts {
		size += e.bytes + codeBytes*len(e.signs)
	}
	return size
}

// NewPage ends the open page and opens another.
func (p *PDF) NewPage() {
	p.pages = append(p.pages, p.stream("", p.page.Bytes()))
	p.page.Reset()
}

// Info is what a file says about itself.
type Info struct {
	Title string
	// At is the time of creation.
	At time.Time
}

// Footer sets the line at the foot of a page: n is the number of the page, of so many.
type Footer interface {
	Foot(p *PDF, n, of int) error
}

// Close ends the last page, writes the feet of all pages, and returns the file.
func (p *PDF) Close(info Info, footer Footer) ([]byte, error) {
	p.NewPage()
	contents := p.pages
	kids := make([]string, len(contents))
	for i, content := range contents {
		if err := footer.Foot(p, i+1, len(contents)); err != nil {
			return nil, err
		}
		foot := p.stream("", p.page.Bytes())
		p.page.Reset()
		kids[i] = fmt.Sprint(p.object("<</Type/Page/Parent %d 0 R/MediaBox[0 0 %s %s]/Resources %d 0 R/Contents[%d 0 R %d 0 R]>>",
			objectPages, decimal(PageWidth), decimal(PageHeight), objectResources, content, foot), " 0 R")
	}
	var fonts strings.Builder
	for _, e := range p.fonts {
		fmt.Fprintf(&fonts, "/%s %d 0 R", e.name, e.write(p))
	}
	p.reservedObject(objectResources, "<</Font<<%s>>>>", fonts.String())
	p.reservedObject(objectPages, "<</Type/Pages/Count %d/Kids[%s]>>", len(kids), strings.Join(kids, " "))
	p.reservedObject(objectInfo, "<</Title<FEFF%s>/Producer(Lectern)/CreationDate(D:%s)>>",
		hex16All(info.Title), info.At.UTC().Format("20060102150405")+"Z")
	p.reservedObject(objectCatalog, "<</Type/Catalog/Pages %d 0 R/ViewerPreferences<</DisplayDocTitle true>>>>", objectPages)
	p.end()
	return p.out.Bytes(), nil
}

// hex16All returns all characters of a text in UTF-16, as hexadecimal digits.
func hex16All(text string) (digits string) {
	for all := []rune(text); len(all) > 0; all = all[min(len(all), maxShown):] {
		digits += hex16(all)
	}
	return digits
}

// end writes the table of objects.
func (p *PDF) end() {
	id, at := sha256.Sum256(p.out.Bytes()), p.out.Len()
	fmt.Fprintf(&p.out, "xref\n0 %d\n0000000000 65535 f \n", len(p.offsets)+1)
	for _, offset := range p.offsets {
		fmt.Fprintf(&p.out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&p.out, "trailer\n<</Size %d/Root %d 0 R/Info %d 0 R/ID[<%X><%X>]>>\nstartxref\n%d\n%%%%EOF\n",
		len(p.offsets)+1, objectCatalog, objectInfo, id[:16], id[:16], at)
}

// begin begins a new object and returns its number.
func (p *PDF) begin() int {
	p.offsets = append(p.offsets, p.out.Len())
	fmt.Fprintf(&p.out, "%d 0 obj\n", len(p.offsets))
	return len(p.offsets)
}

// object writes an object and returns its number.
func (p *PDF) object(format string, args ...any) int {
	n := p.begin()
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteString("\nendobj\n")
	return n
}

// reservedObject writes an object of a reserved number.
func (p *PDF) reservedObject(n int, format string, args ...any) {
	p.offsets[n-1] = p.out.Len()
	fmt.Fprintf(&p.out, "%d 0 obj\n", n)
	fmt.Fprintf(&p.out, format, args...)
	p.out.WriteString("\nendobj\n")
}

// stream writes bytes as a compressed object, with more entries of its dictionary, and returns its
// number.
func (p *PDF) stream(entries string, content []byte) int {
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	// Writing to a buffer does not fail.
	_, _ = w.Write(content)
	_ = w.Close()
	n := p.begin()
	fmt.Fprintf(&p.out, "<</Filter/FlateDecode/Length %d%s>>\nstream\n", packed.Len(), entries)
	p.out.Write(packed.Bytes())
	p.out.WriteString("\nendstream\nendobj\n")
	return n
}
