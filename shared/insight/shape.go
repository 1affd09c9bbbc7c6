package insight

import (
	"reflect"
	"regexp"
	"strings"
	"time"

	"lectern/shared/field"
	"lectern/shared/query"
	"lectern/shared/wire"
)

// The shapes have the fields of entities as the API shows them. The tag depth says how much of a record a field needs: nothing for
// the row of the catalogue, "body" for what the memory keeps of a session, "whole" for the whole session.

// inEvent begins the shape of each record of an event.
type inEvent struct {
	ID      string  `json:"id" doc:"The id."`
	EventID float64 `json:"event_id" doc:"The id of the event."`
}

// times end most shapes.
type times struct {
	CreatedAt wire.Time `json:"created_at" doc:"When the record was created."`
	UpdatedAt wire.Time `json:"updated_at" doc:"When the record was last changed."`
}

// day is a date such as 2027-05-10; empty for none.
type day string

// optional is a text; empty for none.
type optional string

type sessionShape struct {
	inEvent
	FriendlyID       string     `json:"friendly_id" doc:"The id for people, such as SESS-12."`
	FriendlyIDRaw    float64    `json:"friendly_id_raw" depth:"body" doc:"The last number of friendly_id."`
	Title            string     `json:"title" doc:"The title."`
	Description      *string    `json:"description" depth:"whole" doc:"The description."`
	Status           optional   `json:"status" doc:"accepted, accept_queue, pending, decline_queue or declined."`
	CustomStatusID   *string    `json:"custom_status_id" depth:"body" doc:"The id of the event's own status."`
	CustomStatus     *string    `json:"custom_status" depth:"body" doc:"The name of the event's own status."`
	StartsAt         *wire.Time `json:"starts_at" doc:"The start."`
	StartDate        day        `json:"start_date" doc:"The day of the start, in the event's time zone."`
	EndsAt           *wire.Time `json:"ends_at" depth:"body" doc:"The end."`
	EndDate          day        `json:"end_date" depth:"body" doc:"The day of the end, in the event's time zone."`
	DurationMinutes  *float64   `json:"duration_minutes" depth:"body" doc:"The minutes from start to end."`
	Location         *string    `json:"location" depth:"body" doc:"room, virtual or other."`
	RoomID           *string    `json:"room_id" depth:"body" doc:"The id of the room."`
	TrackID          *string    `json:"track_id" doc:"The id of the track."`
	FormatID         *string    `json:"format_id" doc:"The id of the format."`
	LevelID          *string    `json:"level_id" doc:"The id of the level."`
	LanguageID       *string    `json:"language_id" doc:"The id of the language."`
	ParentSessionID  optional   `json:"parent_session_id" doc:"The id of the parent of a subsession."`
	CompositionRole  string     `json:"composition_role" depth:"body" doc:"standalone, target or source."`
	IsAbstract       bool       `json:"is_abstract" doc:"Whether the record is an abstract."`
	IsPublic         bool       `json:"is_public" depth:"body" doc:"Whether the session is public."`
	ExternalURL      *string    `json:"external_url" depth:"body" doc:"An address outside of the service."`
	ClientSessionID  *string    `json:"client_session_id" depth:"body" doc:"The id in the client's system."`
	CEUCredits       *float64   `json:"ceu_credits" depth:"body" doc:"Credits for continuing education."`
	Capacity         *int       `json:"capacity" depth:"body" doc:"How many people the session takes."`
	ParticipantCount float64    `json:"participant_count" depth:"body" doc:"How many participants the session has, in all roles."`
	FileCount        float64    `json:"file_count" depth:"body" doc:"How many files the session has."`
	Source           string     `json:"source" depth:"body" doc:"public_api, admin or import."`
	times
}

// partyShape has what contacts and accounts have beside their standard fields.
type partyShape struct {
	inEvent
	FriendlyID    string  `json:"friendly_id" doc:"The id for people: CONT-12 of a person, ACCT-12 of a company."`
	FriendlyIDRaw float64 `json:"friendly_id_raw" doc:"The number of friendly_id."`
	times
}

// personShape has the name of a contact, too.
type personShape struct {
	partyShape
	FullName *string `json:"full_name" doc:"First and last name."`
}

// participantShape is a role of a contact on a session.
type participantShape struct {
	inEvent
	SessionID         string     `json:"session_id" doc:"The id of the session, abstract or subsession."`
	ContactID         string     `json:"contact_id" doc:"The id of the contact."`
	RoleID            string     `json:"role_id" doc:"The id of the role."`
	RoleName          string     `json:"role_name" doc:"The name of the role."`
	RoleSlug          string     `json:"role_slug" doc:"The short name of the role, such as speaker."`
	CoreRole          string     `json:"core_role" doc:"speaker, chairperson or moderator."`
	IsCustom          bool       `json:"is_custom" doc:"Whether the event has added the role."`
	Order             float64    `json:"order" doc:"The place among the participants of the session."`
	AcceptanceStatus  optional   `json:"acceptance_status" doc:"Whether the participant will come: pending, accepted or declined; on events with speaker_acceptance."`
	InviteSentAt      *wire.Time `json:"acceptance_invite_sent_at" doc:"When the participant was asked."`
	FullName          *string    `json:"full_name" doc:"First and last name of the contact."`
	ContactFriendlyID string     `json:"contact_friendly_id" doc:"The id of the contact for people."`
	ContactCreatedAt  wire.Time  `json:"contact_created_at" doc:"When the contact was created."`
}

