// Package form reads a form with a file as it comes (multipart/form-data, RFC 7578). It sends each full part
// on while the next one comes. All forms of a process share the memory of a few parts, so they need the same
// memory whatever their number and sizes. Read form.go and memory.go.
package form

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lectern/shared/apierr"
)

const (
	// fileField is the property with the file.
	fileField = "file"
	// Beside is the number of bytes that a form may have beside the file, and maxText that of a text.
	Beside, maxText = 64 << 10, 4 << 10
	// atRead is the number of bytes that are read at once. Package multipart asks for 4 KB, a call of the system each.
	atRead = 64 << 10
	// maxName is the number of characters of the longest name.
	maxName = 255
)

// Sink takes the bytes of the file.
type Sink interface {
	// Begin takes the name, and the first part or the whole of a smaller file. It may refuse both.
	Begin(name string, first []byte) error
	// Send takes a full part by its number, from 1, while the Reader reads the next one. The first part comes to
	// Begin before, and no other part comes before Send has taken it. Then two parts may come at once.
	Send(ctx context.Context, number int32, part []byte) error
}

// Body is the body of a form.
type Body interface {
	io.Reader
	// SetReadDeadline ends a read that lasts longer, where a server can.
	SetReadDeadline(at time.Time) error
}

// Config describes the forms that a Reader takes.
type Config struct {
	// Texts are the names of the properties beside the file. All others are ignored.
	Texts []string
	// MaxFile is the size of the largest file, and Larger the advice for a larger file.
	MaxFile int
	Larger  string
	// PartTime is the time in which a part must come, and the longest wait for memory.
	PartTime time.Duration
	// Digests reports whether Digest is needed. The hash of the file takes about a tenth of the time of a form.
	Digests bool
}

// Reader reads one form. Close it.
type Reader struct {
	Config
	from *watched
	body *limited
	sink Sink
	// memory has the part that comes; nil before the file. number counts the parts that were given to the sink,
	// sending those whose outcome did not come to sent.
	memory  *memory
	number  int32
	sending int
	sent    chan error
	// came reports whether the form has a file.
	came   bool
	name   string
	texts  map[string]string
	size   int
	sum    hash.Hash
	filled int
}

// Open returns a reader of a form. It returns a 503 while the process reads as many forms as it may.
func Open(body Body, c Config, to Sink) (*Reader, error) {
	if reading.Add(1) > atOnce {
		reading.Add(-1)
		return nil, apierr.Unavailable()
	}
	from := &watched{Body: body}
	whole := io.MultiReader(bufio.NewReaderSize(from, atRead), strings.NewReader("\r\n"), ended{})
	return &Reader{
		Config: c, from: from, body: &limited{inner: whole, left: Beside, refusal: c.tooLarge()}, sink: to,
		texts: map[string]string{}, sum: sha256.New(), sent: make(chan error, ahead),
	}, nil
}

// Close gives the memory back. No part can be used afterwards.
func (r *Reader) Close() {
	r.memory.release()
	reading.Add(-1)
}

// tooLarge returns the 413 of a form.
func (c Config) tooLarge() error { return apierr.TooLarge(int64(c.MaxFile) + Beside).Advise(c.Larger) }

// Texts returns the properties beside the file, by name.
func (r *Reader) Texts() map[string]string { return r.texts }

// Size returns the number of bytes of the file.
func (r *Reader) Size() int64 { return int64(r.size) }

// Rest returns the bytes of the file that were not sent, after Read.
func (r *Reader) Rest() []byte {
	if r.memory == nil {
		return nil
	}
	return r.memory[:r.filled]
}

// Digest returns what makes two forms the same: the properties, and name and bytes of the file. It needs
// Config.Digests.
func (r *Reader) Digest() []byte {
	text := fmt.Appendf(nil, "file %q %x\n", r.name, r.sum.Sum(nil))
	for _, name := range r.Config.Texts {
		value, sent := r.texts[name]
		text = fmt.Appendf(text, "%s %t %q\n", name, sent, value)
	}
	return text
}

// Read reads the form to its end. It returns a 400 that names the property for a form that is broken, has
// no file or comes too slowly, a 413 past a limit, and the errors of the sink. The sink has no part any more
// when Read returns.
func (r *Reader) Read(ctx context.Context, boundary string) error {
	err := cmp.Or(r.readAll(ctx, boundary), r.wait())
	if err != nil && !r.from.ended { // The server reads what is left of a body before it answers.
		r.limit(answerTime)
	} else {
		r.limit(0)
	}
	return err
}

