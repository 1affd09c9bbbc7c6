package sessionfiles_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/blob"
)

// misuse is a request to the bucket that the upload is not for.
type misuse struct {
	name, text string
	change     func(*http.Request)
}

// parameter returns the change of a parameter of the signature; empty removes the parameter.
func parameter(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		q := r.URL.Query()
		q.Set(name, value)
		if value == "" {
			q.Del(name)
		}
		r.URL.RawQuery = q.Encode()
	}
}

// header returns the change of a header; empty removes the header.
func header(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Del(name)
		if value != "" {
			r.Header.Set(name, value)
		}
	}
}

// moved returns the change of the path.
func moved(change func(path string) string) func(*http.Request) {
	return func(r *http.Request) { r.URL.Path, r.URL.RawPath = change(r.URL.Path), "" }
}

// method returns the change of the method.
func method(name string) func(*http.Request) { return func(r *http.Request) { r.Method = name } }

// misuses are requests that the bucket refuses.
func misuses() []misuse {
	segment := func(n int, value string) func(*http.Request) {
		return moved(func(path string) string {
			parts := strings.Split(path, "/") // The bucket, files, organization, event, session, bytes.
			parts[n] = value
			return strings.Join(parts, "/")
		})
	}
	credential := func(n int, value string) func(*http.Request) {
		return func(r *http.Request) {
			name := "X-Amz-Credential"
			parts := strings.Split(r.URL.Query().Get(name), "/") // The access key, the day, the region.
			parts[n] = value
			parameter(name, strings.Join(parts, "/"))(r)
		}
	}
	return []misuse{
		{"too long", pdf + "x", nil}, {"too short", pdf[1:], nil}, {"empty", "", nil}, {"twice as long", pdf + pdf, nil},
		{"another type", pdf, header("Content-Type", "text/html")}, {"no type", pdf, header("Content-Type", "")},
		{"overwriting", pdf, header("If-None-Match", "")}, {"overwriting a version", pdf, header("If-None-Match", `"a"`)},
		{"another key", pdf, moved(func(path string) string { return path + "x" })}, {"a folder above", pdf, moved(func(path string) string { return path + "/../x" })},
		{"another bucket", pdf, segment(1, "other")}, {"another kind", pdf, segment(2, "media")}, {"another organization", pdf, segment(3, "999999")},
		{"another event", pdf, segment(4, "999999")}, {"another session", pdf, segment(5, it.UnknownID)}, {"other bytes", pdf, segment(6, it.UnknownID)},
		{"no key", pdf, moved(func(path string) string { return "/" + strings.Split(path, "/")[1] })},
		{"a forged signature", pdf, parameter("X-Amz-Signature", strings.Repeat("0", 64))}, {"no signature", pdf, parameter("X-Amz-Signature", "")},
		{"nothing signed", pdf, func(r *http.Request) { r.URL.RawQuery = "" }}, {"a longer life", pdf, parameter("X-Amz-Expires", "604800")},
		{"a later time", pdf, parameter("X-Amz-Date", time.Now().Add(time.Minute).UTC().Format("20060102T150405Z"))},
		{"an earlier time", pdf, parameter("X-Amz-Date", "20200101T000000Z")}, {"fewer signed headers", pdf, parameter("X-Amz-SignedHeaders", "host")},
		{"another key pair", pdf, credential(0, "other")}, {"another region", pdf, credential(2, "eu-central-1")},
		{"another algorithm", pdf, parameter("X-Amz-Algorithm", "AWS4-HMAC-SHA1")},
		{"as tags", pdf, func(r *http.Request) { r.URL.RawQuery += "&tagging" }},
		{"as a part", pdf, parameter("partNumber", "1")}, {"as rights", pdf, func(r *http.Request) { r.URL.RawQuery += "&acl" }}, {"a method that deletes", "", method(http.MethodDelete)},
		{"a method that reads", "", method(http.MethodGet)}, {"a method that looks", "", method(http.MethodHead)}, {"a form", pdf, method(http.MethodPost)},
	}
}

