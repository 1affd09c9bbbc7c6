package sessionfiles_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// leastHostile is the least number of hostile uploads in the battery.
const leastHostile = 120

// TestTheBatteryIsLarge counts the hostile uploads.
func TestTheBatteryIsLarge(t *testing.T) {
	drafts, bytes, sends := len(hostileDrafts()), len(hostileBytes(t)), len(misuses())+len(unsigned())
	t.Logf("%d drafts, %d times bytes, %d requests to the bucket", drafts, bytes, sends)
	require.GreaterOrEqual(t, drafts+bytes+sends, leastHostile)
}

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

// requireStored checks how many uploads of the event have bytes.
func (d *desk) requireStored(n int) {
	d.T.Helper()
	require.Len(d.T, d.StoredKeys(d.T, fmt.Sprintf("files/%d/%d/", d.Org, d.Event)), n)
}

// TestHostileDrafts begin no upload, neither of a new file nor of other bytes.
func TestHostileDrafts(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	changes := d.WatchChanges("session_file")
	changes.Since()
	for _, h := range hostileDrafts() {
		for _, path := range []string{d.path(), d.path("/", file.ID(), "/replace")} {
			answer, err := d.Send(t, http.MethodPost, d.EventPath(path), draft(pdf, h.draft))
			require.NoError(t, err)
			require.Equal(t, 400, answer.Status, "%q %v: %s", h.name, h.draft, answer.Body)
			it.RequireInvalid(t, answer.JSON(t), h.field)
		}
	}
	require.Empty(t, changes.Since())
	require.Equal(t, []entity{file}, d.list())
}

// TestHostileBytes are refused as what they are, whatever they are called. The bytes go at once.
func TestHostileBytes(t *testing.T) {
	d := newDesk(t)
	before, taken := d.Get(200, d.session), []string{}
	for _, h := range hostileBytes(t) {
		begun := d.begin(h.text, h.draft)
		require.Equal(t, 200, put(t, begun, h.text), h.name)
		answer, err := d.Send(t, http.MethodPost, d.EventPath(d.path("/", begun.ID(), "/complete")), nil)
		require.NoError(t, err)
		if answer.Status != 400 || entity(answer.JSON(t)).At("details.field") != h.field {
			taken = append(taken, fmt.Sprintf("%s: %d %s", h.name, answer.Status, answer.Body))
			continue
		}
		d.complete(404, begun.ID())
	}
	require.Empty(t, taken)
	require.Empty(t, d.list())
	require.Equal(t, before, d.Get(200, d.session), "nothing is written")
	d.requireStored(0)
	it.EngineOf(t, d.Stack).RequireWhole(t)
}

// shown are the types that a download may have: none that a browser runs.
var shown = []string{"application/octet-stream", "application/pdf", "image/png", "image/gif", "image/jpeg", "image/x-of-mine",
	"audio/mp4", "image/heic", "image/heif"}

// requireSafe downloads a file and checks that a browser saves the bytes, under the name of the file.
func (d *desk) requireSafe(file entity, text string) http.Header {
	d.T.Helper()
	got, header := d.download(file)
	require.Equal(d.T, text, got)
	disposition := header.Get("Content-Disposition")
	kind, values, err := mime.ParseMediaType(disposition)
	require.NoError(d.T, err, disposition)
	require.Equal(d.T, "attachment", kind)
	require.Equal(d.T, file.Text("filename"), values["filename"], disposition)
	require.False(d.T, strings.ContainsFunc(disposition, func(r rune) bool { return r < ' ' || r > '~' }), disposition)
	require.Contains(d.T, shown, header.Get("Content-Type"))
	return header
}

