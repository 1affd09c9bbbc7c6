package sessionfiles_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/functions/sessionfiles"
	"lectern/localstack/local/child"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/api/server"
	"lectern/shared/requestlog"
	"lectern/shared/sessionfile"
)

// last returns the line of the last request.
func last(t *testing.T, log *stacktest.Log) (line object) {
	t.Helper()
	for text := range strings.Lines(log.String()) {
		var one object
		require.NoError(t, json.Unmarshal([]byte(text), &one))
		if one["msg"] == requestlog.Message {
			line = one
		}
	}
	require.NotEmpty(t, line)
	return line
}

// served is an upload server in this process.
type served struct {
	// desk calls the server, and door the service as others do.
	*desk
	door *desk
	log  *stacktest.Log
	// stop asks the server to end; ended gets what Run returns.
	stop  context.CancelFunc
	ended chan error
}

// serve starts an upload server beside the service, below a stage unless it is empty.
func serve(t *testing.T, stage string) *served {
	t.Helper()
	options := []stacktest.Option{stacktest.Features(feature), stacktest.Ingesting()}
	if stage != "" {
		options = append(options, stacktest.BelowStage(stage))
	}
	s := stacktest.Start(t, options...)
	s.Inside(t, "the upload server is deployed to AWS alone")
	door := &desk{&it.Client{Stack: s, T: t}, ""}
	door.session = door.NewSessions("A talk")[0]
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	u := &served{door: door, log: &stacktest.Log{}, ended: make(chan error, 1)}
	env := s.Env(t)
	env.Log = api.NewLog(u.log)
	ctx, stop := context.WithCancel(t.Context())
	u.stop = stop
	t.Cleanup(stop)
	go func() { u.ended <- server.New(sessionfiles.Group, env, stage).Run(ctx, listener) }()
	u.desk = door.at("http://" + listener.Addr().String() + strings.TrimSuffix("/"+stage, "/"))
	return u
}

// at returns a client of the same files at another address.
func (d *desk) at(address string) *desk {
	there := *d.Stack
	there.URL = address
	return &desk{&it.Client{Stack: &there, T: d.T}, d.session}
}

// whole returns a form with a file of so many bytes, and the length of the form.
func whole(size int64) (io.Reader, int64) {
	return io.MultiReader(strings.NewReader(before), film(size), strings.NewReader(after)), int64(len(before)+len(after)) + size
}

// TestTheUploadServerTakesForms of every size, and its answers are those of the service.
func TestTheUploadServerTakesForms(t *testing.T) {
	for _, stage := range []string{"", "live"} {
		u := serve(t, stage)
		for _, size := range []int64{1 << 10, 11 * megabyte, largest} {
			body, length := whole(size)
			status, answer := u.stream(t.Context(), body, length)
			require.Equal(t, 201, status, "%s", answer)
			made := entity(answer.At("data").(object))
			require.True(t, strings.HasPrefix(made.Text("url"), strings.Replace(u.URL, "http://", "https://", 1)+"/files/"), made.Text("url"))
			got, err := http.Get(u.door.follow(302, made))
			require.NoError(t, err)
			require.Equal(t, digest(t, film(size)), digest(t, got.Body), size)
			require.NoError(t, got.Body.Close())
		}
		there, here := u.list(), u.door.list()
		require.Len(t, there, 3)
		for i := range there {
			require.Equal(t, link(t, here[i]), link(t, there[i]))
			require.Equal(t, it.Merged(object(here[i]), object{"url": ""}), it.Merged(object(there[i]), object{"url": ""}))
		}
		require.Equal(t, fileShape, it.KeysOf(u.add(pdf)), "a direct upload")
		it.EngineOf(t, u.Stack).RequireWhole(t)
	}
}

