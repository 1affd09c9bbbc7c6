package schemas

import "lectern/shared/wire"

// Version is the version of the bodies. A property that is removed or gets another name raises it.
const Version = 1

// Metadata describes the change of a body (gaps.md section 10).
type Metadata struct {
	ID          string    `json:"id" format:"uuid" doc:"The delivery's id, equal to the header webhook-id."`
	Action      string    `json:"action" doc:"The kind of change."`
	ActorID     *int64    `json:"actor_id" doc:"The member who made the change; null for the service and its operators."`
	EventID     *int64    `json:"event_id" doc:"The conference; null for a record of the organization."`
	OrgID       int64     `json:"org_id" doc:"The organization."`
	ResourceURL string    `json:"resource_url" doc:"The address at which a GET shows the record."`
	Version     int       `json:"version" doc:"The version of the form of the body."`
	DateTime    wire.Time `json:"datetime" doc:"When the change was made."`
	Sequence    int64     `json:"sequence" doc:"The number of the change among the published changes of the record: drop what is not newer. data may be newer than sequence, never older."`
	Changed     []string  `json:"changed" doc:"The names of the changed fields. The last name is ... where not all fit."`
	Truncated   bool      `json:"truncated,omitempty" doc:"true where the whole record would be longer than 256 KB, so that data is thin; otherwise absent."`
}

// Ping is the body of a webhook.ping.
type Ping struct {
	Data     PingData `json:"data"`
	Metadata Metadata `json:"metadata"`
}

// PingData is the data of a Ping.
type PingData struct {
	ID      string `json:"id" format:"uuid" doc:"The endpoint's id."`
	Message string `json:"message" doc:"A text for people."`
}
