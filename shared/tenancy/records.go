package tenancy

import (
	"slices"
	"strconv"
	"time"

	"lectern/shared/table"
	"lectern/shared/wire"
)

// Organization is a customer. Every record of a customer is stored below the id.
type Organization struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
	// Disabled organizations are refused at sign-in.
	Disabled bool `json:"disabled"`
	// AIEnabled reports whether members may connect assistants.
	AIEnabled bool `json:"ai_enabled"`
	// PersonItems reports whether all items of persons are written (package person). maintain
	// writes the items of older organizations.
	PersonItems bool `json:"person_items,omitempty"`
	// RowsCounted reports whether every shard counts the rows (table.Item.Count). maintain
	// counts the rows of older organizations (catalogue.Recount).
	RowsCounted bool `json:"rows_counted,omitempty"`
	// AwardPrograms is how many award programs the plan has; nil for the default.
	AwardPrograms *int `json:"award_programs,omitempty"`
	// HourItems reports whether every hour with change records has an item (change.Hour).
	HourItems bool      `json:"hour_items,omitempty"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`
	// Settings counts the changes of the organization's settings.
	Settings int64 `json:"-"`
	// Auth counts the changes of the organization, the tokens, members and events, in the
	// transaction of each change.
	Auth    int64 `json:"-"`
	Version int64 `json:"-"`
}

// awardPrograms is how many award programs a plan has by default.
const awardPrograms = 10

// MostAwardPrograms returns how many award programs the organization may have.
func (o *Organization) MostAwardPrograms() int {
	if o.AwardPrograms == nil {
		return awardPrograms
	}
	return *o.AwardPrograms
}

// Role says what a member may do in the organization.
type Role string

// The roles. A member with RoleEventOnly sees the permitted events alone.
const (
	RoleAdmin     Role = "admin"
	RoleMember    Role = "member"
	RoleEventOnly Role = "event_only"
)

// Roles lists every role.
var Roles = []Role{RoleAdmin, RoleMember, RoleEventOnly}

// Member is a user as part of an organization.
type Member struct {
	ID    int64  `json:"id"`
	OrgID int64  `json:"org_id"`
	Name  string `json:"name"`
	Email string `json:"email"`
	Role  Role   `json:"role"`
	// Active reports whether the member's tokens work (spec.md section 5.1).
	Active bool `json:"active"`
	// ManageUsers lets a member without RoleAdmin manage users too.
	ManageUsers bool `json:"manage_users"`
	// AIAccess lets the member connect assistants.
	AIAccess bool `json:"ai_access"`
	// EventIDs are the permitted events of a member with RoleEventOnly.
	EventIDs []int64 `json:"event_ids"`
	// RemovedAt is when the member left; nil for a member of the organization.
	RemovedAt *wire.Time `json:"removed_at,omitempty"`
	// AbsentAt is when the member last became inactive or left; nil if never. It ends sessions of browsers also for a member who is back.
	AbsentAt  *wire.Time `json:"absent_at,omitempty"`
	CreatedAt wire.Time  `json:"created_at"`
	UpdatedAt wire.Time  `json:"updated_at"`
	Version   int64      `json:"-"`
}

// Present reports whether the member is active and has not left.
func (m *Member) Present() bool { return m.Active && m.RemovedAt == nil }

// AbsentSince reports whether the member became inactive or left at a time or later.
func (m *Member) AbsentSince(at wire.Time) bool {
	return m.AbsentAt != nil && !m.AbsentAt.Before(at.Time)
}

// MayConnect reports whether the member may connect applications: the organization has the AI
// features, and the member has AI Access.
func (m *Member) MayConnect(o *Organization) bool { return o.AIEnabled && m.AIAccess }

// MayManageUsers reports whether the member may create log export tokens.
func (m *Member) MayManageUsers() bool { return m.Role == RoleAdmin || m.ManageUsers }

// Sees reports whether the member may see an event of the organization.
func (m *Member) Sees(event int64) bool {
	return m.Role != RoleEventOnly || slices.Contains(m.EventIDs, event)
}

// Scope is a permission of a token; package auth has the list.
type Scope string

// ReadAuditLogs is the scope of log export tokens; no other token has the scope.
const ReadAuditLogs Scope = "read:audit_logs"