// TestTheUploadServerAnswersAsTheService: whatever comes to the paths of the server is answered as the whole
// service answers.
func TestTheUploadServerAnswersAsTheService(t *testing.T) {
	u := serve(t, "live")
	path := u.EventPath(u.path("/upload"))
	small, contentType := form(t, file("a.pdf", pdf))
	sent := func(body string) any { return stacktest.WithHeaders(body, "Content-Type", contentType) }
	for _, c := range []struct {
		status             int
		method, path, with string
		body               any
	}{
		{401, http.MethodPost, path, "", sent(small)},
		{401, http.MethodPost, path, "x", sent(small)},
		{403, http.MethodPost, path, u.NewToken(t, "read:sessions"), sent(small)},
		{404, http.MethodPost, u.EventPath("/sessions/" + it.UnknownID + "/files/upload"), u.Token, sent(small)},
		{404, http.MethodPost, "/v1/event/1/sessions/" + u.session + "/files/upload", u.Token, sent(small)},
		{400, http.MethodPost, u.EventPath("/sessions/x/files/upload"), u.Token, sent(small)},
		{400, http.MethodPost, path, u.Token, sent(small[:len(small)-9])},
		{415, http.MethodPost, path, u.Token, pdf},
		{405, http.MethodGet, path, u.Token, nil},
		{405, http.MethodPut, path, u.Token, nil},
		{405, http.MethodDelete, path, u.Token, nil},
		{405, http.MethodHead, path, u.Token, nil},
		{204, http.MethodOptions, path, "", stacktest.WithHeaders(nil, "Origin", "https://example.org", "Access-Control-Request-Method", "POST")},
		{404, http.MethodPost, u.EventPath("/sessions/a/b/files/upload"), u.Token, sent(small)},
		{404, http.MethodGet, u.EventPath("/sessions/a/b/files/upload"), u.Token, nil},
		{404, http.MethodPost, u.EventPath("/sessions//files/upload"), u.Token, sent(small)},
		{404, http.MethodOptions, "/v1/event/1/sessions/a/b/files/upload", "", nil},
		{200, http.MethodGet, u.EventPath(u.path()), u.Token, nil},
		{200, http.MethodHead, u.EventPath(u.path()), u.Token, nil},
		{201, http.MethodPost, u.EventPath(u.path()), u.Token, draft(pdf)},
		{400, http.MethodPost, u.EventPath(u.path()), u.Token, object{}},
		{200, http.MethodGet, u.EventPath("/content-slots"), u.Token, nil},
	} {
		name := c.method + " " + c.path
		if c.method == http.MethodOptions && strings.Contains(c.path, "/b/") {
			c.status = u.door.As(c.with).TrySend(t, c.method, c.path, c.body).Status
		}
		want := u.door.As(c.with).Call(t, c.status, c.method, c.path, c.body)
		got := u.As(c.with).Call(t, c.status, c.method, c.path, c.body)
		require.Equal(t, headers(want.Header), headers(got.Header), name)
		if c.status >= 400 {
			require.Equal(t, string(want.Body), string(got.Body), name)
		}
	}
	beside := u.at(strings.TrimSuffix(u.URL, "/live"))
	beside.Call(t, 403, http.MethodPost, path, sent(small))
	require.Empty(t, u.list())
}

// headers returns the names of the headers of an answer, and the values that no request changes.
func headers(all http.Header) map[string]string {
	some := map[string]string{}
	for name := range all {
		some[strings.TrimPrefix(name, "X-Amzn-Remapped-")] = ""
	}
	for _, name := range []string{"Allow", "Cache-Control", "Content-Type", "Access-Control-Allow-Methods", "Access-Control-Allow-Headers"} {
		if value := all.Get(name); value != "" {
			some[name] = value
		}
	}
	return some
}

// TestTheUploadServerRefusesMoreThanTheLimit before a byte of the form comes.
func TestTheUploadServerRefusesMoreThanTheLimit(t *testing.T) {
	u := serve(t, "")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	status, answer := u.stream(ctx, silent{ctx}, sessionfile.MaxForm+1)
	require.Equal(t, 413, status, answer)
	require.Contains(t, answer["message"], "POST /v1/event/{eventId}/sessions/{sessionId}/files.")
	body, length := whole(largest + 1)
	if status, answer = u.stream(ctx, body, length); status != 0 { // The server may close the connection first.
		require.Equal(t, 413, status, answer)
	}
	status, answer = u.stream(ctx, io.MultiReader(strings.NewReader(before), film(2*megabyte)), -1)
	require.Equal(t, 400, status)
	it.RequireInvalid(t, answer, "file")
	require.Empty(t, u.list())
	for _, stored := range u.door.stored() {
		require.False(t, u.door.hasBytes(stored))
	}
}

// TestALineOfTheUploadServer is that of any request, with the client that CloudFront has seen: the log of
// requests reads it.
func TestALineOfTheUploadServer(t *testing.T) {
	u := serve(t, "live")
	small, contentType := form(t, file("a.pdf", pdf))
	path := u.EventPath(u.path("/upload"))
	send := func(to *desk, header ...string) object {
		body := stacktest.WithHeaders(small, append(header, "Content-Type", contentType, "User-Agent", "Slides/1")...)
		answer := to.Call(t, 201, http.MethodPost, path, body)
		line := last(t, u.log)
		if to == u.desk {
			require.Equal(t, answer.Header.Get(stacktest.RequestID), line["request_id"])
		}
		return line
	}
	line := send(u.desk, "X-Forwarded-For", "198.51.100.7, 203.0.113.9", "X-Request-Id", "a-form")
	require.Equal(t, object{"ip": "203.0.113.9", "user_agent": "Slides/1", "method": "POST", "status": 201.0, "request_id": "a-form"},
		it.Pick(entity(line), "ip", "user_agent", "method", "status", "request_id"))
	for _, name := range []string{"timestamp", "level", "org", "token", "route", "sessionId", "gateway_request_id", "ms", "rcu", "bucket"} {
		require.Contains(t, line, name)
	}
	line = send(u.desk)
	require.Equal(t, "127.0.0.1", line["ip"])
	require.NotContains(t, line, "gateway_request_id")
	require.NotContains(t, line, "X-Forwarded-For")
	u.Call(t, 404, http.MethodGet, u.EventPath("/sessions/a/b/files/upload"), nil)
	require.Equal(t, 404.0, last(t, u.log)["status"])
	healthy, err := http.Get(strings.TrimSuffix(u.URL, "/live") + server.Health)
	require.NoError(t, err)
	require.NoError(t, healthy.Body.Close())
	require.Equal(t, 204, healthy.StatusCode)
	require.Equal(t, 404.0, last(t, u.log)["status"], "the load balancer's question has no line")
}

