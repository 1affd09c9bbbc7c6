package it

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/settings/item"
	"lectern/shared/table"
)

// MetadataKinds lists the kinds of metadata of an event as paths name them.
var MetadataKinds = []string{"rooms", "tracks", "tags", "formats", "levels", "languages"}

// GlobalScope makes a field global when a test merges it into a draft.
var GlobalScope = Object{"scope": "global"}

// MetadataFilters lists the filters by metadata: filter of a search, parameters of the
// list, path, property of a write.
var MetadataFilters = []struct{ Filter, One, Many, Kind, Sent string }{
	{"trackIds", "track_id", "track_ids", "tracks", "track_id"},
	{"tagIds", "tag_id", "tag_ids", "tags", "tag_ids"},
	{"levelIds", "level_id", "level_ids", "levels", "level_id"},
	{"formatIds", "format_id", "format_ids", "formats", "format_id"},
	{"languageIds", "language_id", "language_ids", "languages", "language_id"},
}

// valueCase describes a type of field: values that the type takes, their form in answers,
// and values of a wrong type.
type valueCase struct {
	Kind  string
	More  Object
	Good  []any
	shown []any
	Wrong []any
}

// inChicago is a time as an event in Chicago shows it.
const inChicago = "2027-05-11T09:30:00-05:00"

// ValueCases lists the types of fields.
var ValueCases = []valueCase{
	{"text", nil, []any{"é", strings.Repeat("é", 255), ""}, nil, []any{1, true, []string{"x"}, Object{}}},
	{"textarea", nil, []any{"a\nb", strings.Repeat("x", 5000)}, nil, []any{1, []string{}}},
	{"wysiwyg", nil, []any{"<b>x</b>", strings.Repeat("x", 64<<10)}, nil, []any{1}},
	{"dropdown", Object{"options": []string{"S", "M"}}, []any{"S", "M"}, nil, []any{"XL", "s", 1, []string{"S"}, ""}},
	{"dropdown", Object{"options": []string{"S", "M"}, "multiple": true}, []any{[]any{"M", "S"}, []any{"S"}}, nil,
		[]any{"S", []string{"S", "XL"}, []any{1}}},
	{"checkbox", nil, []any{true, false}, nil, []any{"true", 1, 0}},
	{"date", nil, []any{"2027-05-11", "2028-02-29"}, nil, []any{"2027-02-29", "11.05.2027", "2027-5-1", "2027-05-11T00:00:00Z", 20270511}},
	{"datetime", nil,
		[]any{inChicago, "2027-05-11T14:30:00Z", "2027-05-11T09:30:00", "2027-01-11T09:30:00", "2027-05-11T16:30:00+02:00"},
		[]any{inChicago, inChicago, inChicago, "2027-01-11T09:30:00-06:00", inChicago},
		[]any{"tomorrow", "2027-05-11", 1, "2027-13-11T09:30:00Z", "2027-05-11T25:30:00"}},
	{"number", nil, []any{0.0, -1.5, 1e15}, nil, []any{"1", true, []int{1}}},
	{"currency", nil, []any{12.34}, nil, []any{"12.34", "EUR 3"}},
	{"email", nil, []any{"ann@example.org"}, nil, []any{"ann", "Ann <ann@example.org>", 1}},
	{"phone", nil, []any{"+49 30 1234567"}, nil, []any{"phone", 491234}},
	{"file", nil, []any{"https://example.org/a.pdf"}, nil, []any{"a.pdf", "ftp://example.org/a", 1}},
	{"countries", nil, []any{"DE", "276"}, nil, []any{"Atlantis", 276, []string{"DE"}}},
	{"languages", nil, []any{"de", "pt-BR"}, nil, []any{"German!", 1}},
}

// DefineField creates a custom field of sessions.
func (d *Client) DefineField(status int, body Object) Entity {
	d.T.Helper()
	return d.Do(status, http.MethodPost, "/fields/create", Merged(Object{"name": "Level", "type": "text", "module_id": "session"}, body))
}

// ListSettings sends a GET for a list of settings.
func (d *Client) ListSettings(path string) []Entity {
	d.T.Helper()
	return stacktest.Call[[]Entity](d.Stack, 200, http.MethodGet, d.EventPath(path), nil)
}

// SearchSettings sends a POST for a search of settings.
func (d *Client) SearchSettings(path string, body any) Page {
	d.T.Helper()
	return stacktest.Call[Page](d.Stack, 200, http.MethodPost, d.EventPath(path), body)
}

