package stacktest

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
)

// Site is a reader of a region that knows its address and follows links.
type Site struct {
	// URL is the address of the region, as on AWS: the stage is the first part of the path.
	URL    string
	client *http.Client
}

// Site returns the reader of the caller's region.
func (s *Stack) Site(t testing.TB) Site {
	t.Helper()
	if s.backend.deployed != nil {
		return SiteOf(t, *s.backend.deployed)
	}
	return Site{s.URL, client}
}

// SiteOf returns the reader of a region of an emulator. The region's URL is not an address of
// AWS: the emulator puts a path before the API, because few machines resolve the API's host.
func SiteOf(t testing.TB, region target.Region) Site {
	t.Helper()
	parts := regexp.MustCompile(`^http://([^/:]+):(\d+)/restapis/([^/]+)/([^/]+)/_user_request_$`).FindStringSubmatch(region.URL)
	require.NotNil(t, parts, region.URL)
	host, port, api, stage := parts[1], parts[2], parts[3], parts[4]
	emulator := &http.Transport{
		DisableCompression: true, IdleConnTimeout: maxIdle,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort(host, port))
		},
	}
	return Site{
		URL:    "http://" + api + ".execute-api." + host + ":" + port + "/" + stage,
		client: &http.Client{Timeout: client.Timeout, Transport: emulator, CheckRedirect: keepRedirect},
	}
}

// Follow gets a link of the page with the address from, which must answer 200, and returns the
// content and its address.
func (s Site) Follow(t testing.TB, from, link string) (address string, content []byte) {
	t.Helper()
	page, err := url.Parse(from)
	require.NoError(t, err)
	to, err := page.Parse(link)
	require.NoError(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to.String(), http.NoBody)
	require.NoError(t, err)
	answer, err := s.client.Do(request)
	require.NoError(t, err)
	defer answer.Body.Close()
	content, err = io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, answer.StatusCode, "%s on %s leads to %s: %s", link, from, to, content)
	return to.String(), content
}

// Links of the reference page: the script's, and the document's, which the script reads.
var (
	scriptLink   = regexp.MustCompile(`<script src="([^"]+)"`)
	documentLink = regexp.MustCompile(`data-document="([^"]+)"`)
)

// FollowAll follows every link from the entry on: to the document, the reference page, the page's
// script and document, and from the document to the health check, which stands for all paths of
// the server. It returns the entry and the document.
func (s Site) FollowAll(t testing.TB) (entry, document []byte) {
	t.Helper()
	at, entry := s.Follow(t, s.URL, "")
	var links struct{ Description, Documentation string }
	decode(t, entry, &links)
	from, document := s.Follow(t, at, links.Description)
	page, text := s.Follow(t, at, links.Documentation)
	_, same := s.Follow(t, at, links.Documentation+"/")
	require.Equal(t, string(text), string(same), "a trailing slash changes nothing")
	_, script := s.Follow(t, page, only(t, scriptLink, text))
	require.Greater(t, len(script), 1<<20)
	again, shown := s.Follow(t, page, only(t, documentLink, text))
	require.Equal(t, from, again)
	require.True(t, bytes.Equal(document, shown), "the page shows another document")

	var described struct{ Servers []struct{ URL string } }
	decode(t, document, &described)
	require.Len(t, described.Servers, 1)
	_, health := s.Follow(t, from, strings.TrimSuffix(described.Servers[0].URL, "/")+"/health")
	require.JSONEq(t, `{"status": "ok"}`, string(health))
	return entry, document
}

// only returns the link of a page that the pattern finds.
func only(t testing.TB, pattern *regexp.Regexp, page []byte) string {
	t.Helper()
	found := pattern.FindAllSubmatch(page, -1)
	require.Len(t, found, 1, "%s on %s", pattern, page)
	return string(found[0][1])
}
