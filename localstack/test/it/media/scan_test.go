package media_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/media"
	"lectern/localstack/test/clamdtest"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/blob"
	"lectern/shared/scan"
)

// scanned returns a client of a service with a scanner.
func (d *desk) scanned(by scan.Scanner) *desk {
	d.T.Helper()
	return &desk{d.ServeGroup(media.Group, func(env *api.Env) { env.Scanner = by }), d.session}
}

// marked begins an upload and sends it with the mark of the tests' signature, half of it in each part. It
// returns the body that completes the upload, too.
func (d *desk) marked() (*pending, object) {
	d.T.Helper()
	half := len(clamdtest.Mark) / 2
	one, two := slices.Clone(first), []byte(clamdtest.Mark[half:])
	copy(one[len(one)-half:], clamdtest.Mark)
	p := d.initiate(len(one) + len(two))
	d.send(p, 1, one)
	d.send(p, 2, two)
	return p, it.Merged(p.completion(), object{"size_bytes": len(one) + len(two)})
}

// unscanned sends a completion that gets no verdict.
func (d *desk) unscanned(body object) {
	d.T.Helper()
	answer := d.TrySend(d.T, http.MethodPost, d.EventPath(d.path("/upload/complete")), body)
	require.Equal(d.T, 503, answer.Status, "%s", answer.Body)
	require.Equal(d.T, "30", answer.Header.Get("Retry-After"))
	require.Contains(d.T, string(answer.Body), "scan")
}

// requireRefused checks that a completion ends the upload, and that no byte is left of it.
func (d *desk) requireRefused(p *pending, body object) {
	d.T.Helper()
	refused := d.post(400, "complete", body)
	require.Equal(d.T, "filename", refused.At("details.field"))
	require.Contains(d.T, refused.Text("message"), "malware in Keynote.MP4")
	d.post(404, "complete", body)
	_, err := d.Bucket(d.T).Head(d.T.Context(), p.key())
	require.ErrorIs(d.T, err, blob.ErrAbsent)
	d.post(404, "sign-part", it.Merged(p.target, object{"part_numbers": []int{1}}))
	d.post(200, "abort", p.target)
}

// TestClamdFindsMalware also where it lies across two parts. The item of a clean file says that it was
// scanned.
func TestClamdFindsMalware(t *testing.T) {
	log := new(stacktest.Log)
	plain := newDesk(t, stacktest.WithLog(log))
	by, err := scan.Parse("clamd://" + clamdtest.Start(t))
	require.NoError(t, err)
	d := plain.scanned(by)
	changes := d.WatchChanges("media_item")
	item := data(d.post(201, "complete", d.sent().completion()))
	require.Equal(t, "clean", item["scan_status"])
	require.Equal(t, item, data(d.Do(200, http.MethodGet, d.path("/"+item.ID()), nil)))
	p, body := d.marked()
	d.requireRefused(p, body)
	require.Contains(t, log.String(), "a file has malware")
	actions := []string{}
	for _, c := range changes.Since() {
		actions = append(actions, c.Action)
	}
	require.Equal(t, []string{"media_item.created", "media_item.completed", "media_item.created", "media_item.refused"}, actions)
	require.EqualValues(t, 1, d.Maintain(1).Uploads, "soon")
	d.requireGone(p)
	it.EngineOf(t, d.Stack).RequireWhole(t)

	_, body = plain.marked()
	require.Equal(t, "not_scanned", data(plain.post(201, "complete", body))["scan_status"], "a service without a scanner finds nothing")
}

// TestClamdWithLimitsSaysNothingClean: a file above the limit of a stream gets no verdict, and the log says
// which limits to raise. A file that clamd does not read to the end is not scanned.
func TestClamdWithLimitsSaysNothingClean(t *testing.T) {
	log := new(stacktest.Log)
	d := newDesk(t, stacktest.WithLog(log))
	_, body := d.marked()
	d.scanned(scan.NewClamd("unix", clamdtest.Start(t, "StreamMaxLength 2M"))).unscanned(body)
	require.Contains(t, log.String(), "set StreamMaxLength and MaxFileSize of clamd to 524288000 or more")
	few := d.scanned(scan.NewClamd("unix", clamdtest.Start(t, "MaxFileSize 2M", "AlertExceedsMax yes")))
	require.Equal(t, "not_scanned", data(few.post(201, "complete", body))["scan_status"])
}

// TestWithoutAVerdictNothingIsWritten: clamd is not there, says nonsense, or says that a file is clean that
// it has not read. The upload stays, and the request works with a clamd that answers.
func TestWithoutAVerdictNothingIsWritten(t *testing.T) {
	d := newDesk(t)
	p := d.sent()
	changes := d.WatchChanges("media_item")
	changes.Since()
	d.scanned(scan.NewClamd("tcp", "127.0.0.1:9")).unscanned(p.completion())
	d.scanned((&clamdtest.Daemon{Answer: "stream: OK\x00", AtOnce: true}).Start(t)).unscanned(p.completion())
	for _, answer := range clamdtest.Nonsense {
		d.scanned(clamdtest.Answering(answer).Start(t)).unscanned(p.completion())
	}
	require.Empty(t, changes.Since())
	good := clamdtest.Answering("stream: OK\x00").Start(t)
	require.Equal(t, "clean", data(d.scanned(good).post(201, "complete", p.completion()))["scan_status"])
}

// TestALongScanGoesOn while the request that began it ends. A repeated request gets the verdict.
func TestALongScanGoesOn(t *testing.T) {
	d := newDesk(t)
	daemon := &clamdtest.Daemon{Answer: "stream: Bad FOUND\x00", Release: make(chan struct{})}
	slow := daemon.Start(t)
	slow.Wait = 300 * time.Millisecond
	at, p := d.scanned(slow), d.sent()
	for range 3 {
		at.unscanned(p.completion())
	}
	close(daemon.Release)
	slow.Wait = time.Minute
	at.requireRefused(p, p.completion())
	require.EqualValues(t, 1, daemon.Streams.Load())
}

// TestGuardDutyFindsMalware by the tag that it puts on a film once its parts are joined. A film that it cannot read says
// that it is not scanned.
func TestGuardDutyFindsMalware(t *testing.T) {
	plain := newDesk(t)
	d := plain.scanned(scan.GuardDuty{Wait: time.Minute})
	p := d.sent()
	plain.scanned(scan.GuardDuty{Wait: time.Millisecond}).unscanned(p.completion())
	d.GuardDuty(t, "media/", clamdtest.Result("NO_THREATS_FOUND"))
	require.Equal(t, "clean", data(d.post(201, "complete", p.completion()))["scan_status"])
	p, body := d.marked()
	d.requireRefused(p, body)

	large := newDesk(t)
	large.GuardDuty(t, "media/", clamdtest.Result("UNSUPPORTED"))
	require.Equal(t, "not_scanned", data(large.scanned(scan.GuardDuty{Wait: time.Minute}).post(201, "complete", large.sent().completion()))["scan_status"])
}
