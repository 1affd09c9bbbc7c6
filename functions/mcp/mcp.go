// Package mcp is the MCP tag group (spec.md section 5.2): a server of the Model Context Protocol, through which an assistant works with the
// permissions of a member. A tool does one operation of another group, in this process and by the pipeline of all requests. The server has
// no state: each message is a request with an answer in JSON.
//
// Read mcp.go, tools.go, call.go, operation.go, answer.go, schedule.go.
package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lectern/docs"
	"lectern/functions/agendaplanning"
	"lectern/functions/awards"
	"lectern/functions/contacts"
	"lectern/functions/contactwrites"
	"lectern/functions/events"
	"lectern/functions/eventsettings"
	"lectern/functions/exhibitors"
	"lectern/functions/fieldwrites"
	"lectern/functions/insights"
	"lectern/functions/metadatawrites"
	"lectern/functions/participants"
	"lectern/functions/sessions"
	"lectern/functions/sessionwrites"
	"lectern/functions/speakers"
	"lectern/functions/sponsors"
	"lectern/functions/transcriptions"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
)

// Group declares the route of the tag group.
var Group = api.NewGroup("MCP", start, []api.Route[service]{
	api.Post("sendMessage", api.PathMCP, (*service).receive, auth.SignedIn, api.Connected, api.Describe(about)),
})

const about = "A server of the Model Context Protocol (streamable HTTP without sessions): the address to give to an assistant. " +
	"The body is a message of JSON-RPC 2.0, and the answer the one to it; a notification has a 202 without a body. `Accept` must name both " +
	"`application/json` and `text/event-stream`. Only the access token of an application opens the server: without one, the 401 names the " +
	"description by which an assistant asks a member to sign in."

// groups lists the groups with operations of tools.
var groups = []api.Group{
	events.Group, sessions.Group, sessionwrites.Group, speakers.Group, participants.Group, contacts.Group, contactwrites.Group, sponsors.Group,
	exhibitors.Group, eventsettings.Group, fieldwrites.Group, metadatawrites.Group, agendaplanning.Group, awards.Group, insights.Group,
	transcriptions.Group,
}

// service is the server: the handler answers messages.
type service struct {
	handler    http.Handler
	operations map[string]operation
}

func start(env api.Env) *service {
	s := &service{operations: map[string]operation{}}
	for _, g := range groups {
		handler := sync.OnceValue(func() http.Handler { return g.Handler(env) })
		for _, o := range g.Operations {
			s.operations[o.ID] = operation{o, handler, env.Log}
		}
	}
	server := s.newServer()
	s.handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		// The pipeline asks each request for a token, and a browser never sends a token by itself.
		DisableLocalhostProtection: true,
	})
	return s
}

// instructions tell a model how to use the server.
const instructions = "Lectern has the programmes of conferences: events with their sessions, abstracts, speakers, contacts, sponsors, " +
	"exhibitors, agendas and awards. Begin with list_events: most tools need an event_id. Ids come from the find_ and list_ tools; " +
	"never invent one. " +
	"A property without a value is left out of an answer, and a text that ends with … is cut; the get_ tools show " +
	"more of it. Long lists show records without the records in them. " +
	"Long lists have pages; pagination tells whether there are more. For counts, totals and questions across records use run_query, after " +
	"get_query_schema. Times are in UTC; the event has its time zone. Ask the person before a tool that changes something."

// newServer returns the server with tools and resources.
func (s *service) newServer() *sdk.Server {
	server := sdk.NewServer(&sdk.Implementation{Name: "lectern", Title: "Lectern", Version: api.Version}, &sdk.ServerOptions{
		Instructions: instructions,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}},
		SetCacheable: private,
	})
	for _, t := range described() {
		server.AddTool(t.Tool, caller{t, s.operations[t.Operation]}.call)
	}
	server.AddResource(&sdk.Resource{
		URI: "lectern://query-language", Name: "query_language", Title: "The query language of run_query", MIMEType: "text/markdown",
	}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		return text(r, "text/markdown", docs.QueryLanguage), nil
	})
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: "lectern://events/{event_id}/schedule", Name: "schedule", Title: "The schedule of an event", MIMEType: "text/plain",
		Description: "The sessions of an event by day, time and room, with their speakers and ids.",
	}, schedule{s.operations["listSessions"], s.operations["listEvents"]}.read)
	return server
}

// private keeps answers out of shared caches: they depend on the member.
func private(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }

// text returns the content of a resource.
func text(r *sdk.ReadResourceRequest, kind, content string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: kind, Text: content}}}
}

// message is the body of a request, as the client wrote it.
type message struct {
	Body json.RawMessage `doc:"A message of JSON-RPC 2.0, see the Model Context Protocol."`
}

// reply is the answer to a message, without a body after a notification.
type reply struct {
	Version string `json:"jsonrpc" doc:"2.0."`
	ID      any    `json:"id,omitempty" doc:"The id of the message."`
	Result  any    `json:"result,omitempty" doc:"What the message asked for."`
	Error   any    `json:"error,omitempty" doc:"Why there is no result."`

	sent *recorder
}

// Write implements api.Written.
func (r *reply) Write(h http.Header) (status int, body []byte) {
	if kind := r.sent.header.Get("Content-Type"); kind != "" {
		h.Set("Content-Type", kind)
	}
	return r.sent.status, r.sent.Bytes()
}

// receive answers one message. A message outside of the protocol is a 400.
func (s *service) receive(ctx context.Context, m *message) (*reply, error) {
	r, err := http.NewRequestWithContext(withRequest(ctx), http.MethodPost, api.PathMCP, bytes.NewReader(m.Body))
	if err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	r.Header = api.Header(ctx)
	got := newRecorder()
	s.handler.ServeHTTP(got, r)
	kind, _, _ := mime.ParseMediaType(got.header.Get("Content-Type"))
	switch {
	case got.status >= http.StatusInternalServerError:
		return nil, fmt.Errorf("mcp: %d: %s", got.status, got.Bytes())
	case got.status >= http.StatusBadRequest && kind != mediaJSON:
		return nil, apierr.Invalid("", "%s.", bytes.TrimRight(got.Bytes(), "\n."))
	}
	return &reply{sent: got}, nil
}

// mediaJSON is the media type of messages, and of the bodies of operations.
const mediaJSON = "application/json"
