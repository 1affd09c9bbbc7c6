package account

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"lectern/shared/apierr"
	"lectern/shared/contact"
	"lectern/shared/party"
	"lectern/shared/wire"
)

// Draft is the part of an account that a client may write.
type Draft struct {
	party.Draft
	AccountID wire.Opt[string]          `json:"account_id,omitzero" format:"uuid" nullable:"false" doc:"On a create, an account of the organization that takes the role; name makes a new one instead."`
	Contacts  wire.Opt[[]RelationDraft] `json:"contacts,omitzero" maxItems:"100" nullable:"false" doc:"Contacts of the event; replaces the list."`
	// refs are Contacts as references.
	refs contact.Refs
}

// maxStored bounds the stored contacts of an account on an event: twice the contacts that a
// client can send, to leave room for contacts that the client cannot see.
const maxStored = 200

// RelationDraft is a contact of an account in a draft.
type RelationDraft struct {
	ContactID wire.Opt[string] `json:"contact_id,omitzero" format:"uuid" nullable:"false"`
	Email     wire.Opt[string] `json:"email,omitzero" maxLength:"255" nullable:"false"`
	IsPrimary wire.Opt[bool]   `json:"is_primary,omitzero" nullable:"false" doc:"At most one contact of an account is the primary one."`
	_         struct{}         `json:"-" additionalProperties:"true"`
}

// UnmarshalJSON reads a body that has passed its schema.
func (d *Draft) UnmarshalJSON(body []byte) error {
	type plain Draft
	if err := json.Unmarshal(body, (*plain)(d)); err != nil {
		return err
	}
	return d.Decode(Kind, body)
}

// TransformSchema adds the standard fields.
func (Draft) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	Kind.DescribeDraft(s)
	s.Properties["name"] = &huma.Schema{Type: huma.TypeString, MaxLength: s.Properties["name"].MaxLength, Description: "The account's name."}
	return s
}

// check refuses an empty name and two primary contacts.
func (d *Draft) check() error {
	if name := d.Text("name"); name.Sent && strings.TrimSpace(name.Value) == "" {
		return apierr.Invalid("name", "name must not be blank.")
	}
	primary := false
	for i, r := range d.Contacts.Value {
		if r.IsPrimary.Value && primary {
			return apierr.Invalid(fmt.Sprintf("contacts[%d].is_primary", i), "An account has one primary contact at most.")
		}
		primary = primary || r.IsPrimary.Value
	}
	return nil
}

// required refuses a create that names neither an account nor a new name, or both.
func (d *Draft) required() error {
	switch name := d.Text("name"); {
	case d.AccountID.Sent && name.Sent:
		return apierr.Invalid("name", "Give account_id or name, not both.")
	case !d.AccountID.Sent && !name.Sent:
		return apierr.Invalid("name", "Give name, or account_id of an existing account.")
	}
	return nil
}

// references returns the entries of Contacts as references.
func (d *Draft) references() contact.Refs {
	refs := make(contact.Refs, len(d.Contacts.Value))
	for i, r := range d.Contacts.Value {
		refs[i] = contact.Ref{Entry: fmt.Sprintf("contacts[%d]", i), ID: r.ContactID, Email: r.Email}
	}
	return refs
}

// primary reports whether a contact is the account's primary one.
func primary(r party.Relation) bool { return r.IsPrimary }

// relations returns the sent relations to the contacts found, which are in the order of refs.
func (d *Draft) relations(found []party.Party) ([]party.Relation, error) {
	relations := make([]party.Relation, len(found))
	for i, p := range found {
		if slices.ContainsFunc(found[:i], func(other party.Party) bool { return other.ID == p.ID }) {
			return nil, apierr.Invalid(d.refs[i].Field(), "The same contact is given twice.")
		}
		relations[i] = party.Relation{ContactID: p.ID, IsPrimary: d.Contacts.Value[i].IsPrimary.Value}
	}
	return relations, nil
}
