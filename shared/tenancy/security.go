package tenancy

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lectern/shared/change"
	"lectern/shared/secret"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// The actions of security events.
const (
	TokenCreated = "token.created"
	TokenUpdated = "token.updated"
	TokenRevoked = "token.revoked"
	// The actions of the connection of an application. Reuse tells why a connection has ended.
	ConnectionCreated = "connection.created"
	ConnectionUpdated = "connection.updated"
	ConnectionEnded   = "connection.ended"
	ConnectionReuse   = "connection.reuse"
	// ConnectionApproved and ConnectionRefused are the answers of a member to an application.
	ConnectionApproved = "connection.approved"
	ConnectionRefused  = "connection.refused"
	// SignInFailed is the event of a person whom an identity provider has sent and who was not signed in.
	SignInFailed    = "member.sign_in_failed"
	ProviderCreated = "identity_provider.created"
	ProviderUpdated = "identity_provider.updated"
	RoleChanged     = "member.role_changed"
	ActivityChanged = "member.activity_changed"
	// OwnerInactive is the event of a member that is not present any more, so that the tokens
	// are refused.
	OwnerInactive = "owner.inactive"
)

// SecurityEvent notes a change of who may call. The values are in the change record of the
// same id.
type SecurityEvent struct {
	// ID is the id of the change record.
	ID        string       `json:"id"`
	At        wire.Time    `json:"at"`
	Org       int64        `json:"org"`
	Action    string       `json:"action"`
	Actor     change.Actor `json:"actor"`
	RequestID string       `json:"request_id,omitempty"`
	// Type is the kind of the changed record, RecordID the id, Version the new version.
	Type     string `json:"type"`
	RecordID string `json:"record_id"`
	Version  int64  `json:"version"`
	Source   string `json:"source"`
	// Reason says why an act failed; empty for one that succeeded.
	Reason string `json:"reason,omitempty"`
}

// Key returns the key of the event.
func (e SecurityEvent) Key() table.Key {
	return table.Key{PK: SecurityPartition(e.Org, e.At.Time), SK: e.ID + "#" + e.Action}
}

// SecurityRoot returns the beginning of the partitions of an organization's security events.
func SecurityRoot(org int64) string { return table.Org(org) + "#X" }

// SecurityPartition returns the partition of an organization's security events in the
// month of at, ordered by time.
func SecurityPartition(org int64, at time.Time) string {
	return SecurityRoot(org) + "#" + at.UTC().Format("200601")
}

// SecurityWrites returns the writes of the security events of a change.
func SecurityWrites(c change.Record, actions []string) []table.Write {
	writes := make([]table.Write, len(actions))
	for i, action := range actions {
		writes[i] = eventOf(c, action).write()
	}
	return writes
}

// eventOf returns the security event of a change.
func eventOf(c change.Record, action string) SecurityEvent {
	return SecurityEvent{
		ID: c.ID, At: c.At, Org: c.Org, Action: action, Actor: c.Actor, RequestID: c.RequestID,
		Type: c.Type, RecordID: c.RecordID, Version: c.Version, Source: c.Source,
	}
}

// write returns the write of the event.
func (e SecurityEvent) write() table.Write {
	data, err := json.Marshal(e)
	if err != nil {
		panic(fmt.Sprintf("tenancy: encode security event: %v", err)) // Texts and numbers can be encoded.
	}
	return table.Insert(table.Item{Key: e.Key(), Version: 1, Data: data})
}

// PersonWrites returns the writes of a security event of what a member did in a browser, in the member's organization.
func (s Store) PersonWrites(ctx context.Context, org, user int64, action string) []table.Write {
	by := change.WithActor(ctx, change.Actor{Type: change.ActorUser, ID: user}, change.SourceAPI)
	return SecurityWrites(s.act(by, org, Members.Name, user), []string{action})
}

// act returns an act on a record that changes no record.
func (s Store) act(ctx context.Context, org int64, kind string, id int64) change.Record {
	return change.New(ctx, change.Record{
		At: wire.At(s.Now()), Org: org, Type: kind, RecordID: strconv.FormatInt(id, 10),
		Version: int64(binary.BigEndian.Uint64([]byte(secret.NewText())) >> 1), // Two acts at one moment have different ids.
	})
}

// FailureWrite returns the write of the security event of a person whom an identity provider has sent and who was not signed in.
func (s Store) FailureWrite(ctx context.Context, p *Provider, reason string) table.Write {
	by := change.WithActor(ctx, change.Actor{Type: change.ActorSystem}, change.SourceAPI)
	e := eventOf(s.act(by, p.OrgID, Providers.Name, p.ID), SignInFailed)
	e.Reason = reason
	return e.write()
}

// tokenEvents returns the security events of a token's change.
func tokenEvents(before, after *Token) []string {
	if after.Grant != nil {
		return connectionEvents(before, after)
	}
	switch {
	case before == nil:
		return []string{TokenCreated}
	case before.RevokedAt != nil:
		return nil // A revoked token changes no more.
	case after.RevokedAt != nil:
		return []string{TokenRevoked}
	}
	return []string{TokenUpdated}
}

// providerEvents returns the security events of a change of an identity provider.
func providerEvents(before, _ *Provider) []string {
	if before == nil {
		return []string{ProviderCreated}
	}
	return []string{ProviderUpdated}
}

// connectionEvents returns the security events of a change of a connection.
func connectionEvents(before, after *Token) []string {
	switch {
	case before == nil:
		return []string{ConnectionCreated}
	case before.RevokedAt != nil:
		return nil // An ended connection changes no more.
	case after.RevokedAt != nil && after.Grant.Ended == EndedByReuse:
		return []string{ConnectionEnded, ConnectionReuse}
	case after.RevokedAt != nil:
		return []string{ConnectionEnded}
	}
	return []string{ConnectionUpdated}
}

// memberEvents returns the security events of a member's change. Permissions
// count as the role.
func memberEvents(before, after *Member) (actions []string) {
	if before == nil {
		return nil
	}
	if before.Role != after.Role || before.ManageUsers != after.ManageUsers || !slices.Equal(before.EventIDs, after.EventIDs) {
		actions = append(actions, RoleChanged)
	}
	if before.Present() != after.Present() {
		actions = append(actions, ActivityChanged)
	}
	if before.Present() && !after.Present() {
		actions = append(actions, OwnerInactive)
	}
	return actions
}