// NewEntry creates an entry of metadata, such as a track, or a status.
func (d *Client) NewEntry(kind, name string, more ...Object) Entity {
	d.T.Helper()
	return d.Do(200, http.MethodPost, "/"+kind+"/create", Merged(Object{"name": name}, more...))
}

// DeleteRecord deletes a record of a kind, such as tracks or contacts.
func (d *Client) DeleteRecord(kind, id string) {
	d.T.Helper()
	d.Do(200, http.MethodDelete, "/"+kind+"/"+id, nil)
}

// RestoreRecord restores a record of a kind, such as tracks or contacts.
func (d *Client) RestoreRecord(kind, id string) {
	d.T.Helper()
	d.Do(200, http.MethodPost, "/"+kind+"/"+id+"/restore", nil)
}

// NewField creates a custom field of sessions and returns its internal name.
func (d *Client) NewField(name, kind string, more ...Object) string {
	d.T.Helper()
	body := Merged(Object{"name": name, "type": kind, "module_id": "session"}, more...)
	internal, _ := d.Do(200, http.MethodPost, "/fields/create", body)["internal_name"].(string)
	require.NotEmpty(d.T, internal)
	return internal
}

// BuiltInStatus returns the id of a built-in status.
func (d *Client) BuiltInStatus(value string) string {
	d.T.Helper()
	var all []Entity
	d.Call(d.T, 200, "GET", d.EventPath("/statuses"), nil).Into(d.T, &all)
	for _, status := range all {
		if status["status"] == value && status["is_custom"] == false {
			return status.ID()
		}
	}
	require.Fail(d.T, "there is no built-in status", value)
	return ""
}

// NewConnectorField creates a field that a connector owns and returns its internal name.
func (d *Client) NewConnectorField(name string, more ...Object) string {
	d.T.Helper()
	made := d.Command("connector-field-create",
		Merged(Object{"module_id": "session", "name": name, "type": "text", "source": "salesforce"}, more...))
	require.NotEmpty(d.T, made.Text("internal_name"))
	return made.Text("internal_name")
}

// Reads returns the form in which answers show the good value at index i.
func (c valueCase) Reads(i int) any {
	if c.shown == nil {
		return c.Good[i]
	}
	return c.shown[i]
}

// SetFeature switches a feature of the event on or off.
func (d *Client) SetFeature(name string, on bool) {
	d.T.Helper()
	d.Command("event-update", Object{"features": Object{name: on}})
}

// RequireSettingsVersion checks that an event's settings version equals the weighted sum
// of the versions of its settings. The cache of snapshots relies on that.
func RequireSettingsVersion(t *testing.T, s *stacktest.Stack) {
	t.Helper()
	place := item.Place{Org: s.Org, Event: s.Event}
	event, err := s.Table(t).Get(t.Context(), place.Owner())
	require.NoError(t, err)
	var sum int64
	for setting, err := range s.Table(t).Between(t.Context(), place.Partition(), "A", "~") {
		require.NoError(t, err)
		_, id, _ := strings.Cut(setting.SK, "#")
		sum += setting.Version * table.Weight(id)
	}
	require.Equal(t, event.Settings, sum)
	require.Positive(t, sum)
}

// awards is the collection of the records of award programs.
const awards = "awards"

// awardPath puts the ids of a record into the segments of a path of awards: that of the program, and after slashes
// those of the records below. The last id stands for those that are missing.
func awardPath(op api.Operation, segments []string, record string) []string {
	ids := strings.Split(record, "/")
	for i, segment := range strings.Split(op.Path, "/") {
		if !anID(segment) {
			continue
		}
		segments[i] = ids[0]
		if len(ids) > 1 {
			ids = ids[1:]
		}
	}
	return segments
}

// awardDraft returns a body that an operation of awards accepts.
func awardDraft(op api.Operation, _ string) any {
	name := "Sample " + uuid.NewString()
	switch {
	case strings.Contains(op.Path, "/submissions"):
		return Object{"answers": Object{}}
	case strings.Contains(op.Path, "/rounds"):
		return Object{"name": name, "type": "review_only"}
	case strings.Contains(op.Path, "/promo-codes"):
		return Object{"code": name, "discount_type": "flat", "amount": 1}
	}
	return Object{"name": name}
}

