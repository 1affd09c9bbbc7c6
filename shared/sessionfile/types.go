package sessionfile

import (
	"slices"
	"strings"
)

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