// listShape is an entry of a list of the event: a room, a track and so on.
type listShape struct {
	inEvent
	Name  string  `json:"name" doc:"The name."`
	Order float64 `json:"order" doc:"The place in the list."`
	times
}

type roomShape struct {
	listShape
	Capacity *int `json:"capacity" doc:"How many people the room takes."`
}

type trackShape struct {
	listShape
	Color *string `json:"color" doc:"The color, such as #3366ff."`
}

type fileShape struct {
	inEvent
	SessionID     string  `json:"session_id" doc:"The id of the session."`
	Title         string  `json:"title" doc:"The title."`
	Filename      string  `json:"filename" doc:"The name of the file."`
	Size          float64 `json:"size" doc:"The number of bytes."`
	MIMEType      string  `json:"mimetype" doc:"The type of the bytes, such as application/pdf."`
	Type          string  `json:"type" doc:"The type of the upload slot; other for a file outside of any slot."`
	ContentSlotID *string `json:"content_slot_id" doc:"The id of the upload slot."`
	AssignedID    *string `json:"assigned_participant_id" doc:"The id of the contact whose file it is."`
	ScanStatus    string  `json:"scan_status" doc:"clean or not_scanned."`
	times
}

type eventShape struct {
	ID        float64   `json:"id" doc:"The id."`
	Name      string    `json:"name" doc:"The name."`
	Timezone  string    `json:"timezone" doc:"The time zone, such as Europe/Berlin."`
	StartsAt  wire.Time `json:"starts_at" doc:"The start."`
	StartDate day       `json:"start_date" doc:"The day of the start, in the event's time zone."`
	EndsAt    wire.Time `json:"ends_at" doc:"The end."`
	times
}

// depth is how much of a record a column needs.
type depth int

const (
	ofRow depth = iota
	ofBody
	ofWhole
)

// depths are the values of the tag depth.
var depths = map[string]depth{"": ofRow, "body": ofBody, "whole": ofWhole}

// types are the types of columns by those of the fields.
var types = map[reflect.Type]query.Type{
	reflect.TypeFor[string](): query.String, reflect.TypeFor[*string](): query.String, reflect.TypeFor[optional](): query.String,
	reflect.TypeFor[float64](): query.Float, reflect.TypeFor[*float64](): query.Float, reflect.TypeFor[*int](): query.Float,
	reflect.TypeFor[wire.Time](): query.Time, reflect.TypeFor[*wire.Time](): query.Time, reflect.TypeFor[day](): query.Date,
	reflect.TypeFor[bool](): query.Bool,
}

// value returns a field of a shape, to which shape points, as the engine takes it: a text, a float64, a bool or nil.
func value(shape any, index []int) any {
	field := reflect.ValueOf(shape).Elem().FieldByIndex(index)
	if field.Kind() == reflect.Pointer {
		if field.IsNil() {
			return nil
		}
		field = field.Elem()
	}
	switch v := field.Interface().(type) {
	case int:
		return float64(v)
	case wire.Time:
		return v.UTC().Format(query.TimeLayout)
	case day, optional:
		if field.Len() == 0 {
			return nil
		}
		return field.String()
	default:
		return v
	}
}

// fromMillis returns a time of a row.
func fromMillis(at int64) wire.Time { return wire.At(time.UnixMilli(at)) }

// hidden stands for personal data that is no address and no number.
const hidden = "***"

// mask returns the masked form of a value of personal data: the value of an e-mail field as j***@a***.com, of a phone
// field as ***-***-4567, and of any other field as ***. No value stays no value.
func mask(value any, of field.Type) any {
	text, _ := value.(string)
	digits := strings.Map(digit, text)
	switch parts := address.FindStringSubmatch(text); {
	case value == nil:
		return nil
	case of == field.Email && parts != nil:
		return parts[1] + hidden + "@" + parts[2] + hidden + parts[3]
	case of == field.Phone && len(digits) >= shortestPhone:
		return "***-***-" + digits[len(digits)-4:]
	}
	return hidden
}

// shortestPhone is how many digits a phone number has of which the last four may be seen.
const shortestPhone = 7

// address matches an e-mail address and nothing longer: a mask of another text with an @ would show its end. The groups are the first
// character, the first one of the domain, and the last part of the domain with the dot.
var address = regexp.MustCompile(`^([^\s@])[^\s@]*@([\pL\pN])[\pL\pN.-]*?(\.\pL{2,24})?$`)

// digit keeps the digits of a text (strings.Map).
func digit(r rune) rune {
	if r < '0' || r > '9' {
		return -1
	}
	return r
}
