// Package datarequest owns the requests of persons for their data: access and erasure (gaps.md
// section 7, decision 34). The group gdpr creates requests, and the worker events/dataworker does
// the work.
//
// Read datarequest.go, edits.go, store.go, adopt.go, match.go, collected.go, archive.go, again.go,
// upkeep.go.
package datarequest

import (
	"encoding/json"
	"fmt"
	"time"

	"lectern/shared/change"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/wire"
)

// Types of a request.
const (
	Access  = "access"
	Erasure = "erasure"
)

// Statuses of a request. Pending and Processing are open.
const (
	Pending    = "pending"
	Processing = "processing"
	Completed  = "completed"
	Failed     = "failed"
)

// byEmail is the only type of identity.
const byEmail = "email"

// Request asks for the data of a person, or for the erasure of the data.
type Request struct {
	resource.Header
	OrgID         int64  `json:"org_id" doc:"The organization's id."`
	Type          string `json:"request_type" enum:"erasure,access" doc:"What is asked for."`
	IdentityType  string `json:"identity_type" enum:"email" doc:"What names the person."`
	IdentityValue string `json:"identity_value" example:"ada@example.org" doc:"The person's address; masked, such as a***@e***.org, once the person is erased."`
	Status        string `json:"status" enum:"pending,processing,completed,failed" doc:"failed after five tries, and completed if a later one succeeds; or because the person was erased before an access request was done."`
	Exists        bool   `json:"matching_user_exists" doc:"Whether the organization has a contact or a member with the address."`
	Response      Found  `json:"response" doc:"Who has the address."`
	// Archive is set while the archive of an access request can be read.
	Archive *Archive `json:"archive" doc:"Where to read what an access request has collected; null before, after 30 days, and for an erasure."`
}

// Found names who has the address of a request.
type Found struct {
	Users         []int64  `json:"users" doc:"The ids of the members. An erasure leaves members to the operator."`
	OrgUsers      []string `json:"org_users" doc:"The same ids as texts."`
	EventUsers    []int64  `json:"event_users" doc:"The ids of the events on which a contact with the address is, or was until it was deleted."`
	ContactRecord []string `json:"contact_records" doc:"The ids of the contacts; in an erasure also those of failed erasures for the address."`
}

// Archive is where the data of a person can be read.
type Archive struct {
	URL       string    `json:"url" doc:"The path of the archive."`
	ExpiresAt wire.Time `json:"expires_at" doc:"When the archive is removed."`
}

// Kind is the name of the kind of record.
const Kind = "data_request"

// KindCreated is the published kind of a new request. The bus sends it to the worker.
const KindCreated = Kind + ".created"

// Actions of the security events of a request (gaps.md section 9.1).
const (
	ActionCompleted = Kind + ".completed"
	ActionFailed    = Kind + ".failed"
)

// Max is the number of requests that an organization may have. KeepEnded is how long an ended request is
// kept: backups keep an erased person as long, and an erasure is repeated after a restore.
const (
	Max       = 5000
	KeepEnded = 35 * 24 * time.Hour
)

// requests is the kind of the requests. No two open requests have the same type and identity.
var requests = &resource.Kind[Request, *Request, edit]{
	Name: Kind, Title: "Data request", Many: "data requests", Max: Max,
	Advice: "An ended request is deleted after 35 days, and many access requests by the operator.",
	Unique: (*Request).openAs, UniqueField: "identityValue",
	Publishes: map[record.Verb]string{record.Created: KindCreated},
	Security:  securityEvents, Redact: redact,
}

// private is the hidden part of a request.
type private struct {
	// Identity is the keyed hash of the address, by which a request is found once the address is
	// masked.
	Identity string `json:"identity"`
	// Adopted are the contacts that come from failed erasures for the address, with the times of these
	// requests.
	Adopted map[string]wire.Time `json:"adopted,omitempty"`
	// Claim names the parts of the archive.
	Claim int64 `json:"claim,omitempty"`
	// EndedAt is the time of the end.
	EndedAt wire.Time `json:"ended_at,omitzero"`
	// Erased is set if an erasure of the person came before the end of the request.
	Erased bool `json:"erased,omitempty"`
}

// private returns the hidden part of the request.
func (r *Request) private() (p private, err error) {
	if err = json.Unmarshal(r.Hidden(), &p); err != nil {
		return p, fmt.Errorf("datarequest: decode the hidden part of %s: %w", r.ID, err)
	}
	return p, nil
}

// hide stores the hidden part.
func (r *Request) hide(p private) error {
	hidden, err := wire.Encode(p)
	if err != nil {
		return fmt.Errorf("datarequest: encode the hidden part of %s: %w", r.ID, err)
	}
	r.Hide(hidden)
	return nil
}

// keep changes the hidden part.
func (r *Request) keep(change func(*private)) error {
	p, err := r.private()
	if err != nil {
		return err
	}
	change(&p)
	return r.hide(p)
}

// ended reports whether the request is done: completed, or ended by an erasure of the person.
func (r *Request) ended() bool {
	p, err := r.private()
	return r.Status == Completed || err == nil && p.Erased
}

// openAs returns the unique value of an open request; empty after the end of a request.
func (r *Request) openAs() string {
	p, err := r.private()
	if err != nil || !r.Open() {
		return ""
	}
	return r.Type + "#" + p.Identity
}

// Open reports whether the request is still to be done.
func (r *Request) Open() bool { return r.Status == Pending || r.Status == Processing }

// securityEvents returns the actions of the security events of a change.
func securityEvents(before, after *Request) []string {
	switch {
	case before == nil || before.Status == after.Status:
	case after.Status == Completed:
		return []string{ActionCompleted}
	case after.Status == Failed:
		return []string{ActionFailed}
	}
	return nil
}

// redact takes the address out of a change record.
func redact(values []change.Value) {
	for i, v := range values {
		if v.Field == "identity_value" {
			values[i] = change.Value{Field: v.Field}
		}
	}
}