// TestTheUploadServerEndsAfterItsForms: a form that comes while the server ends is stored, and no more
// connections are taken.
func TestTheUploadServerEndsAfterItsForms(t *testing.T) {
	u := serve(t, "")
	finishes := halfAForm(t, u.desk)
	u.stop()
	require.Eventually(t, func() bool { return refused(u.URL) }, 10*time.Second, 20*time.Millisecond)
	select {
	case err := <-u.ended:
		require.Fail(t, "the server has ended before its form", "%v", err)
	case <-time.After(200 * time.Millisecond):
	}
	finishes()
	require.NoError(t, <-u.ended)
	require.Len(t, u.door.list(), 1)
	it.EngineOf(t, u.door.Stack).RequireWhole(t)
}

// halfAForm begins a form, and returns after the first part is stored. The function that it returns sends the
// rest, and checks the answer.
func halfAForm(t *testing.T, d *desk) (finish func()) {
	t.Helper()
	const half, size = 6 * megabyte, 12 * megabyte
	all, length := whole(size)
	body, to := io.Pipe()
	status := make(chan int, 1)
	go func() {
		got, _ := d.stream(t.Context(), body, length)
		status <- got
	}()
	_, err := io.CopyN(to, all, half)
	require.NoError(t, err)
	return func() {
		_, err := io.Copy(to, all)
		require.NoError(t, err)
		require.NoError(t, to.Close())
		require.Equal(t, 201, <-status)
	}
}

// refused reports whether no server takes a connection at an address.
func refused(address string) bool {
	connection, err := net.DialTimeout("tcp", strings.TrimPrefix(address, "http://"), time.Second)
	if err == nil {
		_ = connection.Close()
	}
	return err != nil
}

// TestTheUploadServerAsAProcess: the binary of the image, with the environment of the function, needs little
// memory for forms at once, and ends as in this process.
func TestTheUploadServerAsAProcess(t *testing.T) {
	stacktest.Everywhere(t)
	stacktest.NeedsBinaries(t)
	d := newDesk(t, feature)
	port, err := child.FreePort(t.Context())
	require.NoError(t, err)
	cmd := exec.Command(filepath.Join(os.Getenv(stacktest.EnvFunctions), "uploads", "bootstrap"))
	cmd.Env = append(d.Environment(t, "sessionfiles"), "LECTERN_PORT="+strconv.Itoa(port))
	cmd.Stderr = os.Stderr
	p, err := child.Start(cmd)
	require.NoError(t, err)
	defer func() { require.NoError(t, p.Kill()) }()
	u := d.at("http://127.0.0.1:" + strconv.Itoa(port))
	require.Eventually(t, func() bool { return !refused(u.URL) }, 20*time.Second, 20*time.Millisecond)
	u.list()
	idle := resident(t, p.PID())
	it.Concurrently(10, func(int) {
		body, length := whole(largest)
		status, answer := u.stream(t.Context(), body, length)
		if status != 201 {
			t.Errorf("%d %s", status, answer)
		}
	})
	peak := resident(t, p.PID())
	t.Logf("%d MB without forms, at most %d MB with ten of 50 MB", idle, peak)
	require.Less(t, peak-idle, 110)

	finishes := halfAForm(t, u)
	require.NoError(t, p.Signal(syscall.SIGTERM))
	require.Eventually(t, func() bool { return refused(u.URL) }, 10*time.Second, 20*time.Millisecond)
	finishes()
	<-p.Ended()
	require.Equal(t, "exit status 0", p.State())
	require.Len(t, d.list(), 11)
}

// resident returns the largest memory that a process has had, in MB.
func resident(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	require.NoError(t, err)
	fields := strings.Fields(string(text))
	at := slices.Index(fields, "VmHWM:")
	require.GreaterOrEqual(t, at, 0)
	kb, err := strconv.Atoi(fields[at+1])
	require.NoError(t, err)
	return kb / 1024
}
