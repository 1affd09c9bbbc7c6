package tenancy

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lectern/shared/change"
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
	ProviderCreated   = "identity_provider.created"
	ProviderUpdated   = "identity_provider.updated"
	RoleChanged       = "member.role_changed"
	ActivityChanged   = "member.activity_changed"
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
		e := SecurityEvent{
			ID: c.ID, At: c.At, Org: c.Org, Action: action, Actor: c.Actor, RequestID: c.RequestID,
			Type: c.Type, RecordID: c.RecordID, Version: c.Version, Source: c.Source,
		}
		data, err := json.Marshal(e)
		if err != nil {
			panic(fmt.Sprintf("tenancy: encode security event: %v", err)) // Texts and numbers can be encoded.
		}
		writes[i] = table.Insert(table.Item{Key: e.Key(), Version: 1, Data: data})
	}
	return writes
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
