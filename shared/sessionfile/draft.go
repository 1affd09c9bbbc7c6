package sessionfile

import (
	"mime"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"lectern/shared/apierr"
	"lectern/shared/session"
	"lectern/shared/wire"
)

// Draft has the properties of a file that a client sends before the bytes.
type Draft struct {
	Filename    wire.Opt[string] `json:"filename,omitzero" create:"required" nullable:"false" minLength:"1" maxLength:"255" doc:"The name of the file, without a folder."`
	Size        wire.Opt[int64]  `json:"size_bytes,omitzero" create:"required" nullable:"false" minimum:"1" maximum:"524288000" doc:"The number of bytes."`
	ContentType wire.Opt[string] `json:"content_type,omitzero" nullable:"false" minLength:"3" maxLength:"127" doc:"The MIME type; by the end of filename without it."`
	MIMEType    wire.Opt[string] `json:"mimetype,omitzero" nullable:"false" minLength:"3" maxLength:"127" doc:"The same as content_type."`
	SlotID      wire.Opt[string] `json:"content_slot_id,omitzero" format:"uuid" doc:"The upload slot of the file."`
	Description
}

// Description has the properties of a file that a client can change later.
type Description struct {
	Title      wire.Opt[string] `json:"title,omitzero" nullable:"false" maxLength:"255" pattern:"\\S" doc:"The title; filename by default."`
	AssignedTo wire.Opt[string] `json:"assigned_participant_id,omitzero" format:"uuid" doc:"The contact whose file it is: one of the session's participants."`
}

// describe writes the description into a file of the session b.
func (d Description) describe(f *session.File, b *session.Body) error {
	if d.AssignedTo.Has() && !b.HasContact(d.AssignedTo.Value) {
		return apierr.Invalid("assigned_participant_id", "There is no such participant of the session.")
	}
	d.Title.Into(&f.Title)
	d.AssignedTo.IntoPointer(&f.AssignedTo)
	return nil
}

// check refuses a name and a type that no session may have: 400.
func (d *Draft) check() error {
	if err := checkName(d.Filename.Value); err != nil {
		return err
	}
	if d.ContentType.Sent && d.MIMEType.Sent && d.ContentType.Value != d.MIMEType.Value {
		return apierr.Invalid("mimetype", "mimetype must be the same as content_type.")
	}
	if d.kind() == svgType && d.Size.Value > maxSVG {
		return errLargeSVG("size_bytes")
	}
	name, sent := d.declared()
	if sent == "" {
		return nil
	}
	kind := plainType(sent)
	switch {
	case kind == "":
		return apierr.Invalid(name, "%s must be a MIME type, such as application/pdf.", name)
	case extension(d.Filename.Value) == svgExtension && kind != svgType:
		return apierr.Invalid(name, "Files that end in .svg must be of the type %s.", svgType)
	case denied(kind):
		return apierr.Invalid(name, "Files of the type %s are refused, since they can have programs.", kind)
	}
	return nil
}

// declared returns the type that was sent, and the name of its property.
func (d *Draft) declared() (name, sent string) {
	if d.ContentType.Sent {
		return "content_type", d.ContentType.Value
	}
	return "mimetype", d.MIMEType.Value
}

// kind returns the MIME type of the file.
func (d *Draft) kind() string {
	if _, sent := d.declared(); sent != "" {
		return plainType(sent)
	}
	if kind, ok := types[extension(d.Filename.Value)]; ok {
		return kind
	}
	return unknownType
}

// unknownType is the type of a file with an unknown end of the name.
const unknownType = "application/octet-stream"

// isType matches a MIME type without parameters.
var isType = regexp.MustCompile(`^[a-z]+/[a-z0-9][a-z0-9.+_-]*$`)

// plainType returns a MIME type in lower case without parameters; empty for anything else.
func plainType(sent string) string {
	kind, _, err := mime.ParseMediaType(sent)
	if err != nil || !isType.MatchString(kind) {
		return ""
	}
	return kind
}

// extension returns the end of a name in lower case, without the dot.
func extension(name string) string { return strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".") }

