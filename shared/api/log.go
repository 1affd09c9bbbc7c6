package api

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/awslabs/aws-lambda-go-api-proxy/core"
	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/requestlog"
)

// log logs the request. The line contains no query, body, name or secret. From the path it
// contains only checked ids. The ingester of the log of requests reads the lines
// (events/ingester).
func (x *exchange) log(status int) {
	calls, roundTrips, rcu, wcu := x.meter.Totals()
	line := append([]slog.Attr{
		slog.String("request_id", x.id), slog.String("method", x.r.Method), slog.Int("status", status),
		slog.Int64("ms", time.Since(x.began).Milliseconds()),
		slog.Int("calls", calls), slog.Int("round_trips", roundTrips), slog.Float64("rcu", rcu), slog.Float64("wcu", wcu),
	}, x.attributes()...)
	level := slog.LevelInfo
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
		line = append(line, slog.Any("error", x.err))
	}
	x.Log.LogAttrs(x.ctx, level, requestlog.Message, line...)
}

// attributes returns the part of the log line that depends on the gateway, the route, the
// caller and the refusal.
func (x *exchange) attributes() (line []slog.Attr) {
	if gateway, ok := core.GetAPIGatewayContextFromContext(x.ctx); ok {
		if gateway.RequestID != x.id {
			line = append(line, slog.String("gateway_request_id", gateway.RequestID))
		}
		line = append(line, source(gateway.Identity)...)
	}
	if x.endpoint != nil {
		line = append(line, slog.String("route", x.Path), slog.String("bucket", string(x.Bucket)))
		line = append(line, x.ids()...)
	}
	org, token, reason := x.identity()
	if org != 0 {
		line = append(line, slog.Int64("org", org), slog.Int64("token", token))
	}
	if reason != "" {
		line = append(line, slog.String("reason", reason))
	}
	return line
}

// ids returns the checked ids of the path, by name. Any other part of a path may be secret, such as the
// link to a file.
func (x *exchange) ids() (line []slog.Attr) {
	for _, p := range x.endpoint.params {
		if id, ok := x.params[p.Name]; ok && p.In == "path" && isID(p.Schema) {
			line = append(line, slog.String(p.Name, id))
		}
	}
	return line
}

// isID reports whether the values of a schema are ids.
func isID(s *huma.Schema) bool { return s.Type == huma.TypeInteger || s.Format == "uuid" }

// identity returns the organization and the token of the request, or 0 if unknown. reason says
// why the request was refused; it is empty for a request that was not refused.
func (x *exchange) identity() (org, token int64, reason string) {
	if x.caller != nil {
		org, token = x.caller.Org.ID, x.caller.Token.ID
	}
	var refusal *auth.Refusal
	var e *apierr.Error
	switch {
	case errors.As(x.err, &refusal):
		return refusal.Org, refusal.Token, string(refusal.Reason)
	case errors.As(x.err, &e):
		return org, token, cmp.Or(e.Reason, e.Code, e.Name)
	}
	return org, token, ""
}

// source returns the IP address and the user agent of the caller, as the gateway saw them. An
// organization sees both in its log of requests (docs/decisions/0028-the-request-log.md).
func source(caller events.APIGatewayRequestIdentity) (line []slog.Attr) {
	if ip, err := netip.ParseAddr(caller.SourceIP); err == nil {
		line = append(line, slog.String("ip", ip.String()))
	}
	if agent := printable(caller.UserAgent, maxUserAgent); agent != "" {
		line = append(line, slog.String("user_agent", agent))
	}
	return line
}

// client returns the address of the client of an event. Of a request from the edges, the gateway has the
// address of an edge. The edges add the client to X-Forwarded-For, and then the gateway adds the edge.
func client(r events.APIGatewayProxyRequest) string {
	from, secret := r.RequestContext.Identity.SourceIP, r.StageVariables[StageEdges]
	sent := strings.Join(valuesOf(r, HeaderEdges), "")
	if secret == "" || subtle.ConstantTimeCompare([]byte(sent), []byte(secret)) == 0 {
		return from
	}
	all := strings.Split(strings.Join(valuesOf(r, "X-Forwarded-For"), ","), ",")
	last := len(all) - 1
	if last > 0 && strings.TrimSpace(all[last]) == from {
		last--
	}
	return cmp.Or(strings.TrimSpace(all[last]), from)
}

// valuesOf returns the values of a header of an event. The gateway leaves names as they are sent.
func valuesOf(r events.APIGatewayProxyRequest, name string) (values []string) {
	for sent, all := range r.MultiValueHeaders {
		if strings.EqualFold(sent, name) {
			values = append(values, all...)
		}
	}
	return values
}

// maxID is the largest length of a client's request id.
const maxID = 128

// safeID reports whether a client's request id is safe in headers and in the log. An id with an @ may
// be an e-mail address, which no log and no change record may have.
func safeID(id string) bool {
	for _, c := range id {
		if !strings.ContainsRune("-_.:/+=", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return id != "" && len(id) <= maxID
}

// maxUserAgent is the largest length of a user agent in the log, in bytes.
const maxUserAgent = 256

// printable returns the printable characters of a text, at most so many bytes. The result is
// valid UTF-8.
func printable(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	if len(text) <= most {
		return text
	}
	for !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
