package oauth

import (
	"context"
	"net/http"
	"slices"
	"time"

	"lectern/shared/api"
	"lectern/shared/apierr"
	"lectern/shared/webpage"
)

// connections is the page with the applications of a person.
type connections struct {
	Note        string
	Connections []connection
}

// connection is an application that a person has connected in an organization. Expired reports whether all its tokens have expired.
type connection struct {
	ID, OrgID          int64
	Name, Organization string
	Since              time.Time
	Expired            bool
	Permissions        webpage.Permissions
}

// Noted has the parameter of the page after a form.
type Noted struct {
	Done string `query:"done"`
}

func (s *service) showConnections(ctx context.Context, in *struct{ Noted }) (*webpage.Page, error) {
	session, err := s.visited(ctx)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return toSignIn(ctx, pathConnections), nil
	}
	shown := connections{}
	if in.Done != "" {
		shown.Note = "The application is disconnected."
	}
	for _, m := range session.Members {
		all, err := s.tenancy.Connections(ctx, m.OrgID, m.ID)
		if err != nil {
			return nil, err
		}
		for _, t := range slices.Backward(all) {
			shown.Connections = append(shown.Connections, connection{
				t.ID, t.OrgID, t.Name, m.Organization.Name, t.CreatedAt.Time, t.Expired(s.Now()), webpage.PermissionsOf(t.Scopes),
			})
		}
	}
	return &webpage.Page{
		Status: http.StatusOK, Name: "connections", Title: "Connected applications", Base: api.BasePath(ctx),
		Person: personOf(session), Data: shown,
	}, nil
}

// disconnection is the form that ends a connection.
type disconnection struct {
	FormToken string `json:"form_token,omitempty"`
	OrgID     int64  `json:"org_id" minimum:"1"`
	ID        int64  `json:"id" minimum:"1"`
}

func (s *service) disconnect(ctx context.Context, in *struct{ Body disconnection }) (*webpage.Page, error) {
	session, err := s.form(ctx, in.Body.FormToken)
	if err != nil {
		return nil, err
	}
	if session == nil {
		return toSignIn(ctx, pathConnections), nil
	}
	err = apierr.NotFound("Connection")
	for _, m := range session.Members {
		if m.OrgID == in.Body.OrgID && apierr.IsNotFound(err) {
			err = s.grants(ctx).Disconnect(ctx, m.OrgID, m.ID, in.Body.ID)
		}
	}
	if err != nil {
		return nil, err
	}
	return goTo(api.BasePath(ctx) + pathConnections + "?done=1"), nil
}
