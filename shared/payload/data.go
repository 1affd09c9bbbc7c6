package payload

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lectern/shared/account"
	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/bus"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/session/view"
	"lectern/shared/settings"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// scopes are the scopes of the reader for whom a body is rendered, by the subject of the kind. All
// endpoints get the same body, so a body shows what the GET shows to every token that may take the
// kind: a token with read:events sees a sponsor or exhibitor without its contacts.
var scopes = map[string]auth.Scopes{
	"session":         {auth.ReadSessions},
	contact.Role:      {auth.ReadContacts},
	account.Sponsor:   {auth.ReadEvents},
	account.Exhibitor: {auth.ReadEvents},
}

// errUnknown is the error of a message about a record without a GET.
var errUnknown = errors.New("payload: no such kind of record")

// data returns the record of a message as the GET shows it, and a deleted record as the answer to
// the DELETE shows it; nil for a record that is gone.
func (r *Renderer) data(ctx context.Context, m bus.Message) (any, error) {
	show := r.shower(m)
	if show == nil {
		return nil, fmt.Errorf("%w: %s", errUnknown, m.Kind)
	}
	caller, err := r.caller(ctx, m)
	if caller == nil || err != nil {
		return nil, err
	}
	shown, err := show(settings.OneSnapshot(api.WithAddress(ctx, r.APIURL)), caller, m.RecordID)
	if apierr.IsNotFound(err) {
		return nil, nil
	}
	return shown, err
}

// shower returns the function that shows the record of a message; nil for an unknown kind.
func (r *Renderer) shower(m bus.Message) func(context.Context, *auth.Caller, string) (any, error) {
	switch role := subject(m); {
	case role == "session" && m.Event != 0:
		return r.session
	case role == contact.Role && m.Event == 0:
		return r.contactOfOrganization
	case role == contact.Role:
		return r.contact
	case (role == account.Sponsor || role == account.Exhibitor) && m.Event != 0:
		return accountIn{r, role}.show
	}
	return nil
}

// caller returns the reader for whom the body of a message is rendered: the service itself, with
// the scope of the kind; nil if the organization or the event is gone.
func (r *Renderer) caller(ctx context.Context, m bus.Message) (*auth.Caller, error) {
	return auth.Service(ctx, r.table, m.Org, m.Event, scopes[subject(m)])
}

func (r *Renderer) session(ctx context.Context, c *auth.Caller, id string) (any, error) {
	return r.sessions.Stored(ctx, c, id, view.Expand{})
}

func (r *Renderer) contactOfOrganization(ctx context.Context, c *auth.Caller, id string) (any, error) {
	return r.contacts.GetOfOrganization(ctx, c, id, false)
}

func (r *Renderer) contact(ctx context.Context, c *auth.Caller, id string) (any, error) {
	return stored(ctx, r.contacts.Writer(c, false).Rules.Stored, id)
}

// accountIn shows accounts in a role.
type accountIn struct {
	*Renderer
	role string
}

func (a accountIn) show(ctx context.Context, c *auth.Caller, id string) (any, error) {
	return stored(ctx, a.accounts.Writer(c, a.role, party.Expand(false), size.Biographies).Rules.Stored, id)
}

// stored shows a party that holds the role on the event, or held it before a delete; nil for a
// party that is gone.
func stored(ctx context.Context, read func(context.Context, []string) (map[string]any, error), id string) (any, error) {
	shown, err := read(ctx, []string{id})
	if err != nil {
		return nil, err
	}
	return shown[id], nil
}

// withSource returns the JSON of a record with the property sourceOfChange at the end.
func withSource(data any, source string) (json.RawMessage, error) {
	text, err := wire.Encode(data)
	if err != nil {
		return nil, fmt.Errorf("payload: encode a record: %w", err)
	}
	property, err := wire.Encode(source)
	if err != nil {
		return nil, fmt.Errorf("payload: encode a source: %w", err)
	}
	text = bytes.TrimSuffix(text, []byte("}"))
	text = append(text, `,"sourceOfChange":`...)
	return append(append(text, property...), '}'), nil
}
