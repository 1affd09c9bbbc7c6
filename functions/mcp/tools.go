package mcp

import (
	_ "embed"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Tool declares a tool: an operation of the service, described for a model.
type Tool struct {
	// Name begins with a verb. Operation is the id of the operation.
	Name, Operation string
	// About describes the tool for a model.
	About string
	// Inputs names the arguments, separated by spaces: parameters of the operation in snake case, and properties of the body.
	Inputs string
	// Overwrites marks a POST that replaces stored values.
	Overwrites bool
	// Divides names the list of an answer without pages: the tool shows pages of the list. A list alone is results.
	Divides string
}

// results is the list of a page.
const results = "results"

// filtered are the inputs of a search for people or companies.
const filtered = "event_id filters page page_size"

// Tools lists the tools in the order of the model's list. The schemas are in tools.json; go test ./functions -update writes the file from
// the document.
var Tools = []Tool{
	{Name: "list_events", Operation: "listEvents",
		About:  "List the events of the organization, with their ids, dates and time zones.",
		Inputs: "page page_size"},

	{Name: "find_sessions", Operation: "listSessions",
		About: "Find sessions and abstracts of an event: by text in the title, status, track, tag, format, level or language. Without a " +
			"filter it lists all.",
		Inputs: "event_id search status is_abstract track_ids tag_ids format_ids level_ids language_ids page page_size"},
	{Name: "get_session", Operation: "getSession",
		About:  "Read a session with its description, people, files, subsessions and custom fields.",
		Inputs: "event_id session_id expand"},
	{Name: "find_speakers", Operation: "searchSpeakers",
		About:  "Find the speakers of an event by name, e-mail address or company.",
		Inputs: filtered},
	{Name: "get_speaker", Operation: "getSpeaker",
		About:  "Read a speaker's profile.",
		Inputs: "event_id contact_id"},
	{Name: "find_participants", Operation: "searchParticipants",
		About:  "Find people with any role on sessions of an event, such as moderators, with their roles.",
		Inputs: filtered},
	{Name: "find_contacts", Operation: "searchContacts",
		About:  "Find the people of an event, whether or not they have a role on a session.",
		Inputs: filtered},
	{Name: "get_contact", Operation: "getContact",
		About:  "Read a contact of an event with all fields.",
		Inputs: "event_id contact_id"},
	{Name: "list_contact_sessions", Operation: "listContactSessions",
		About:  "List the sessions on which a contact has a role.",
		Inputs: "event_id contact_id page page_size"},
	{Name: "find_sponsors", Operation: "searchSponsors",
		About:  "Find the sponsors of an event by name.",
		Inputs: filtered},
	{Name: "get_sponsor", Operation: "getSponsor",
		About:  "Read a sponsor with its contacts.",
		Inputs: "event_id sponsor_id"},
	{Name: "find_exhibitors", Operation: "searchExhibitors",
		About:  "Find the exhibitors of an event by name.",
		Inputs: filtered},
	{Name: "get_exhibitor", Operation: "getExhibitor",
		About:  "Read an exhibitor with its contacts.",
		Inputs: "event_id exhibitor_id"},

	{Name: "list_fields", Operation: "listFields", Divides: results,
		About:  "List the fields of an event, with the internal names that custom_fields uses.",
		Inputs: "event_id"},
	{Name: "list_rooms", Operation: "listRooms", Divides: results,
		About:  "List the rooms of an event with their capacities.",
		Inputs: "event_id"},
	{Name: "list_tracks", Operation: "listTracks", Divides: results,
		About:  "List the tracks of an event.",
		Inputs: "event_id"},
	{Name: "list_tags", Operation: "listTags", Divides: results,
		About:  "List the tags of an event.",
		Inputs: "event_id"},
	{Name: "list_formats", Operation: "listFormats", Divides: results,
		About:  "List the formats of sessions of an event.",
		Inputs: "event_id"},
	{Name: "list_levels", Operation: "listLevels", Divides: results,
		About:  "List the levels of sessions of an event.",
		Inputs: "event_id"},
	{Name: "list_languages", Operation: "listLanguages", Divides: results,
		About:  "List the languages of sessions of an event.",
		Inputs: "event_id"},
	{Name: "list_statuses", Operation: "listStatuses", Divides: results,
		About:  "List the statuses of sessions of an event, built-in and custom. A custom one is set by its id, as custom_status_id.",
		Inputs: "event_id"},
	{Name: "list_participant_roles", Operation: "listParticipantRoles", Divides: results,
		About:  "List the roles that people can have on the sessions of an event.",
		Inputs: "event_id"},
	{Name: "list_transcriptions", Operation: "listTranscriptions",
		About:  "List the transcriptions of an event or of one session.",
		Inputs: "event_id session_id page page_size"},
	{Name: "get_transcription", Operation: "getTranscription",
		About:  "Read a transcription with its text.",
		Inputs: "event_id id"},
	{Name: "list_award_programs", Operation: "listAwardPrograms",
		About:  "List the award programs of the organization.",
		Inputs: "page page_size"},
	{Name: "list_award_submissions", Operation: "listAwardSubmissions",
		About:  "List the submissions to an award program.",
		Inputs: "program_id status category_id current_round_id page page_size"},

	{Name: "get_award_submission", Operation: "getAwardSubmission",
		About:  "Read a submission to an award program with its answers.",
		Inputs: "program_id submission_id"},
	{Name: "create_session", Operation: "createSession",
		About: "Create a session or abstract. Rooms, tracks and the others are named by their ids.",
		Inputs: "event_id title description status custom_status_id is_abstract starts_at ends_at room_id track_id format_id level_id " +
			"language_id tag_ids capacity participants custom_fields parent_session_id"},
	{Name: "update_session", Operation: "updateSession",
		About: "Change properties of a session; what is not named stays. Lists, such as participants, are replaced.",
		Inputs: "event_id session_id title description status custom_status_id starts_at ends_at room_id track_id format_id level_id " +
			"language_id tag_ids capacity is_public participants custom_fields updated_at"},
	{Name: "create_contact", Operation: "createContact",
		About: "Create a contact of an event, or add one of the organization to it by the e-mail address. A contact becomes a speaker by" +
			" update_session with participants.",
		Inputs: "event_id email first_name last_name company_name title about pronouns website_url linkedin_url custom_fields"},
	{Name: "update_contact", Operation: "updateContact",
		About: "Change properties of a contact or speaker; what is not named stays.",
		Inputs: "event_id contact_id email first_name last_name company_name title about pronouns website_url linkedin_url custom_fields " +
			"updated_at"},
	{Name: "create_status", Operation: "createStatus",
		About:  "Create a custom status of sessions.",
		Inputs: "event_id name status color order"},
	{Name: "update_status", Operation: "updateStatus",
		About:  "Rename, reorder or recolor a custom status of sessions.",
		Inputs: "event_id id name color order"},
	{Name: "create_field", Operation: "createField",
		About:  "Create a custom field for the records of a kind.",
		Inputs: "event_id name type module_id scope options multiple contains_pii"},
	{Name: "update_field", Operation: "updateField",
		About:  "Change the name or the options of a custom field.",
		Inputs: "event_id field_id name options contains_pii"},

	{Name: "list_agenda_conflicts", Operation: "listAgendaConflicts", Divides: results,
		About:  "List the conflicts of the live agenda: rooms and people in two places at once, capacities, and the rules of the event.",
		Inputs: "event_id"},
	{Name: "list_agenda_drafts", Operation: "listAgendaDrafts", Divides: results,
		About:  "List the drafts of the agenda of an event.",
		Inputs: "event_id"},
	{Name: "create_agenda_draft", Operation: "createAgendaDraft",
		About:  "Create a draft of the agenda, in which an agenda can be tried without changing a session.",
		Inputs: "event_id name description"},
	{Name: "propose_agenda", Operation: "proposeAgendaDraft", Overwrites: true,
		About: "Fill a draft with a proposed agenda without overlaps of rooms or people. It replaces the places in the draft but for " +
			"those that keep names, and answers what has no place, and why.",
		Inputs: "event_id draft_id days slot_minutes session_ids room_ids statuses keep seed time_limit_ms"},
	{Name: "preview_agenda_draft", Operation: "getAgendaDraftChanges", Divides: "changes",
		About:  "Show which sessions a draft would change, and its conflicts.",
		Inputs: "event_id draft_id"},
	{Name: "commit_agenda_draft", Operation: "commitAgendaDraft", Overwrites: true,
		About: "Put the places of a draft live: the sessions get its times and rooms. It cannot be undone, so show the person the " +
			"preview before.",
		Inputs: "event_id draft_id"},

	{Name: "get_query_schema", Operation: "getEventInsightsSchema",
		About: "Read the entities and fields that run_query knows, with examples. The resource lectern://query-language explains the " +
			"language.",
		Inputs: "event_id"},
	{Name: "run_query", Operation: "executeEventQuery",
		About: "Answer a question about an event by a query, such as FIND Session WHERE status = 'accepted', or SELECT track.name, " +
			"COUNT(session.id) AS sessions FROM sessions JOIN tracks GROUP BY track.name. Personal data is masked.",
		Inputs: "event_id query page limit"},
}

// Described is a declared tool with the schemas, an entry of tools.json.
type Described struct {
	Tool *sdk.Tool `json:"tool"`
	// Operation is the id of the operation.
	Operation string `json:"operation"`
	// Divides is Tool.Divides.
	Divides string `json:"divides,omitempty"`
	// InQuery maps arguments to the names of parameters of the query.
	InQuery map[string]string `json:"inQuery,omitempty"`
}

//go:embed tools.json
var schemas []byte

// described returns the tools with the schemas, and panics if tools.json is damaged.
func described() (all []Described) {
	if err := json.Unmarshal(schemas, &all); err != nil {
		panic(err)
	}
	return all
}
