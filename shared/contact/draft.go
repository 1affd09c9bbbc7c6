package contact

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/party"
)

// Draft is the part of a contact that a client may write.
type Draft struct{ party.Draft }

// Create is the body of a create: a draft with a required e-mail address.
type Create struct{ Draft }

// UnmarshalJSON reads a body that has passed its schema.
func (d *Draft) UnmarshalJSON(body []byte) error {
	if err := json.Unmarshal(body, &d.Draft); err != nil {
		return err
	}
	return d.Decode(Kind, body)
}

// TransformSchema adds the standard fields.
func (Draft) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	Kind.DescribeDraft(s)
	s.Properties[email] = &huma.Schema{Type: huma.TypeString, MaxLength: s.Properties[email].MaxLength,
		Description: "The address, which no two contacts of the organization share; compared without regard to case."}
	return s
}

// TransformSchema marks the address as required.
func (Create) TransformSchema(r huma.Registry, s *huma.Schema) *huma.Schema {
	s = Draft{}.TransformSchema(r, s)
	s.Required = append(s.Required, email)
	return s
}
