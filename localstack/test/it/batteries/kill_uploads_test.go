package batteries_test

import (
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/media"
	"lectern/shared/recording"
	"lectern/shared/table"
	"lectern/shared/upload"
)

const (
	// uploadOver and bytesOver are later than the end of an upload, and of the bytes of a deleted file or session.
	uploadOver, bytesOver = 8 * 24 * time.Hour, 32 * 24 * time.Hour
	// mediaClients send films and recordings beside the killClients, which send files.
	mediaClients = 3
)

// TestKillUploads kills the service, its engine or its bucket at random moments of uploads, and starts them
// again. An acknowledged file, film or recording stays with its bytes, a call without an answer can be
// repeated, and after the maintenance there is neither a visible record without bytes nor bytes without an owner.
func TestKillUploads(t *testing.T) {
	k := &uploading{service: built(t), r: it.Source(it.Seed(t), killClients), kills: map[string]int{}, lost: map[string]int{}}
	seed := k.r.Uint64()
	for i := range killClients + mediaClients {
		session := (&it.Client{Stack: k.caller, T: t}).NewSessions("A talk")[0]
		s := sender{t: t, s: k.caller, r: it.Source(seed, i), session: session, name: i}
		if i < killClients {
			k.clients = append(k.clients, &courier{sender: s, files: map[string]*parcel{}})
			continue
		}
		m := &mediaSender{sender: s, bucket: &k.bucket, kept: map[string]*medium{}}
		k.clients, k.media = append(k.clients, m), append(k.media, m)
	}
	for round := range it.Size(10, 100) {
		k.round(round)
	}
	k.owned(bytesOver, func(u *upload.Upload) bool { return !u.Stored() }) // The bytes of deleted files, too.
	k.report()
}

// uploader is a client that keeps a journal of what was acknowledged.
type uploader interface {
	// prepare sends, before the service is in danger, what work begins with.
	prepare()
	// work uploads until a call has no answer.
	work()
	// settle repeats the call without an answer.
	settle()
	// check compares the service with the journal, and returns the number of visible records.
	check() int
	// about returns the part that all clients have.
	about() *sender
}

// uploading kills a service under uploads.
type uploading struct {
	*service
	clients []uploader
	// media are those of the clients that send films and recordings.
	media []*mediaSender
	r     *rand.Rand
	// kills counts the kills by what was killed, lost the calls without an answer by their name.
	kills, lost map[string]int
}

// round kills the service at a random moment, starts it again, and looks at what is left.
func (k *uploading) round(number int) {
	k.t.Helper()
	for _, c := range k.clients {
		c.prepare()
	}
	after := time.Duration(20+k.r.IntN(400)) * time.Millisecond
	worked := make(chan struct{})
	go func() {
		it.Concurrently(len(k.clients), func(client int) { k.clients[client].work() })
		close(worked)
	}()
	time.Sleep(after)
	k.killPart([]string{"service", "engine", "bucket"}[number%3])
	<-worked
	require.False(k.t, k.t.Failed())
	k.start()
	visible := 0
	for _, c := range k.clients {
		k.lost[c.about().lost]++
		c.settle()
		visible += c.check()
	}
	k.owned(uploadOver, func(u *upload.Upload) bool {
		return !u.Stored() && u.Ends.Before(time.Now().Add(uploadOver-upload.Grace))
	})
	require.Len(k.t, k.stored(), visible, "records of visible files, films and recordings")
	left := 0
	for _, c := range k.clients {
		left += c.check()
	}
	require.Equal(k.t, visible, left, "after the maintenance")
	k.onlyMedia()
	k.emptySessions()
}

// onlyMedia checks that the bucket has, of all films and recordings, those that were acknowledged.
func (k *uploading) onlyMedia() {
	k.t.Helper()
	acknowledged, stored := []string{}, []string{}
	for _, m := range k.media {
		acknowledged = append(acknowledged, slices.Sorted(maps.Keys(m.kept))...)
	}
	for _, folder := range []string{media.Folder, recording.Folder} {
		keys, err := k.bucket.Keys(k.t.Context(), folder+"/")
		require.NoError(k.t, err)
		stored = append(stored, keys...)
	}
	slices.Sort(acknowledged)
	require.Equal(k.t, acknowledged, stored, "the bytes of films and recordings")
}