// checkName refuses a name that leads to another folder, looks like another name, or is that of a
// program: 400.
func checkName(name string) error {
	switch {
	case strings.ContainsAny(name, `/\`) || strings.Trim(name, ".") == "":
		return apierr.Invalid("filename", "filename must be a name without a folder.")
	case strings.ContainsFunc(name, func(r rune) bool {
		return unicode.Is(unicode.C, r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r)
	}):
		return apierr.Invalid("filename", "filename must not have control characters.")
	case strings.TrimSpace(name) != name || strings.HasSuffix(name, "."):
		return apierr.Invalid("filename", "filename must not begin or end with a space, or end with a dot.")
	case slices.Contains(programs, extension(name)):
		return apierr.Invalid("filename", "Files that end in .%s are refused, since they can have programs.", extension(name))
	}
	return nil
}

// types are the MIME types by the end of a name.
var types = map[string]string{
	"pdf": "application/pdf", "txt": "text/plain", "md": "text/markdown", "csv": "text/csv", "rtf": "text/rtf", "json": "application/json",
	"ppt": "application/vnd.ms-powerpoint", "doc": "application/msword", "xls": "application/vnd.ms-excel",
	"pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"odp":  "application/vnd.oasis.opendocument.presentation", "odt": "application/vnd.oasis.opendocument.text",
	"ods": "application/vnd.oasis.opendocument.spreadsheet", "epub": "application/epub+zip", "zip": "application/zip",
	"key": "application/vnd.apple.keynote", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif",
	"webp": "image/webp", svgExtension: svgType, "tif": "image/tiff", "tiff": "image/tiff", "bmp": "image/bmp", "heic": "image/heic",
	"mp4": "video/mp4", "m4v": "video/x-m4v", "mov": "video/quicktime", "webm": "video/webm", "mkv": "video/x-matroska",
	"avi": "video/x-msvideo", "mp3": "audio/mpeg", "m4a": "audio/x-m4a", "wav": "audio/wav", "ogg": "audio/ogg", "flac": "audio/flac",
	"aac": "audio/aac",
}

// svgType is the type of pictures that can have scripts, and svgExtension the end of their names.
const svgType, svgExtension = "image/svg+xml", "svg"

// programs are the ends of names of programs, scripts and pages.
var programs = strings.Fields(`
	apk app application appx bat bin chm cmd com cpl crx deb dll dmg docm dotm exe gadget hta htm html img inf iso jar js jse
	lnk mht mhtml mjs msc msi msix msp pif pkg potm ppam ppsm pptm php php5 phtml pl ps1 psm1 py pyc rb reg rpm run scf scr
	sh shtml svgz swf sys url vb vbe vbs wasm wsf wsh xbap xht xhtml xlam xlsm xltm xml xsl xslt`)

// deniedTypes are the MIME types of programs, scripts and pages.
var deniedTypes = strings.Fields(`
	text/html text/xml application/xml application/xhtml+xml text/javascript application/javascript application/x-javascript
	application/ecmascript text/ecmascript application/x-msdownload application/vnd.microsoft.portable-executable
	application/x-elf application/x-executable application/x-sharedlib application/x-object application/x-coredump
	application/x-mach-binary application/x-dosexec application/x-msi application/java-archive application/jar
	application/x-java-applet application/vnd.android.package-archive application/wasm application/x-sh text/x-sh
	text/x-shellscript application/x-shellscript text/x-php application/x-httpd-php text/x-python text/x-perl text/x-lua
	text/x-tcl text/x-ruby application/x-python application/x-shockwave-flash application/hta application/x-iso9660-image
	application/x-bytecode.python application/x-ms-installer
	application/vnd.debian.binary-package application/x-rpm application/x-chrome-extension application/x-ms-shortcut
	application/x-mspublisher-macro application/vnd.ms-htmlhelp message/rfc822 multipart/related`)

// denied reports whether files of a type are refused.
func denied(kind string) bool { return slices.Contains(deniedTypes, kind) }

// takes reports whether a slot takes files of a type.
func (s *Slot) takes(kind string) bool {
	return len(s.AllowedFileTypes) == 0 || slices.Contains(s.AllowedFileTypes, kind) || slices.Contains(s.AllowedFileTypes, family(kind)+"/*")
}
