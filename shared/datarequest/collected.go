package datarequest

import (
	"fmt"
	"slices"

	"lectern/shared/api/encode"
	"lectern/shared/size"
	"lectern/shared/wire"
)

// Collected is the archive of an access request.
type Collected struct {
	RequestID   string             `json:"request_id" doc:"The request's id."`
	OrgID       int64              `json:"org_id" doc:"The organization's id."`
	Identity    string             `json:"identity_value" doc:"The address of the person."`
	CollectedAt wire.Time          `json:"collected_at" doc:"When the data was collected."`
	Contacts    []CollectedContact `json:"contacts" doc:"The contacts with the address."`
	Submissions []wire.Raw         `json:"award_submissions" doc:"The submissions of the person in award programs, with the answers and without the numbers of the reviews; with deleted_at if they are deleted."`
	Reviews     []wire.Raw         `json:"award_reviews" doc:"The reviews that the person is assigned to or has written; with deleted_at if they are deleted."`
	Members     []CollectedMember  `json:"members" doc:"The members of the organization with the address."`
	Requests    []CollectedRequest `json:"data_requests" doc:"The data requests for the address."`
	// Omitted names the left out parts of an archive that would be too long.
	Omitted []string `json:"omitted" doc:"What is left out because the archive would be too long: changes.values for the values of all changes, changes for the earlier changes, award_submissions and award_reviews for some of them, also for records of the organization that cannot be read."`
}

// Left out parts of an archive.
const (
	omittedValues      = "changes.values"
	omittedChanges     = "changes"
	omittedSubmissions = "award_submissions"
	omittedReviews     = "award_reviews"
)

// maxArchive bounds the text of an archive, and size.Compressed its length with gzip, so that a client
// with gzip can read it.
const maxArchive = 20 << 20

// MostValues bounds the stored text of the changes whose values are collected, and that of the records of awards.
const MostValues = maxArchive

// encode returns the JSON of an archive. An archive that is too long leaves out a part of the largest of changes,
// submissions and reviews, again and again: the values of all changes, and then the first half.
func (c *Collected) encode() ([]byte, error) {
	for {
		text, err := wire.Encode(c)
		if err != nil {
			return nil, fmt.Errorf("datarequest: encode the archive of %s: %w", c.RequestID, err)
		}
		if len(text) <= maxArchive && len(encode.Gzip(text)) <= size.Compressed || !c.shorten() {
			return text, nil
		}
	}
}

// OmitValues notes that values of changes are left out.
func (c *Collected) OmitValues() { c.omit(omittedValues) }

// OmitAwards notes that records of awards are left out.
func (c *Collected) OmitAwards() { c.omit(omittedSubmissions, omittedReviews) }

func (c *Collected) omit(names ...string) {
	for _, name := range names {
		if !slices.Contains(c.Omitted, name) {
			c.Omitted = append(c.Omitted, name)
		}
	}
}

// shorten leaves out a part of the largest of changes, submissions and reviews, and reports false without any.
func (c *Collected) shorten() bool {
	changes, submissions, reviews := 0, length(c.Submissions), length(c.Reviews)
	for _, contact := range c.Contacts {
		changes += length(contact.Changes)
	}
	switch largest := max(changes, submissions, reviews); {
	case largest == 0:
		return false
	case largest == submissions:
		c.omit(omittedSubmissions)
		c.Submissions = later(c.Submissions)
	case largest == reviews:
		c.omit(omittedReviews)
		c.Reviews = later(c.Reviews)
	case slices.Contains(c.Omitted, omittedValues):
		c.omit(omittedChanges)
		for i, contact := range c.Contacts {
			c.Contacts[i].Changes = later(contact.Changes)
		}
	default:
		c.OmitValues()
		for _, contact := range c.Contacts {
			for i := range contact.Changes {
				contact.Changes[i].Values = []OneValue{}
			}
		}
	}
	return true
}

// length returns the length of the JSON of a part; 0 for an empty part.
func length[T any](part []T) int {
	if len(part) == 0 {
		return 0
	}
	text, _ := wire.Encode(part) // The archive is encoded before.
	return len(text)
}

// later returns the second half of a part.
func later[T any](part []T) []T { return part[(len(part)+1)/2:] }

