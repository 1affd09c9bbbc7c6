package grant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/record"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
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
}

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

// Register stores a new application, and sets the id and the time. The error is a 400 that names the field.
func (st Store) Register(ctx context.Context, c *Client) error {
	if err := c.check(); err != nil {
		return err
	}
	c.ID, c.CreatedAt = st.NewID(), st.now()
	item, err := record.Encode(clientKey(c.ID), 1, c)
	if err != nil {
		return err
	}
	return st.Tenancy.Table.Transact(ctx, table.Insert(item))
}

// Client returns an application; an error of OAuth for an unknown one.
func (st Store) Client(ctx context.Context, id string) (*Client, error) {
	if !wire.IsID(id) {
		return nil, refuse(InvalidClient, "client_id is not that of a registered application.")
	}
	item, err := st.Tenancy.Table.Get(ctx, clientKey(id))
	if errors.Is(err, table.ErrNotFound) {
		return nil, refuse(InvalidClient, "client_id is not that of a registered application.")
	}
	if err != nil {
		return nil, err
	}
	return record.Decode[Client](item)
}