// Kind tells tokens apart.
type Kind string

// The kinds of tokens. A legacy token has no scopes and may read nearly all; a
// log export token reads the logs and nothing else (spec.md section 5.1). A member has a
// token of the kind KindOAuth for each connected application (Grant).
const (
	KindAPI       Kind = "api"
	KindLegacy    Kind = "legacy"
	KindLogExport Kind = "log_export"
	KindOAuth     Kind = "oauth"
)

// Token is an API token, with a hash in place of the secret.
type Token struct {
	ID    int64 `json:"id"`
	OrgID int64 `json:"org_id"`
	// UserID is the member that created the token; the token may do no more than the member.
	UserID int64  `json:"user_id"`
	Name   string `json:"name"`
	Kind   Kind   `json:"kind"`
	// Scopes is empty for a legacy token alone.
	Scopes []Scope `json:"scopes"`
	// EventIDs limits the token to these events; empty is no limit.
	EventIDs []int64 `json:"event_ids"`
	// ObfuscatePII has the answers to queries mask personal data, whatever the request asks for (gaps.md section 1).
	ObfuscatePII bool `json:"obfuscate_pii,omitempty"`
	// Limit is the token's own number of requests a window; 0 is the default.
	Limit     int64      `json:"limit,omitempty"`
	ExpiresAt *wire.Time `json:"expires_at,omitempty"`
	RevokedAt *wire.Time `json:"revoked_at,omitempty"`
	// SecretHash is the SHA-256 of the token's secret part; nil for the kind KindOAuth.
	SecretHash []byte `json:"secret_hash,omitempty"`
	// Grant is nil for all kinds but KindOAuth.
	Grant     *Grant    `json:"grant,omitempty"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`
	Version   int64     `json:"-"`
}

// WithoutSecret returns a copy to show, without the hashes of secrets.
func (t *Token) WithoutSecret() *Token {
	shown := *t
	shown.SecretHash = nil
	if t.Grant != nil {
		shown.Grant = &Grant{ClientID: t.Grant.ClientID, Ended: t.Grant.Ended}
	}
	return &shown
}

// Expired reports whether the token is no longer valid.
func (t *Token) Expired(now time.Time) bool {
	return t.ExpiresAt != nil && !now.Before(t.ExpiresAt.Time)
}

// Sees reports whether the token may be used on an event of the organization.
func (t *Token) Sees(event int64) bool {
	return len(t.EventIDs) == 0 || slices.Contains(t.EventIDs, event)
}

// MemberPK returns the partition of a member.
func MemberPK(org, id int64) string { return table.Org(org) + "#U#" + strconv.FormatInt(id, 10) }

// TokenPK returns the partition of a token.
func TokenPK(org, id int64) string { return table.Org(org) + "#T#" + strconv.FormatInt(id, 10) }

// Organizations, Members and Tokens are the families of this package.
var (
	Organizations = Family[Organization]{Name: "organization", Title: "Organization",
		Check: func(o *Organization, _ Store) error { return CheckName(o.Name) },
		Facts: func(o *Organization) Facts {
			return Facts{ID: &o.ID, Version: &o.Version, Settings: &o.Settings, Auth: &o.Auth,
				CreatedAt: &o.CreatedAt, UpdatedAt: &o.UpdatedAt, Org: o.ID, PK: table.Org(o.ID)}
		}}
	Members = Family[Member]{Name: "member", Title: "Member", Check: (*Member).check, Security: memberEvents, Personal: true,
		Facts: func(m *Member) Facts {
			return Facts{ID: &m.ID, Version: &m.Version,
				CreatedAt: &m.CreatedAt, UpdatedAt: &m.UpdatedAt, Org: m.OrgID, PK: MemberPK(m.OrgID, m.ID)}
		}}
	Tokens = Family[Token]{Name: "token", Title: "Token", Check: (*Token).check,
		Secret: []string{"secret_hash", "grant"}, Security: tokenEvents, Also: connectionLines,
		Facts: func(t *Token) Facts {
			return Facts{ID: &t.ID, Version: &t.Version,
				CreatedAt: &t.CreatedAt, UpdatedAt: &t.UpdatedAt, Org: t.OrgID, PK: TokenPK(t.OrgID, t.ID)}
		}}
)
