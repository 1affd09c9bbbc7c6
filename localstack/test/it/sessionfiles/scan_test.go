package sessionfiles_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/sessionfiles"
	"lectern/localstack/test/clamdtest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/scan"
	"lectern/shared/sessionfile"
	"lectern/shared/upload"
)

// marked is a PDF with the text that the tests' signature finds.
const marked = pdf + clamdtest.Mark

// scanned returns a client of a service with a scanner.
func (d *desk) scanned(by scan.Scanner) *desk {
	d.T.Helper()
	return &desk{d.ServeGroup(sessionfiles.Group, func(env *api.Env) { env.Scanner = by }), d.session}
}

// unscanned sends a completion that gets no verdict.
func (d *desk) unscanned(id string) {
	d.T.Helper()
	answer := d.TrySend(d.T, http.MethodPost, d.EventPath(d.path("/", id, "/complete")), nil)
	require.Equal(d.T, 503, answer.Status, "%s", answer.Body)
	require.Equal(d.T, "30", answer.Header.Get("Retry-After"))
	require.Contains(d.T, string(answer.Body), "scan")
}

// requireMalware checks the refusal of a file with malware.
func requireMalware(t *testing.T, refusal entity, field string) {
	t.Helper()
	require.Equal(t, field, refusal.At("details.field"))
	require.Contains(t, refusal.Text("message"), "malware in slides.pdf")
}

// sent begins the upload of a new file and sends the bytes. It returns the file and the key of the bytes.
func (d *desk) sent(text string) (id, object string) {
	d.T.Helper()
	begun := d.begin(text)
	require.Equal(d.T, http.StatusOK, put(d.T, begun, text))
	at := upload.At(d.Org, d.Event)
	for item, err := range d.Table(d.T).Between(d.T.Context(), at.Partition(), "0", "~") {
		require.NoError(d.T, err)
		u, err := upload.DecodeAny(item)
		require.NoError(d.T, err)
		if u.Open(time.Now()) {
			object = at.Object(sessionfile.Folder, d.session, u.ID)
		}
	}
	return begun.ID(), object
}

// TestClamdFindsMalware in the bytes of an upload and of a form. A clean file says that it was scanned, also
// after an update. A file without malware that was to be replaced stays.
func TestClamdFindsMalware(t *testing.T) {
	plain := newDesk(t)
	by, err := scan.Parse("clamd://" + clamdtest.Start(t))
	require.NoError(t, err)
	by.(*scan.Clamd).Wait = time.Minute
	d := plain.scanned(by)
	clean := d.add(pdf)
	require.Equal(t, "clean", clean["scan_status"])
	d.Do(200, http.MethodPut, d.path("/", clean.ID()), object{"title": "Slides"})
	require.Equal(t, "clean", plain.content()[0]["scan_status"])
	require.Equal(t, "clean", d.send(201, []part{file("slides.pdf", pdf)})["scan_status"])

	bad, key := d.sent(marked)
	requireMalware(t, d.complete(400, bad), "filename")
	_, err = d.Bucket(t).Head(t.Context(), key)
	require.ErrorIs(t, err, blob.ErrAbsent)
	d.complete(404, bad)
	requireMalware(t, d.send(400, []part{file("slides.pdf", marked)}), "file")

	replaced := d.Do(200, http.MethodPost, d.path("/", clean.ID(), "/replace"), draft(marked)).At("data").(object)
	require.Equal(t, http.StatusOK, put(t, replaced, marked))
	requireMalware(t, d.complete(400, clean.ID()), "filename")
	require.Len(t, d.list(), 2)
	text, _ := plain.download(d.list()[0])
	require.Equal(t, pdf, text)

	require.Equal(t, "not_scanned", plain.add(marked)["scan_status"], "a service without a scanner finds nothing")
	it.EngineOf(t, plain.Stack).RequireWhole(t)
}

// bomb is an archive of 40 KB with a file of 40 MB.
func bomb(t *testing.T) string {
	t.Helper()
	var text bytes.Buffer
	w := zip.NewWriter(&text)
	file, err := w.Create("zeros")
	require.NoError(t, err)
	_, err = file.Write(make([]byte, 40<<20))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return text.String()
}

// TestABombIsRefused by a service whose scanner cannot unpack all of it: what marked files could hide in. Nothing else
// unpacks an archive, so a service without a scanner keeps it as any other.
func TestABombIsRefused(t *testing.T) {
	plain, packed, named := newDesk(t), bomb(t), object{"filename": "a.zip"}
	require.Equal(t, "not_scanned", plain.add(packed, named)["scan_status"])
	by, err := scan.Parse("clamd://" + clamdtest.Start(t, "MaxScanSize 5M", "MaxFileSize 5M", "AlertExceedsMax yes"))
	require.NoError(t, err)
	by.(*scan.Clamd).Wait = time.Minute
	requireUnread(t, plain.scanned(by), packed)
}

// TestWhatAScannerCannotReadIsRefused, and the bytes are removed.
func TestWhatAScannerCannotReadIsRefused(t *testing.T) {
	plain := newDesk(t)
	requireUnread(t, plain.scanned(clamdtest.Answering("stream: Heuristics.Limits.Exceeded.MaxFiles FOUND\x00").Start(t)), zipped(t, "a.txt"))
	require.Empty(t, plain.list())
	it.EngineOf(t, plain.Stack).RequireWhole(t)
}

