package stack

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"lectern/shared/api"
)

// lambda is a group as the gateway invokes it.
type lambda func(context.Context, events.APIGatewayProxyRequest) (events.APIGatewayProxyResponse, error)

// function runs a group.
type function struct {
	// invoke takes an event as a whole, as a Lambda does.
	invoke lambda
	// stream, unless nil, takes a request while its body comes.
	stream http.Handler
	// connected makes the gateway refuse a request without the header Authorization (api.Connected).
	connected bool
}

// router maps a method and a path to a group, like the gateway that infra configures. The
// routes form a tree of path segments.
type router struct {
	tree node
	// rest is the group for every other request.
	rest function
}

// node is a segment of paths.
type node struct {
	literals map[string]*node
	variable *node
	// template is the path that ends here, if any; groups has its methods.
	template string
	groups   map[string]function
}

// route is the destination of a request, with the gateway's values of the match.
type route struct {
	group      function
	template   string
	parameters map[string]string
}

// add routes the operation to its group.
func (r *router) add(op api.Operation, group function) {
	if !op.HasForm() {
		group.stream = nil
	}
	group.connected = op.IsConnected()
	at := &r.tree
	for segment := range strings.SplitSeq(op.Path[1:], "/") {
		at = at.child(segment)
	}
	if at.groups == nil {
		at.template, at.groups = op.Path, map[string]function{}
	}
	for _, method := range op.Methods() {
		at.groups[method] = group
	}
}

// child returns the node of a segment and creates a missing node.
func (n *node) child(segment string) *node {
	if strings.HasPrefix(segment, "{") {
		if n.variable == nil {
			n.variable = &node{}
		}
		return n.variable
	}
	if n.literals == nil {
		n.literals = map[string]*node{}
	}
	if n.literals[segment] == nil {
		n.literals[segment] = &node{}
	}
	return n.literals[segment]
}

// find returns the route of a request for a method and an encoded path, with or without a slash
// at its end. Undeclared routes go to the root group as the gateway's {proxy+}.
func (r *router) find(method, path string) route {
	segments := strings.Split(strings.TrimSuffix(strings.TrimPrefix(path, "/"), "/"), "/")
	if at := r.tree.find(segments); at != nil && at.groups[method].invoke != nil {
		return route{at.groups[method], at.template, parameters(at.template, segments)}
	}
	if path == "/" {
		return route{group: r.rest, template: "/"}
	}
	return route{r.rest, "/{proxy+}", map[string]string{"proxy": strings.TrimPrefix(path, "/")}}
}

// find returns the node of a path. A literal segment wins over a variable at the first place
// that fits both.
func (n *node) find(segments []string) *node {
	if len(segments) == 0 {
		if n.groups == nil {
			return nil
		}
		return n
	}
	if next := n.literals[segments[0]]; next != nil {
		if end := next.find(segments[1:]); end != nil {
			return end
		}
	}
	if n.variable == nil || segments[0] == "" {
		return nil
	}
	return n.variable.find(segments[1:])
}

// parameters returns the decoded values of the template's variables.
func parameters(template string, segments []string) map[string]string {
	values := map[string]string{}
	i := 0
	for name := range strings.SplitSeq(template[1:], "/") {
		if strings.HasPrefix(name, "{") {
			values[strings.Trim(name, "{}")] = decoded(segments[i])
		}
		i++
	}
	return values
}

// decoded returns the segment without percent encoding; a broken segment stays as sent.
func decoded(segment string) string {
	if text, err := url.PathUnescape(segment); err == nil {
		return text
	}
	return segment
}
