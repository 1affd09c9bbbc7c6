package grant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// applications is the partition of the region's applications. Only consents and exchanges of tokens read it, and no other request.
const applications = "R#application"

// Client is a registered application (RFC 6749 section 2). All are public clients: they have no secret, and prove by PKCE that a code
// is theirs.
type Client struct {
	ID   string `json:"client_id"`
	Name string `json:"client_name"`
	// RedirectURIs are the addresses that may get codes.
	RedirectURIs []string `json:"redirect_uris"`
	// Scopes are those that the application may ask for, and gets where it names none.
	Scopes    []auth.Scope `json:"scopes"`
	CreatedAt wire.Time    `json:"created_at"`
	// Disabled applications get no codes and no tokens.
	Disabled bool `json:"disabled"`
	// ExpiresAt is the end of an application that has registered itself and that no member has connected; nil for others.
	ExpiresAt *wire.Time `json:"expires_at,omitempty"`
	// SelfRegistered applications have registered themselves: nobody has looked at them.
	SelfRegistered bool `json:"self_registered"`
	version        int64
}

// unusedLife is how long an application that has registered itself waits for a member to connect it.
const unusedLife = 24 * time.Hour

const (
	maxName         = 255
	maxRedirectURIs = 10
)

// check refuses an application that breaks a rule. The error is a 400 that names the field.
func (c *Client) check() error {
	if err := tenancy.CheckName(c.Name); err != nil || strings.ContainsFunc(c.Name, isHidden) {
		return apierr.Invalid("client_name", "client_name must have 1 to %d visible characters, none of them a blank at its ends.", maxName)
	}
	if len(c.RedirectURIs) == 0 || len(c.RedirectURIs) > maxRedirectURIs {
		return apierr.Invalid("redirect_uris", "redirect_uris must have 1 to %d addresses.", maxRedirectURIs)
	}
	for i, address := range c.RedirectURIs {
		if why := refuseRedirect(address); why != "" {
			field := fmt.Sprintf("redirect_uris[%d]", i)
			return apierr.Invalid(field, "%s %s", field, why)
		}
	}
	for i, s := range c.Scopes {
		if !slices.Contains(Offered, s) {
			return apierr.OneOf(fmt.Sprintf("scopes[%d]", i), Offered...)
		}
		if slices.Contains(c.Scopes[:i], s) {
			return apierr.Invalid("scopes", "scopes must name each scope once.")
		}
	}
	if len(c.Scopes) == 0 {
		return apierr.Invalid("scopes", "scopes must name at least one scope.")
	}
	return nil
}

// isHidden reports whether a character shows nothing, or changes the direction of a text: a name could look like that of another
// application.
func isHidden(r rune) bool { return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) }

func clientKey(id string) table.Key { return table.Key{PK: applications, SK: id} }

// item returns the item of the application. The table forgets an application that nobody has connected some time after its end.
func (c *Client) item(version int64) (table.Item, error) {
	item, err := record.Encode(clientKey(c.ID), version, c)
	if c.ExpiresAt != nil {
		item.Expires = c.ExpiresAt.Unix()
	}
	return item, err
}

// kept returns the write that keeps an application for good, as long as nobody has changed the application.
func (c *Client) kept() (table.Write, error) {
	if c.ExpiresAt == nil {
		return table.Version(clientKey(c.ID), c.version), nil
	}
	kept := *c
	kept.ExpiresAt = nil
	item, err := kept.item(c.version + 1)
	return table.Replace(item, c.version), err
}

func decodeClient(item table.Item) (*Client, error) {
	c, err := record.Decode[Client](item)
	if err == nil {
		c.version = item.Version
	}
	return c, err
}

// Register stores a new application, and sets the id and the time. The error is a 400 that names the field.
func (st Store) Register(ctx context.Context, c *Client) error {
	if err := c.check(); err != nil {
		return err
	}
	c.ID, c.CreatedAt = st.NewID(), st.now()
	item, err := c.item(1)
	if err != nil {
		return err
	}
	return st.Tenancy.Table.Transact(ctx, table.Insert(item))
}

// RegisterStranger stores an application that registers itself (RFC 7591). It ends in a day unless a member connects it.
func (st Store) RegisterStranger(ctx context.Context, c *Client) error {
	until := wire.At(st.Tenancy.Now().Add(unusedLife))
	c.ExpiresAt, c.SelfRegistered = &until, true
	return st.Register(ctx, c)
}

// edits are the tries of an edit beside others.
var edits = table.Retry{Tries: 5, First: 20 * time.Millisecond, Max: 100 * time.Millisecond}

// Edit changes an application. The error is a 404 for an unknown one, and a 400 that names the field.
func (st Store) Edit(ctx context.Context, id string, edit func(*Client)) (c *Client, err error) {
	for _, over := range edits.Each(ctx) {
		if over != nil {
			return nil, over
		}
		if c, err = st.editOnce(ctx, id, edit); !errors.Is(err, table.ErrStale) {
			break
		}
	}
	return c, err
}

func (st Store) editOnce(ctx context.Context, id string, edit func(*Client)) (*Client, error) {
	item, err := st.Tenancy.Table.Get(ctx, clientKey(id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, apierr.NotFound("Application")
	}
	if err != nil {
		return nil, err
	}
	c, err := decodeClient(item)
	if err != nil {
		return nil, err
	}
	edit(c)
	if err := c.check(); err != nil {
		return nil, err
	}
	next, err := c.item(c.version + 1)
	if err != nil {
		return nil, err
	}
	return c, st.Tenancy.Table.Transact(ctx, table.Replace(next, c.version))
}

// Clients returns a page of the applications of the region by id, from the one after a given id on, and the id of its last application;
// empty for the last page.
func (st Store) Clients(ctx context.Context, after string, most int) (page []*Client, next string, err error) {
	for item, err := range st.Tenancy.Table.Between(ctx, applications, after+"\x00", "~") {
		if err != nil {
			return nil, "", err
		}
		c, err := decodeClient(item)
		if err != nil {
			return nil, "", err
		}
		if len(page) == most {
			return page, page[most-1].ID, nil
		}
		page = append(page, c)
	}
	return page, "", nil
}

// Client returns an application; an error of OAuth for an unknown one, and for one that is disabled.
func (st Store) Client(ctx context.Context, id string) (*Client, error) {
	if !wire.IsID(id) {
		return nil, unknownClient()
	}
	got, err := st.Tenancy.Table.GetMany(ctx, []table.Key{clientKey(id)})
	if err != nil {
		return nil, err
	}
	return st.clientIn(got, id)
}

// clientIn returns an application among items that were read; an error of OAuth as Client.
func (st Store) clientIn(got write.Items, id string) (*Client, error) {
	item, found := got[clientKey(id)]
	if !found {
		return nil, unknownClient()
	}
	c, err := decodeClient(item)
	switch {
	case err != nil:
		return nil, err
	case c.ExpiresAt != nil && !st.Tenancy.Now().Before(c.ExpiresAt.Time):
		return nil, unknownClient()
	case c.Disabled:
		return nil, refuse(InvalidClient, "The application is disabled.")
	}
	return c, nil
}

func unknownClient() *Error {
	return refuse(InvalidClient, "client_id is not that of a registered application.")
}