// CollectedContact is a contact with all stored data about the contact.
type CollectedContact struct {
	Contact    wire.Raw            `json:"contact" doc:"The contact of the organization, as its GET shows it."`
	Events     []CollectedEvent    `json:"events" doc:"The events with which the contact is associated."`
	Changes    []CollectedChange   `json:"changes" doc:"The changes of the contact, oldest first."`
	Deliveries []CollectedDelivery `json:"webhook_deliveries" doc:"The webhooks of the last 30 days that had the contact as their record."`
}

// CollectedEvent is a contact on an event.
type CollectedEvent struct {
	EventID  int64              `json:"event_id" doc:"The event's id."`
	Contact  wire.Raw           `json:"contact" doc:"The contact on the event, as its GET shows it; with deleted_at if it is deleted there."`
	Sessions []CollectedSession `json:"sessions" doc:"The sessions on which the contact has a role."`
	Files    []CollectedFile    `json:"files" doc:"The files of sessions that are assigned to the contact."`
	Accounts []CollectedAccount `json:"accounts" doc:"The sponsors and exhibitors that name the contact."`
}

// CollectedFile is the bytes of a file that is assigned to a contact. A file whose bytes were replaced has
// several.
type CollectedFile struct {
	ID        string     `json:"id" doc:"The file's id."`
	SessionID string     `json:"session_id" doc:"The session of the file."`
	Title     string     `json:"title" doc:"The file's title."`
	Filename  string     `json:"filename" doc:"The file's name."`
	Size      int64      `json:"size" doc:"The number of bytes."`
	MIMEType  string     `json:"mimetype" doc:"The MIME type."`
	CreatedAt wire.Time  `json:"created_at" doc:"When the upload began."`
	RemovedAt *wire.Time `json:"removed_at" doc:"When the bytes are removed: those of a deleted or replaced file, or of an upload that is not complete; null for a file that stays."`
}

// CollectedSession is a session on which a contact has a role.
type CollectedSession struct {
	ID       string     `json:"id" doc:"The session's id."`
	Title    string     `json:"title" doc:"The session's title."`
	StartsAt *wire.Time `json:"starts_at" doc:"When the session starts."`
	Roles    []string   `json:"roles" doc:"The names of the roles."`
}

// CollectedAccount is a sponsor or exhibitor that names a contact.
type CollectedAccount struct {
	ID        string    `json:"id" doc:"The account's id."`
	IsPrimary bool      `json:"is_primary" doc:"Whether the contact is the primary one."`
	CreatedAt wire.Time `json:"created_at" doc:"Since when the account names the contact."`
}

// CollectedChange is a change of a contact.
type CollectedChange struct {
	ID      string     `json:"id" doc:"The change's id."`
	At      wire.Time  `json:"at" doc:"When the change was made."`
	EventID *int64     `json:"event_id" doc:"The event's id; null for a change in the organization."`
	Action  string     `json:"action" doc:"What was done."`
	Values  []OneValue `json:"values" doc:"The changed fields."`
}

// OneValue is a changed field.
type OneValue struct {
	Field string `json:"field" doc:"The field's name."`
	Old   any    `json:"old" doc:"The value before."`
	New   any    `json:"new" doc:"The value after; a long value is cut."`
}

// CollectedDelivery is a webhook that had a contact as its record.
type CollectedDelivery struct {
	Kind     string    `json:"kind" doc:"The kind of change."`
	ChangeID string    `json:"change_id" doc:"The change's id."`
	At       wire.Time `json:"at" doc:"When the change was made."`
}

// CollectedMember is a member of the organization.
type CollectedMember struct {
	ID        int64     `json:"id" doc:"The member's id."`
	Name      string    `json:"name" doc:"The member's name."`
	Email     string    `json:"email" doc:"The member's address."`
	Role      string    `json:"role" doc:"The member's role."`
	Active    bool      `json:"active" doc:"Whether the member's tokens work."`
	CreatedAt wire.Time `json:"created_at" doc:"When the member was created."`
}

// CollectedRequest is a data request for the address.
type CollectedRequest struct {
	ID        string    `json:"id" doc:"The request's id."`
	Type      string    `json:"request_type" doc:"What was asked for."`
	Status    string    `json:"status" doc:"The request's status."`
	CreatedAt wire.Time `json:"created_at" doc:"When the request was made."`
}
