// Package session defines what a session or abstract is (spec.md sections 2.4 to 2.6): its
// record, its place in the table, its rules, and how a draft changes it. Read the files in
// this order:
//
//	record.go        the stored session
//	keys.go          its place in the table
//	row.go           its row for searches, and the numbers of contacts and roles in rows
//	draft.go         a session as a client sends it
//	people.go        the contacts and accounts that sessions name, loaded by id
//	rules.go         the rules of a draft and of stored sessions, in the order of refusals
//	participants.go  the people and accounts of a draft
//	file.go          the completed files of a session
//	edit.go          a draft on its way into a record
//	change.go        a changed session as items and change record
//
// Package view shows sessions, package store reads and writes them.
package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/field"
	"lectern/shared/person"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Limits of a session (gaps.md section 1, design.md section 3).
const (
	maxSubsessions = 50
	maxSources     = 50
	maxRecordBytes = 150 << 10
	maxDescription = 64 << 10
)

// Ways to link a source into a target (spec.md section 2.5).
const (
	MergedSession       = "merged_session"
	MergedAbstract      = "merged_abstract"
	ComposedIntoSession = "composed_into_session"
)

// Roles in a composition (spec.md section 2.5).
const (
	Standalone = "standalone"
	target     = "target"
	source     = "source"
)

// CompositionRole returns the role of the session in a composition.
func (b *Body) CompositionRole() string {
	switch {
	case b.Target != nil:
		return source
	case len(b.Sources) > 0:
		return target
	}
	return Standalone
}

// LocationRoom is the only location that shows a room.
const LocationRoom = "room"

// Values of source.
const (
	SourceAPI   = "public_api"
	SourceAdmin = "admin"
)

// Body is the stored session. Rooms, tracks, people, accounts and linked sessions are ids,
// so a change of a room never rewrites a session.
type Body struct {
	ID string `json:"id"`
	// Number counts the sessions of an event, or the subsessions of a parent.
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

	// Content are the completed files, in the order in which they were completed first.
	Content []File `json:"content,omitempty"`
	// Subsessions are the ids of the subsessions that are not deleted. LastNumber is the
	// number of the newest subsession.
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
	// Version belongs to the item and is not part of the text.
	Version int64 `json:"-"`
	// bytes is the length of the decoded text.
	bytes int
	// rest are the properties of a later release.
	rest wire.Rest
}

// Participant is a role of a contact on a session.
type Participant struct {
	ID               string     `json:"id"`
	ContactID        string     `json:"contact_id"`
	RoleID           string     `json:"role_id"`
	Order            int        `json:"order"`
	AcceptanceStatus string     `json:"acceptance_status"`
	InviteSentAt     *wire.Time `json:"acceptance_invite_sent_at,omitempty"`
}

// same reports whether both entries give the same contact the same role.
func (p Participant) same(other Participant) bool {
	return p.ContactID == other.ContactID && p.RoleID == other.RoleID
}

// Link is the composition of a session with the session SessionID.
type Link struct {
	CompositionID string    `json:"composition_id"`
	SessionID     string    `json:"session_id"`
	Relationship  string    `json:"relationship_type"`
	CreatedAt     wire.Time `json:"created_at"`
}

// Withdrawal notes a withdrawn session (gaps.md section 2.4).
type Withdrawal struct {
	Who string    `json:"who"`
	Why string    `json:"why"`
	At  wire.Time `json:"at"`
}

// friendlyPrefix begins the friendly id of every session (gaps.md section 2.2).
const friendlyPrefix = "SESS-"

// FriendlyID returns the id for people: SESS-12, or SESS-12-3 for a subsession.
func (b *Body) FriendlyID() string {
	if b.Parent == "" {
		return fmt.Sprint(friendlyPrefix, b.Number)
	}
	return fmt.Sprint(b.ParentFriendlyID(), "-", b.Number)
}

// ParentFriendlyID returns the friendly id of a subsession's parent.
func (b *Body) ParentFriendlyID() string { return fmt.Sprint(friendlyPrefix, b.ParentNumber) }

// Linked returns the ids of the sessions that b is composed with.
func (b *Body) Linked() (ids []string) {
	for _, link := range b.Sources {
		ids = append(ids, link.SessionID)
	}
	if b.Target != nil {
		ids = append(ids, b.Target.SessionID)
	}
	return ids
}

// Related returns the ids of all sessions that b names: linked sessions, subsessions and the
// parent.
func (b *Body) Related() []string {
	ids := append(b.Linked(), b.Subsessions...)
	if b.Parent != "" {
		ids = append(ids, b.Parent)
	}
	return ids
}

// HasContact reports whether a contact is a participant.
func (b *Body) HasContact(contact string) bool {
	for _, p := range b.Participants {
		if p.ContactID == contact {
			return true
		}
	}
	return false
}

// Parties returns the ids of the contacts and accounts that b names.
func (b *Body) Parties() (contacts, accounts []string) {
	for _, p := range b.Participants {
		contacts = append(contacts, p.ContactID)
	}
	return contacts, slices.Concat(b.SponsorIDs, b.ExhibitorIDs)
}

// Roles returns the roles of the contacts on b.
func (b *Body) Roles() person.Roles {
	roles := person.Roles{}
	for _, p := range b.Participants {
		roles.Add(p.ContactID, p.RoleID)
	}
	return roles
}

// Room returns the id of the room that the session shows; nil for a session at another location.
func (b *Body) Room() *string {
	if Value(b.Location) == LocationRoom {
		return b.RoomID
	}
	return nil
}

// Bytes returns the length of the text that b was decoded from; 0 for a new session.
func (b *Body) Bytes() int { return b.bytes }

// HasRoomFor reports whether the text that b was decoded from may become longer by some bytes.
func (b *Body) HasRoomFor(bytes int) bool { return b.bytes+bytes <= maxRecordBytes }

// Decode reads a body from its item.
func Decode(item table.Item) (*Body, error) {
	body := &Body{}
	rest, err := wire.DecodeWithRest(item.Data, body)
	if err != nil {
		return nil, fmt.Errorf("session: decode %s: %w", item.PK, err)
	}
	body.Version, body.bytes, body.rest = item.Version, len(item.Data), rest
	return body, nil
}

// encode writes a body as stored; 400 over maxRecordBytes.
func encode(b *Body) ([]byte, error) {
	text, err := b.rest.Encode(b)
	if err != nil {
		return nil, fmt.Errorf("session: encode %s: %w", b.ID, err)
	}
	if len(text) > maxRecordBytes {
		return nil, apierr.Invalid("", "The session as a whole must not be larger than %d bytes.", maxRecordBytes)
	}
	return text, nil
}

// Clone returns a deep copy of a body that was read, to be changed.
func (b *Body) Clone() *Body {
	text, err := json.Marshal(b)
	if err != nil {
		panic(fmt.Sprintf("session: a body that was read cannot be written: %v", err))
	}
	copied := &Body{Version: b.Version, rest: b.rest}
	if err := json.Unmarshal(text, copied); err != nil {
		panic(fmt.Sprintf("session: a body that was written cannot be read: %v", err))
	}
	return copied
}

// Duplicate returns a Clone for another session, without the properties of a later release: they may
// belong to one session.
func (b *Body) Duplicate() *Body {
	copied := b.Clone()
	copied.rest = nil
	return copied
}