// emptySessions lets clients with many media go on in another session, and removes the bytes of the former.
func (k *uploading) emptySessions() {
	k.t.Helper()
	full := slices.DeleteFunc(slices.Clone(k.media), func(m *mediaSender) bool { return len(m.kept) < mostMedia })
	for _, m := range full {
		m.leaveSession()
	}
	if len(full) > 0 {
		k.owned(bytesOver, func(u *upload.Upload) bool { return !u.Stored() })
		k.onlyMedia()
	}
}

// killPart kills the engine or the bucket, and after a pause the service.
func (k *uploading) killPart(part string) {
	k.t.Helper()
	k.kills[part]++
	if at := map[string]string{"engine": k.engineURL, "bucket": k.bucket.URL}[part]; at != "" {
		require.NoError(k.t, syscall.Kill(k.childPID(at), syscall.SIGKILL))
		time.Sleep(time.Duration(k.r.IntN(50)) * time.Millisecond)
	}
	k.kill(killService, 0)
}

// records returns the records of all uploads, by the key of their bytes.
func (k *uploading) records() map[string]*upload.Upload {
	k.t.Helper()
	all := map[string]*upload.Upload{}
	for _, item := range k.engine.Dump(k.t).Below(upload.At(k.caller.Org, k.caller.Event).Partition()) {
		u, err := upload.DecodeAny(table.Item{Data: []byte(item.Data)})
		require.NoError(k.t, err)
		all[u.Object] = u
	}
	return all
}

// stored returns the records whose bytes stay.
func (k *uploading) stored() []string {
	k.t.Helper()
	return keysWhere(k.records(), func(u *upload.Upload) bool { return u.Stored() })
}

// owned does the maintenance of a later day and checks that the bytes of the bucket are those of the
// records: none without a record, and no record for which over holds.
func (k *uploading) owned(later time.Duration, over func(*upload.Upload) bool) {
	k.t.Helper()
	it.MaintainedLater(k.t, k.env, later)
	records := k.records()
	keys, err := k.bucket.Keys(k.t.Context(), "")
	require.NoError(k.t, err)
	for _, key := range keys {
		require.Contains(k.t, records, key, "bytes without an owner")
	}
	require.Empty(k.t, keysWhere(records, over), "records that have ended")
	require.Empty(k.t, k.partFiles(), "parts that the bucket does not list")
}

// partFiles returns the files of the parts that the bucket keeps, also those that its lists leave out.
func (k *uploading) partFiles() (all []string) {
	k.t.Helper()
	require.NoError(k.t, filepath.WalkDir(k.data, func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(name, "/.sgwtmp/multipart/") {
			all = append(all, name)
		}
		return err
	}))
	return all
}

// report logs the numbers, and checks that kills came between all calls.
func (k *uploading) report() {
	k.t.Helper()
	calls := 0
	for _, c := range k.clients {
		calls += c.about().calls
	}
	require.NotContains(k.t, k.lost, "", "a client had all its answers")
	k.t.Logf("killed %v under %d calls; without an answer were %v; %d uploads are left", k.kills, calls, k.lost, len(k.stored()))
}

// sender is the part that all clients of the test have.
type sender struct {
	t *testing.T
	s *stacktest.Stack
	r *rand.Rand
	// session is the session that the client uploads to, and no other client.
	session string
	// name, calls and made are the number of the client, and of its calls and uploads.
	name, calls, made int
	// lost is the name of the call without an answer, and reason what came instead.
	lost, reason string
}

// about returns the sender (uploader).
func (c *sender) about() *sender { return c }

// path returns a path below a collection of the session.
func (c *sender) path(rest string) string { return c.s.EventPath("/sessions/" + c.session + rest) }

// ask sends a call and reports whether it was done.
func (c *sender) ask(call, method, path string, body any) (stacktest.Answer, bool) {
	c.calls++
	answer, err := c.s.Send(c.t, method, path, body)
	return answer, !c.unanswered(call, answer, err)
}

// send sends bytes to the bucket and reports whether it was done.
func (c *sender) send(call string, to stacktest.Signed, content []byte) (stacktest.Answer, bool) {
	c.calls++
	answer, err := stacktest.TrySendBytes(c.t, to, content)
	return answer, !c.unanswered(call, answer, err)
}

// unanswered reports whether a call has no answer, and notes the call.
func (c *sender) unanswered(call string, answer stacktest.Answer, err error) bool {
	switch {
	case err != nil || answer.Status >= 500:
		c.lost, c.reason = call, fmt.Sprintf("%d %s %v", answer.Status, answer.Body, err)
		return true
	case answer.Status >= 400:
		c.t.Errorf("client %d, %s: %d %s", c.name, call, answer.Status, answer.Body)
	}
	return answer.Status >= 400
}