// requireUnread sends an archive by an upload and in a form, which the scanner must not have read to the end.
func requireUnread(t *testing.T, d *desk, packed string) {
	t.Helper()
	before := d.StoredKeys(t, "files/")
	begun := d.begin(packed, object{"filename": "a.zip"})
	require.Equal(t, http.StatusOK, put(t, begun, packed))
	for field, refusal := range map[string]entity{
		"filename": d.complete(400, begun.ID()), "file": d.send(400, []part{file("a.zip", packed)}),
	} {
		it.RequireInvalid(t, refusal, field)
		require.Contains(t, refusal.Text("message"), "cannot read all of a.zip")
	}
	d.complete(404, begun.ID())
	require.Equal(t, before, d.StoredKeys(t, "files/"))
}

// TestAFindOfMalwareIsLogged with the place of the file.
func TestAFindOfMalwareIsLogged(t *testing.T) {
	log := new(stacktest.Log)
	plain := &desk{&it.Client{Stack: stacktest.Start(t, stacktest.WithLog(log)), T: t}, ""}
	plain.session = plain.NewSessions("A talk")[0]
	d := plain.scanned(clamdtest.Answering("stream: Bad FOUND\x00").Start(t))
	id, key := d.sent(pdf)
	requireMalware(t, d.complete(400, id), "filename")
	require.Contains(t, log.String(), "a file has malware")
	require.Contains(t, log.String(), key)
}

// TestWithoutAVerdictNoFileIsMade: clamd is not there, says nonsense, or says that a file is clean that it
// has not read. The upload stays, and the request works with a clamd that answers. A form stores nothing.
func TestWithoutAVerdictNoFileIsMade(t *testing.T) {
	plain := newDesk(t)
	id, _ := plain.sent(pdf)
	plain.scanned(scan.NewClamd("tcp", "127.0.0.1:9")).unscanned(id)
	for _, answer := range clamdtest.Nonsense {
		plain.scanned(clamdtest.Answering(answer).Start(t)).unscanned(id)
	}
	at := plain.scanned(clamdtest.Answering("nonsense\x00").Start(t))
	at.send(503, []part{file("slides.pdf", pdf)})
	require.Empty(t, plain.list())
	good := plain.scanned(clamdtest.Answering("stream: OK\x00").Start(t))
	require.Equal(t, "clean", good.complete(200, id)["scan_status"])
	require.Equal(t, "clean", good.send(201, []part{file("slides.pdf", pdf)})["scan_status"])
}

// TestALongScanGoesOn while the request that began it ends. A repeated request gets the verdict.
func TestALongScanGoesOn(t *testing.T) {
	d := newDesk(t)
	daemon := &clamdtest.Daemon{Answer: "stream: Bad FOUND\x00", Release: make(chan struct{})}
	slow := daemon.Start(t)
	slow.Wait = 300 * time.Millisecond
	at := d.scanned(slow)
	id, _ := d.sent(pdf)
	at.unscanned(id)
	at.unscanned(id)
	close(daemon.Release)
	slow.Wait = time.Minute
	requireMalware(t, at.complete(400, id), "filename")
	require.EqualValues(t, 1, daemon.Streams.Load())
}

// TestGuardDutyFindsMalware by the tag that it puts on the bytes, of an upload and of a form. What it cannot read is
// refused, and a failure of its own is no verdict.
func TestGuardDutyFindsMalware(t *testing.T) {
	plain := newDesk(t)
	patient := scan.GuardDuty{Wait: time.Minute}
	d := plain.scanned(patient)
	early, _ := d.sent(pdf)
	hasty := plain.scanned(scan.GuardDuty{Wait: time.Millisecond})
	hasty.unscanned(early)
	before := plain.StoredKeys(t, "files/")
	late := hasty.send(503, []part{file("slides.pdf", pdf)})
	require.Contains(t, late.Text("message"), "A direct upload waits for its scan")
	require.Equal(t, before, plain.StoredKeys(t, "files/"), "the form stores nothing")
	d.GuardDuty(t, "files/", clamdtest.Result("NO_THREATS_FOUND"))
	require.Equal(t, "clean", d.complete(200, early)["scan_status"])
	require.Equal(t, "clean", d.send(201, []part{file("slides.pdf", pdf)})["scan_status"])
	bad, key := d.sent(marked)
	requireMalware(t, d.complete(400, bad), "filename")
	_, err := d.Bucket(t).Head(t.Context(), key)
	require.ErrorIs(t, err, blob.ErrAbsent)
	requireMalware(t, d.send(400, []part{file("slides.pdf", marked)}), "file")

	locked := newDesk(t)
	locked.GuardDuty(t, "files/", clamdtest.Result("UNSUPPORTED"))
	requireUnread(t, locked.scanned(patient), zipped(t, "a.txt"))
	failing := newDesk(t)
	failing.GuardDuty(t, "files/", clamdtest.Result("FAILED"))
	id, _ := failing.sent(pdf)
	failing.scanned(patient).unscanned(id)
}