// readAll reads the form, and leaves the last full part to the sink.
func (r *Reader) readAll(ctx context.Context, boundary string) error {
	r.limit(r.PartTime)
	form := multipart.NewReader(r.body, boundary)
	for {
		part, err := form.NextRawPart()
		switch {
		case errors.Is(err, io.EOF):
			return r.whole()
		case err != nil:
			return broken(err)
		}
		if err := r.readPart(ctx, part); err != nil {
			return err
		}
	}
}

// whole refuses a form without a file.
func (r *Reader) whole() error {
	if !r.came {
		return apierr.Invalid(fileField, "file is required.")
	}
	return nil
}

// broken returns the error of a body that cannot be read on: the refusal of a limit, or a 400.
func broken(err error) error {
	if refused := (*apierr.Error)(nil); errors.As(err, &refused) {
		return refused
	}
	return apierr.Invalid(fileField, "The form is broken, has ended early, or was sent too slowly.")
}

// readPart reads a part of the form.
func (r *Reader) readPart(ctx context.Context, part *multipart.Part) error {
	name := part.FormName()
	if name != fileField && !slices.Contains(r.Config.Texts, name) {
		return nil // The next part begins after the bytes of this part.
	}
	switch strings.ToLower(part.Header.Get("Content-Transfer-Encoding")) {
	case "", "binary", "7bit", "8bit":
	default:
		return apierr.Invalid(name, "%s must not have a Content-Transfer-Encoding.", name)
	}
	if name == fileField {
		return r.readFile(ctx, part)
	}
	return r.readText(name, part)
}

// readText reads a property beside the file.
func (r *Reader) readText(name string, part *multipart.Part) error {
	if _, twice := r.texts[name]; twice {
		return apierr.Invalid(name, "%s is sent twice.", name)
	}
	text, err := io.ReadAll(io.LimitReader(part, maxText+1))
	switch {
	case err != nil:
		return broken(err)
	case len(text) > maxText:
		return apierr.Invalid(name, "%s is too long.", name)
	case !utf8.Valid(text):
		return apierr.Invalid(name, "%s must be UTF-8.", name)
	}
	r.texts[name] = string(text)
	return nil
}

// readFile reads the file, and sends each full part.
func (r *Reader) readFile(ctx context.Context, part *multipart.Part) error {
	if r.came {
		return apierr.Invalid(fileField, "file is sent twice.")
	}
	r.came = true
	if err := r.readName(part); err != nil {
		return err
	}
	for first := true; ; first = false {
		if err := r.acquire(ctx); err != nil {
			return err
		}
		end, err := r.fill(part)
		if err == nil && first {
			err = r.sink.Begin(r.name, r.Rest())
		}
		if err != nil || end {
			return err
		}
		if err := r.send(ctx); err != nil {
			return err
		}
	}
}

// readName reads the name of the file. Part.FileName would cut the name to its last segment.
func (r *Reader) readName(part *multipart.Part) error {
	_, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	r.name = params["filename"]
	switch {
	case err != nil || r.name == "":
		return apierr.Invalid(fileField, "file must be a file with a name.")
	case !utf8.ValidString(r.name) || utf8.RuneCountInString(r.name) > maxName:
		return apierr.Invalid(fileField, "The name of the file must be UTF-8 of at most %d characters.", maxName)
	}
	return nil
}

// fill reads the next part of the file into the memory, and reports the end of the file.
func (r *Reader) fill(from io.Reader) (end bool, err error) {
	for r.filled = 0; r.filled < len(r.memory) && !end; {
		n, err := from.Read(r.memory[r.filled:])
		r.filled, r.size, r.body.left = r.filled+n, r.size+n, r.body.left+n
		end = errors.Is(err, io.EOF)
		switch {
		case r.size > r.MaxFile:
			return false, r.tooLarge()
		case err != nil && !end:
			return false, broken(err)
		}
	}
	if r.Digests {
		_, err = r.sum.Write(r.Rest())
	}
	return end, err
}

// watched is a body that tells of its end.
type watched struct {
	Body
	ended bool
}

// Read reads the body.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Body.Read(p)
	w.ended = w.ended || errors.Is(err, io.EOF)
	return n, err
}

// ended follows a body, after a line end. Package multipart takes a body that ends within a header for a
// whole form otherwise.
type ended struct{}

// Read reports that the body has ended early.
func (ended) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// limited is the body of a form. It ends with a refusal after so many bytes beside the file.
type limited struct {
	inner   io.Reader
	left    int
	refusal error
}

// Read reads the body.
func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, l.refusal
	}
	n, err := l.inner.Read(p)
	l.left -= n
	return n, err
}