// unsigned are requests with a header of S3 that is not signed.
func unsigned() []misuse {
	return []misuse{
		{"a copy", "", header("X-Amz-Copy-Source", "/lectern-us-files/files/1/2/3/4")}, {"open to all", pdf, header("X-Amz-Acl", "public-read")},
		{"with a text", pdf, header("X-Amz-Meta-A", "b")}, {"with a verdict", pdf, header("X-Amz-Tagging", "GuardDutyMalwareScanStatus=NO_THREATS_FOUND")},
		{"locked", pdf, header("X-Amz-Object-Lock-Mode", "COMPLIANCE")},
	}
}

// newSend returns the request that sends the text as an upload asks for.
func newSend(t *testing.T, begun entity, text string) *http.Request {
	t.Helper()
	to := begun.At("upload").(object)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, to["url"].(string), strings.NewReader(text))
	require.NoError(t, err)
	for name, value := range to["headers"].(object) {
		request.Header.Set(name, value.(string))
	}
	return request
}

// sent sends a request and returns the status with the answer.
func sent(t *testing.T, request *http.Request) (status int, text string) {
	t.Helper()
	answer, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer func() { require.NoError(t, answer.Body.Close()) }()
	read, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer.StatusCode, string(read)
}

// TestWrongUploads: the store of bytes refuses what an address is not for, and a second use.
func TestWrongUploads(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	taken := []string{}
	all := misuses()
	if !d.OnEmulator() { // Its S3 takes headers that are not signed (docs/decisions/0035).
		all = append(all, unsigned()...)
	}
	for _, m := range all {
		request := newSend(t, begun, m.text)
		if m.change != nil {
			m.change(request)
		}
		right := newSend(t, begun, pdf)
		require.False(t, request.Method == right.Method && request.URL.String() == right.URL.String() && m.text == pdf &&
			reflect.DeepEqual(request.Header, right.Header), "%s changes nothing", m.name)
		status, text := sent(t, request)
		if status < 400 || status >= 500 {
			taken = append(taken, fmt.Sprintf("%s: %d %s", m.name, status, text))
		}
	}
	require.Empty(t, taken)
	d.requireStored(0)
	require.Contains(t, d.complete(400, begun.ID())["message"], "have not been uploaded")
	status, text := sent(t, newSend(t, begun, pdf))
	require.Equal(t, 200, status, text)
	status, _ = sent(t, newSend(t, begun, pdf))
	require.Equal(t, 412, status, "a second use")
	d.complete(200, begun.ID())
	d.requireStored(1)
}

// endless is bytes without an end.
type endless struct{}

func (endless) Read(into []byte) (int, error) { return len(into), nil }

// TestBytesWithoutAnEnd are refused, and so are those that break off.
func TestBytesWithoutAnEnd(t *testing.T) {
	d := newDesk(t)
	d.NeedsS3(t, "reads a body without an end")
	begun := d.begin(pdf)
	request := newSend(t, begun, "")
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	request = request.WithContext(ctx)
	request.Body, request.ContentLength = io.NopCloser(endless{}), -1
	if answer, err := http.DefaultClient.Do(request); err == nil {
		require.NoError(t, answer.Body.Close())
		require.GreaterOrEqual(t, answer.StatusCode, 400)
	}
	require.NoError(t, ctx.Err(), "the bucket reads on")
	d.requireStored(0)

	whole := newSend(t, begun, pdf)
	to, err := new(net.Dialer).DialContext(t.Context(), "tcp", whole.URL.Host)
	require.NoError(t, err)
	head := fmt.Sprintf("PUT %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n", whole.URL.RequestURI(), whole.URL.Host, len(pdf))
	for name := range whole.Header {
		head += name + ": " + whole.Header.Get(name) + "\r\n"
	}
	_, err = io.WriteString(to, head+"\r\n"+pdf[:len(pdf)/2])
	require.NoError(t, err)
	time.Sleep(100 * time.Millisecond)
	require.NoError(t, to.Close())
	require.Never(t, func() bool { return put(t, begun, "") == 412 }, 500*time.Millisecond, 100*time.Millisecond, "half of the bytes are stored")
	d.complete(400, begun.ID())
	require.Equal(t, 200, put(t, begun, pdf))
	d.complete(200, begun.ID())
}

