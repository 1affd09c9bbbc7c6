// Package session owns sessions and abstracts: their stored record, their rules,
// their place in the table, how they are searched and how they are shown
// (spec.md sections 2.4-2.6 and 4.2). Custom fields, metadata and roles it asks
// the packages of those names, and so contacts and accounts, which it stores by id only.
package session

import (
	"encoding/json"
	"fmt"

	"lectern/shared/field"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Limits of one session (gaps.md section 1, design.md section 3).
const (
	maxSubsessions = 50
	maxSources     = 50
	maxRecordBytes = 150 << 10
	maxDescription = 64 << 10
)

// Ways a source was linked into its target (spec.md section 2.5).
const (
	MergedSession       = "merged_session"
	MergedAbstract      = "merged_abstract"
	ComposedIntoSession = "composed_into_session"
)

// locationRoom is the one location for which a room is shown.
const locationRoom = "room"

// Where a session came from.
const (
	sourceAPI   = "public_api"
	sourceAdmin = "admin"
)

// Body is the stored session. It names rooms, tracks, people, accounts and
// partners by id only, so a change of those never rewrites a session.
type Body struct {
	ID string `json:"id"`
	// Number is the running number of a session in its event, of a subsession
	// in its parent.
	Number int64 `json:"number"`
	// Parent and ParentNumber are set on a subsession.
	Parent       string `json:"parent,omitempty"`
	ParentNumber int64  `json:"parent_number,omitempty"`

	Title          string                 `json:"title"`
	Description    *string                `json:"description,omitempty"`
	StartsAt       *wire.Time             `json:"starts_at,omitempty"`
	EndsAt         *wire.Time             `json:"ends_at,omitempty"`
	IsAbstract     bool                   `json:"is_abstract,omitempty"`
	Status         *string                `json:"status,omitempty"`
	CustomStatusID *string                `json:"custom_status_id,omitempty"`
	Location       *string                `json:"location,omitempty"`
	RoomID         *string                `json:"room_id,omitempty"`
	TrackID        *string                `json:"track_id,omitempty"`
	LevelID        *string                `json:"level_id,omitempty"`
	FormatID       *string                `json:"format_id,omitempty"`
	LanguageID     *string                `json:"language_id,omitempty"`
	TagIDs         []string               `json:"tag_ids,omitempty"`
	IsPublic       bool                   `json:"is_public,omitempty"`
	ExternalURL    *string                `json:"external_url,omitempty"`
	ClientID       *string                `json:"client_session_id,omitempty"`
	CEUCredits     *float64               `json:"ceu_credits,omitempty"`
	Capacity       *int                   `json:"capacity,omitempty"`
	Source         string                 `json:"source"`
	Participants   []Participant          `json:"participants,omitempty"`
	SponsorIDs     []string               `json:"sponsor_ids,omitempty"`
	ExhibitorIDs   []string               `json:"exhibitor_ids,omitempty"`
	CustomFields   map[string]field.Value `json:"custom_fields,omitempty"`
	Translations   field.Translations     `json:"translations,omitempty"`

	// Subsessions are the ids of those that are not deleted; LastNumber is what
	// the newest one was numbered.
	Subsessions []string `json:"subsessions,omitempty"`
	LastNumber  int64    `json:"last_number,omitempty"`
	// Target is set on a composition source, Sources on a target.
	Target  *Link  `json:"target,omitempty"`
	Sources []Link `json:"sources,omitempty"`

	Withdrawn *Withdrawal `json:"withdrawn,omitempty"`
	CreatedAt wire.Time   `json:"created_at"`
	UpdatedAt wire.Time   `json:"updated_at"`
	DeletedAt *wire.Time  `json:"deleted_at,omitempty"`
	// Sequence counts the published kinds of change of this session.
	Sequence int64 `json:"sequence"`
	// Version is the item's, not part of the text.
	Version int64 `json:"-"`
	// bytes is how long the text was that the body was read from.
	bytes int
}

// Participant is one person's role on a session.
type Participant struct {
	ID               string     `json:"id"`
	ContactID        string     `json:"contact_id"`
	RoleID           string     `json:"role_id"`
	Order            int        `json:"order"`
	AcceptanceStatus string     `json:"acceptance_status"`
	InviteSentAt     *wire.Time `json:"acceptance_invite_sent_at,omitempty"`
}

// Link is one side of a composition: the partner and how they are related.
type Link struct {
	CompositionID string    `json:"composition_id"`
	SessionID     string    `json:"session_id"`
	Relationship  string    `json:"relationship_type"`
	CreatedAt     wire.Time `json:"created_at"`
}

// Withdrawal says who withdrew a session, why and when (gaps.md section 2.4).
type Withdrawal struct {
	Who string    `json:"who"`
	Why string    `json:"why"`
	At  wire.Time `json:"at"`
}

// friendlyPrefix begins every friendly id of a session (gaps.md section 2.2).
const friendlyPrefix = "SESS-"

// FriendlyID is the id people read: SESS-12, or SESS-12-3 for a subsession.
func (b *Body) FriendlyID() string {
	if b.Parent == "" {
		return fmt.Sprint(friendlyPrefix, b.Number)
	}
	return fmt.Sprint(friendlyPrefix, b.ParentNumber, "-", b.Number)
}

// partners are the ids of the sessions b is composed with.
func (b *Body) partners() (ids []string) {
	for _, link := range b.Sources {
		ids = append(ids, link.SessionID)
	}
	if b.Target != nil {
		ids = append(ids, b.Target.SessionID)
	}
	return ids
}

// decode reads a body from its item.
func decode(item table.Item) (*Body, error) {
	body := &Body{}
	if err := json.Unmarshal(item.Data, body); err != nil {
		return nil, fmt.Errorf("session: decode %s: %w", item.PK, err)
	}
	body.Version, body.bytes = item.Version, len(item.Data)
	return body, nil
}

// clone is a deep copy, for a rule to change while the original stays what was
// read.
func (b *Body) clone() *Body {
	text, err := json.Marshal(b)
	if err != nil {
		panic(fmt.Sprintf("session: a body that was read cannot be written: %v", err))
	}
	copied := &Body{Version: b.Version}
	if err := json.Unmarshal(text, copied); err != nil {
		panic(fmt.Sprintf("session: a body that was written cannot be read: %v", err))
	}
	return copied
}