// newAward creates a program, and the records below it that the path names. It returns their ids with slashes
// between them.
func newAward(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	if !OnRecord(op) {
		return ""
	}
	s.Operator(t, "organization-update", Object{"org_id": s.Org, "award_programs": 1000})
	path := fmt.Sprintf("/v1/organization/%d/awards/programs", s.Org)
	create := func(collection string, more Object) string {
		path += collection
		body := Merged(awardDraft(api.Operation{Path: path}, "").(Object), more)
		id := Entity(s.Call(t, http.StatusOK, http.MethodPost, path+"/create", body).JSON(t)).ID()
		path += "/" + id
		return id
	}
	ids := []string{create("", Object{"status": "open"})}
	for _, below := range []struct{ name, collection string }{
		{"{categoryId}", "/categories"}, {"{subcategoryId}", "/subcategories"}, {"{roundId}", "/rounds"}, {"{promoCodeId}", "/promo-codes"},
	} {
		if strings.Contains(op.Path, below.name) {
			ids = append(ids, create(below.collection, nil))
		}
	}
	return strings.Join(append(ids, newEntry(t, op, s, ids[0])...), "/")
}

// newEntry creates a submission or a review for an operation on one, and returns the id for the path.
func newEntry(t *testing.T, op api.Operation, s *stacktest.Stack, program string) []string {
	t.Helper()
	if !strings.Contains(op.Path, "{submissionId}") && !strings.Contains(op.Path, "{review") {
		return nil
	}
	person := func() Object {
		return Object{"name": "Sample " + uuid.NewString(), "email": uuid.NewString() + "@example.org"}
	}
	in := Object{"org_id": s.Org, "program_id": program}
	submission := Entity(s.Operator(t, "award-submit", Merged(in, Object{"submitter": person()})))
	if strings.Contains(op.Path, "{submissionId}") {
		return []string{submission.ID()}
	}
	review := Entity(s.Operator(t, "award-assign", Merged(in, Object{
		"submission_id": submission.ID(), "round_id": submission.Text("current_round_id"), "reviewer": person(),
	})))
	if strings.Contains(op.Path, "{reviewId}") {
		return []string{review.ID()}
	}
	return []string{review.At("reviewer.id").(string)}
}

// The collections of reports: an event has them, and an organization with its id in the path and without.
const (
	queries    = "queries"
	dashboards = "dashboards"
	widgets    = "widgets"
	// insights reads the first two, too, and runs queries.
	insights = "insights"
)

var reportCollections = []string{queries, dashboards, widgets}

// countSessions is a query that every event answers.
const countSessions = "SELECT COUNT(session.id) AS n FROM sessions"

// queryDraft returns a body that an operation of saved queries accepts.
func queryDraft(op api.Operation, _ string) any {
	if strings.HasSuffix(op.Path, "/run") {
		return Object{}
	}
	return Object{"name": "Sample " + uuid.NewString(), "query": countSessions}
}

// questionOf returns a body that an operation of insights accepts.
func questionOf(op api.Operation, _ string) any {
	if strings.HasSuffix(op.Path, "/generate") {
		return Object{"prompt": "How many sessions are there?"}
	}
	return Object{"query": countSessions}
}

// dashboardDraft returns a body that an operation of dashboards or widgets accepts.
func dashboardDraft(op api.Operation, _ string) any {
	name := "Sample " + uuid.NewString()
	if strings.Contains(op.Path, "/"+widgets+"/") {
		return Object{"title": name, "type": "chart", "query": countSessions}
	}
	return Object{"name": name}
}

// newReport creates the saved query, the dashboard or the widget that the path names, and returns its id.
func newReport(t *testing.T, op api.Operation, s *stacktest.Stack) string {
	t.Helper()
	if !OnRecord(op) {
		return ""
	}
	collection := CollectionOf(op)
	prefix, _, _ := strings.Cut(op.Path, "/"+collection)
	prefix = strings.TrimSuffix(prefix, "/"+insights)
	prefix = strings.NewReplacer("{eventId}", fmt.Sprint(s.Event), "{orgId}", fmt.Sprint(s.Org)).Replace(prefix)
	create := func(path string, body any) string {
		return Entity(s.Call(t, http.StatusOK, http.MethodPost, prefix+path+"/create", body).JSON(t)).ID()
	}
	if collection == queries {
		return create("/queries", queryDraft(api.Operation{}, ""))
	}
	dashboard := create("/dashboards", dashboardDraft(api.Operation{}, ""))
	if collection == dashboards {
		return dashboard
	}
	return create("/dashboards/"+dashboard+"/widgets", dashboardDraft(op, ""))
}

// noRecord creates nothing: the path names no record.
func noRecord(*testing.T, api.Operation, *stacktest.Stack) string { return "" }

// collectionOfInsights returns the collection of a path below insights, which reads saved queries and dashboards, too.
func collectionOfInsights(path string) string {
	if first, _, _ := strings.Cut(path, "/"); slices.Contains(reportCollections, first) {
		return first
	}
	return insights
}