// TestHarmlessBytes are of the declared type, or of a type that holds it.
func TestHarmlessBytes(t *testing.T) {
	d := newDesk(t)
	for _, c := range []struct{ filename, kind, text string }{
		{"a.png", "", png}, {"a.txt", "", "Good morning."}, {"a.csv", "", "a,b\n1,2\n3,4\n"}, {"a.md", "", "# Title"}, {"a.json", "", `{"a": 1}`},
		{"a.zip", "", zipped(t, "a.txt")}, {"a.key", "", zipped(t, "Index/Document.iwa")}, {"a.svg", "", drawing(`<rect width="3" height="3"/>`)},
		{"a.pptx", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml")}, {"notes", "", "\x01\x02\x03"},
		{"a.dat", "application/x-of-mine", "\x01\x02"}, {"a.zip", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "word/document.xml")},
		{"a.svg", "", `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">` + drawing("")},
		{"a.svg", "", drawing(`<style>.a{fill:url(#b)} @font-face{src:url("data:font/woff2;base64,AA//AA==")}</style><a xlink:href="#c"/>`)},
		{"a.img2", "image/x-of-mine", "\x01\x02"}, {"a.img2", "image/x-of-mine", png}, {"a.note", "text/x-of-mine", "Good morning."},
		{"a.svg", "", `<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd'>` + "\n" +
			`<svg xmlns="http://www.w3.org/2000/svg"/>` + "\n"},
		{"a.svg", "", "\xef\xbb\xbf" + drawing("")}, {"a.svg", "", "<!-- Generator: a program -->\n" + `<svg xmlns="http://www.w3.org/2000/svg"/>`},
		{"a.svg", "", `<?xml version="1.0" encoding="iso-8859-1"?><svg xmlns="http://www.w3.org/2000/svg"><text>` + "\xe9</text></svg>"},
		{"a.svg", "", drawing(`<?xpacket begin=""?><i:path-effect xmlns:i="http://www.inkscape.org/namespaces/inkscape" only_selected="false"/>`)},
		{"a.svg", "", drawing("<style>" + strings.Repeat("url(#", 100_000) + strings.Repeat(" ", 1_000_000) + "</style>")}, // In time, too.
		{"a.svg", "", drawing(`<style>.a{fill:#f00;stroke:url(#b)}</style><g style="fill:url( '#b' )" filter="url(&quot;#c&quot;)" class="a"/>`)},
		{"a.svg", "", drawing(`<image href="data:image/png;base64,AAAA"/><use xlink:href="#a"/><text>url(https://example.org)</text>`)},
		{"a.m4a", "audio/mp4", "\x00\x00\x00\x20ftypM4A \x00\x00\x00\x00"}, {"a.heic", "", "\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00"},
		{"a.heif", "image/heif", "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00"}, {"a.csv", "", "a\tb\n1\t2\n3\t4\n"},
		{"a.tsv", "text/tab-separated-values", "a,b\n1,2\n3,4\n"},
		// What is also something else is saved as what it was declared.
		{"a.gif", "", "GIF89a/*\x01\x00\x01\x00*/=1;alert(1)"}, {"a.jpg", "", "\xff\xd8\xff\xe0\x00\x10JFIF\x00<?php system('id'); ?>"},
		{"a.pdf", "", pdf + html}, {"a.pdf", "", png + pdf}, {"a.png", "", png + zipped(t, "A.class")}, {"a.txt", "", "Hello <script>alert(1)</script>"},
		{"a.zip", "", zipped(t, "../../etc/passwd")}, {"a.csv", "", "=cmd|' /C calc'!A0,1\n2,3\n"}, {"a.dat", "text/x-of-mine", "Hello <script>alert(1)</script>"},
	} {
		more := object{"filename": c.filename}
		if c.kind != "" {
			more["content_type"] = c.kind
		}
		header := d.requireSafe(d.add(c.text, more), c.text)
		if strings.HasSuffix(c.filename, ".svg") {
			require.Equal(t, "application/octet-stream", header.Get("Content-Type"))
		}
	}
}

// TestOddNames are kept as they are, and cannot leave their place in a header.
func TestOddNames(t *testing.T) {
	d := newDesk(t)
	for _, name := range []string{
		`a"b.pdf`, "a;b.pdf", "a; filename=b.html.pdf", "..%2f..%2fa.pdf", "%0d%0aContent-Type:text%2fhtml.pdf", "a'b.pdf", "слайды.pdf", "幻灯片.pdf", "🎉.pdf", "a b.pdf",
		"a*b?.pdf", "CON.pdf", "a:b.pdf", "filename*=UTF-8''evil.html.pdf", "<img src=x onerror=alert(1)>.pdf", "a&b+c.pdf", "-rf.pdf", "$(id).pdf", "a|b.pdf",
		".pdf", "Ü\u0301.pdf", strings.Repeat("漢", 251) + ".pdf",
	} {
		d.requireSafe(d.add(pdf, object{"filename": name, "content_type": "application/pdf"}), pdf)
	}
}

// TestEncodedBytesAreRefused: a browser would decode the bytes, so they would be others than those that
// were checked.
func TestEncodedBytesAreRefused(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	begun.At("upload.headers").(object)["Content-Encoding"] = "gzip"
	require.Equal(t, 200, put(t, begun, pdf))
	require.Contains(t, d.complete(400, begun.ID())["message"], "Content-Encoding")
	d.complete(404, begun.ID())
}

// TestFilesOfOthers: an organization finds no file of another, and can give none of its own a slot or a
// contact of the other.
func TestFilesOfOthers(t *testing.T) {
	d := newDesk(t, feature)
	begun, contact, slot := d.begin(pdf), d.NewContact("ada@example.org").ID(), d.newSlot("Slides").ID()
	require.Equal(t, 200, put(t, begun, pdf))
	stranger := &it.Client{Stack: d.NewOrganization(t, feature), T: t}
	theirs := &desk{stranger, stranger.NewSessions("Theirs")[0]}
	intruder := &desk{d.WithToken(theirs.Token), d.session}
	for _, other := range []*desk{theirs, intruder} {
		for _, call := range []struct {
			method, rest string
			body         any
		}{
			{"POST", "/" + begun.ID() + "/complete", nil}, {"POST", "/" + begun.ID() + "/replace", draft(pdf)}, {"PUT", "/" + begun.ID(), object{}},
			{"DELETE", "/" + begun.ID(), nil},
		} {
			other.Do(404, call.method, other.path(call.rest), call.body)
		}
	}
	intruder.Do(404, http.MethodGet, intruder.path(), nil)
	intruder.Do(404, http.MethodPost, intruder.path(), draft(pdf))
	for field, id := range map[string]string{"assigned_participant_id": contact, "content_slot_id": slot} {
		it.RequireInvalid(t, theirs.Do(400, http.MethodPost, theirs.path(), draft(pdf, object{field: id})), field)
	}
	require.Empty(t, theirs.list())
	d.complete(200, begun.ID())
}