// TestLateUploads: an address ends, of an upload and of a download.
func TestLateUploads(t *testing.T) {
	d := newDesk(t)
	begun := d.begin(pdf)
	whole := newSend(t, begun, pdf)
	key := whole.URL.Path[strings.Index(whole.URL.Path, "/files/")+1:]
	blobs := d.Env(t).Blobs
	upload, err := blobs.Put(t.Context(), blob.Upload{Key: key, Type: "application/pdf", Size: int64(len(pdf))}, time.Second)
	require.NoError(t, err)
	time.Sleep(2100 * time.Millisecond)
	late := newSend(t, begun, pdf)
	late.URL, err = url.Parse(upload.URL)
	require.NoError(t, err)
	status, text := sent(t, late)
	require.Equal(t, 403, status, text)
	d.requireStored(0)

	status, text = sent(t, whole)
	require.Equal(t, 200, status, text)
	file := d.complete(200, begun.ID())
	old, err := blobs.Get(t.Context(), blob.Download{Key: key, Name: "a.pdf", Type: "application/pdf"}, time.Second)
	require.NoError(t, err)
	time.Sleep(2100 * time.Millisecond)
	for name, address := range map[string]string{"late": old.URL, "good": d.follow(302, file)} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		status, text := sent(t, request)
		require.Equal(t, map[string]int{"late": 403, "good": 200}[name], status, text)
	}
}

// TestForgedDownloads: nobody gets other bytes, another type or another disposition with an address.
func TestForgedDownloads(t *testing.T) {
	d := newDesk(t)
	file, other := d.add(pdf), d.add(pdf)
	there, err := url.Parse(d.follow(302, other))
	require.NoError(t, err)
	for name, change := range map[string]func(*http.Request){
		"no disposition": parameter("response-content-disposition", ""), "shown": parameter("response-content-disposition", "inline"),
		"another type": parameter("response-content-type", "text/html"), "no type": parameter("response-content-type", ""),
		"an encoding": parameter("response-content-encoding", "gzip"), "a longer life": parameter("X-Amz-Expires", "604800"),
		"no signature": parameter("X-Amz-Signature", ""), "other bytes": moved(func(string) string { return there.Path }),
		"nothing signed": func(r *http.Request) { r.URL.RawQuery = "" }, "the list": moved(func(path string) string { return "/" + strings.Split(path, "/")[1] }),
		"a method that deletes": method(http.MethodDelete), "a method that writes": method(http.MethodPut), "a version": parameter("versionId", "1"),
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, d.follow(302, file), nil)
		require.NoError(t, err)
		change(request)
		status, text := sent(t, request)
		require.GreaterOrEqual(t, status, 400, "%s: %s", name, text)
		require.Less(t, status, 500, "%s: %s", name, text)
	}
	d.requireStored(2)
}

// TestForgedLinks are a 404, and so are those of other regions and of other paths.
func TestForgedLinks(t *testing.T) {
	d := newDesk(t)
	file := d.add(pdf)
	whole := link(t, file)
	text := whole[len("/files/"):]
	swapped := func(i int) string {
		c := byte('A')
		if text[i] == c {
			c = 'B'
		}
		return text[:i] + string(c) + text[i+1:]
	}
	for _, forged := range []string{
		swapped(0), swapped(10), swapped(len(text) / 2), swapped(len(text) - 2), text[1:], text[:len(text)-1], text + "A", "x", strings.Repeat("A", len(text)),
		strings.Repeat("A", 2000), it.UnknownID, text + "=", "..%2F" + text,
	} {
		answer, err := d.As("").Send(t, http.MethodGet, "/files/"+forged, nil)
		require.NoError(t, err)
		require.Equal(t, 404, answer.Status, forged)
	}
	require.Equal(t, 302, d.As("").Call(t, 302, http.MethodHead, whole, nil).Status)
	d.As("").Call(t, 405, http.MethodPost, whole, object{})
	answer := d.Call(t, 302, http.MethodGet, whole, nil)
	require.Equal(t, "no-store", answer.Header.Get("Cache-Control"))
	require.Empty(t, answer.Body)
}

// TestADisabledOrganizationHasNoDownloads: an operator who disables it takes what it shows from everybody.
func TestADisabledOrganizationHasNoDownloads(t *testing.T) {
	d := newDesk(t)
	whole := link(t, d.add(pdf))
	for _, disabled := range []bool{true, false} {
		d.Operator(t, "organization-update", object{"org_id": d.Org, "disabled": disabled})
		status := map[bool]int{true: 404, false: 302}[disabled]
		d.As("").Call(t, status, http.MethodGet, whole, nil)
	}
}
