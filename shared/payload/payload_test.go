package payload_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/delivery"
	"lectern/shared/payload"
	"lectern/shared/table"
	"lectern/shared/wire"
)

const (
	changeID  = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e31"
	unknownID = "018f9f6e-7c1a-7b51-9c39-6a5b8d1f2e32"
)

var at = wire.At(time.Date(2027, 5, 1, 12, 0, 0, 0, time.UTC))

// press is a renderer beside a service.
type press struct {
	*it.Programme
	*payload.Renderer
}

func newPress(t *testing.T) press {
	t.Helper()
	p := it.NewProgramme(t)
	return press{p, payload.New(p.Env(t), "https://api.example.org/")}
}

// message is a change of a record.
func (p press) message(kind, record, id string) bus.Message {
	return bus.Message{
		Change: changeID, At: at, Org: p.Org, Event: p.Event, Kind: kind, Sequence: 3, Fields: []string{"title"}, Type: record, RecordID: id, Version: 2,
		Source: change.SourceAPI, Actor: change.Actor{Type: change.ActorToken, ID: 7, Token: 8},
	}
}

// render renders a body and returns its data and its metadata.
func (p press) render(m bus.Message, form string) (data json.RawMessage, meta map[string]any) {
	p.T.Helper()
	body, err := p.Render(p.T.Context(), m, form)
	require.NoError(p.T, err)
	require.LessOrEqual(p.T, len(body), payload.MaxBytes)
	require.True(p.T, bytes.HasSuffix(body, []byte(delivery.Place)))
	var all struct {
		Data     json.RawMessage
		Metadata map[string]any
	}
	require.NoError(p.T, json.Unmarshal(body, &all))
	return all.Data, all.Metadata
}

// withSource is an answer of the API with the source.
func withSource(answer []byte) string {
	return strings.TrimSuffix(strings.TrimSpace(string(answer)), "}") + `,"sourceOfChange":"public_api"}`
}

// requireShown requires that the data is what the request shows.
func (p press) requireShown(m bus.Message, method, path string) {
	p.T.Helper()
	answer := p.Call(p.T, http.StatusOK, method, path, nil)
	data, _ := p.render(m, "full")
	require.Equal(p.T, withSource(answer.Body), string(data), m.Kind)
}

// TestDataIsWhatTheGETShows, byte for byte, and after a delete what the DELETE shows.
func TestDataIsWhatTheGETShows(t *testing.T) {
	p := newPress(t)
	p.AddPeople("Ann", "Bob")
	var speakers []any
	for _, name := range []string{"Ann", "Bob"} {
		speakers = append(speakers, it.Object{"contact_id": p.ContactID(name), "core_role": "speaker"})
	}
	session := p.AddSession("A talk", it.Object{"description": "<b>Über</b> & more", "participants": speakers})
	p.AddAccount("sponsor", "Quay", it.Object{"contacts": []any{it.Object{"contact_id": p.ContactID("Ann"), "is_primary": true}}})
	account := p.IDs["Quay"]
	p.Do(200, http.MethodPost, "/exhibitors/create", it.Object{"account_id": account})
	events := p.WithToken(p.NewToken(t, "read:events"))

	contact := p.message("contact.updated", "contact", p.ContactID("Ann"))
	p.requireShown(contact, http.MethodGet, p.EventPath("/contacts/"+contact.RecordID))
	whole := contact
	whole.Event = 0
	p.requireShown(whole, http.MethodGet, strings.Replace(p.EventPath("/contacts/"+contact.RecordID), "/event/"+fmt.Sprint(p.Event), "/organization/"+fmt.Sprint(p.Org), 1))
	p.requireShown(p.message("session.updated", "session", session), http.MethodGet, p.EventPath("/sessions/"+session))
	for _, role := range []string{"sponsor", "exhibitor"} {
		m := p.message(role+".updated", "account", account)
		answer := events.Call(t, 200, http.MethodGet, p.EventPath("/"+role+"s/"+account), nil)
		data, _ := p.render(m, "full")
		require.Equal(t, withSource(answer.Body), string(data), "as to the token that sees least")
		require.NotContains(t, string(data), "contacts")
	}

	p.requireShown(p.message("session.deleted", "session", session), http.MethodDelete, p.EventPath("/sessions/"+session))
	p.requireShown(p.message("contact.deleted", "contact", p.ContactID("Bob")), http.MethodDelete, p.EventPath("/contacts/"+p.ContactID("Bob")))
	answer := p.Call(t, 200, http.MethodDelete, p.EventPath("/exhibitors/"+account), nil).JSON(t)
	data, _ := p.render(p.message("exhibitor.deleted", "account", account), "full")
	var shown map[string]any
	require.NoError(t, json.Unmarshal(data, &shown))
	require.Equal(t, answer["deleted_at"], shown["deleted_at"])
	require.NotNil(t, shown["deleted_at"])
}

// TestMetadataDescribesTheChange, with the id as its last property.
func TestMetadataDescribesTheChange(t *testing.T) {
	p := newPress(t)
	m := p.message("session.speaker.attached", "session", unknownID)
	_, meta := p.render(m, "thin")
	require.Equal(t, map[string]any{
		"action": "session.speaker.attached", "actor_id": 7.0, "event_id": float64(p.Event), "org_id": float64(p.Org), "version": 1.0,
		"resource_url": "https://api.example.org" + p.EventPath("/sessions/"+unknownID), "datetime": "2027-05-01T12:00:00.000Z",
		"sequence": 3.0, "changed": []any{"title"}, "id": "00000000-0000-0000-0000-000000000000",
	}, meta)
	m.Actor, m.Fields, m.Event, m.Kind = change.Actor{Type: change.ActorOperator}, nil, 0, "contact.created"
	_, meta = p.render(m, "thin")
	require.Nil(t, meta["actor_id"])
	require.Nil(t, meta["event_id"])
	require.Equal(t, []any{}, meta["changed"])
	require.Equal(t, "https://api.example.org/v1/organization/"+fmt.Sprint(p.Org)+"/contacts/"+unknownID, meta["resource_url"])
}

// TestThinDataHasIDsOnly, and so has the data of a record that is gone, with its source.
func TestThinDataHasIDsOnly(t *testing.T) {
	p := newPress(t)
	ids := `"id":"` + unknownID + `","event_id":` + fmt.Sprint(p.Event) + `,"org_id":` + fmt.Sprint(p.Org)
	for _, m := range []bus.Message{
		p.message("session.deleted", "session", unknownID), p.message("contact.deleted", "contact", unknownID),
		p.message("sponsor.event.disassociated", "account", unknownID),
	} {
		thin, _ := p.render(m, "thin")
		require.Equal(t, `{`+ids+`}`, string(thin))
		gone, meta := p.render(m, "full")
		require.Equal(t, `{`+ids+`,"sourceOfChange":"public_api"}`, string(gone))
		require.NotContains(t, meta, "truncated")
	}
	_, err := p.Render(t.Context(), p.message("invoice.created", "invoice", unknownID), "full")
	require.Error(t, err)
}

// TestALongBodyIsThin and says so.
func TestALongBodyIsThin(t *testing.T) {
	p := newPress(t)
	fields := p.AddHeavyFields()
	people := p.AddHeavyPeople(3, it.Object{"custom_fields": fields})
	session := p.Create(200, it.Object{"title": "Crowded", "participants": people}).ID()
	data, meta := p.render(p.message("session.updated", "session", session), "full")
	require.Equal(t, true, meta["truncated"])
	require.Less(t, len(data), 200)
}

// TestABodyIsNeverOlderThanItsChange: a renderer with a warm memory sees the write before.
func TestABodyIsNeverOlderThanItsChange(t *testing.T) {
	p := newPress(t)
	made := p.NewSessions("First")[0]
	for _, title := range []string{"Second", "Third", "Fourth"} {
		p.Put(200, made, it.Object{"title": title})
		p.Do(200, http.MethodPost, "/fields/create", it.Object{"name": title, "type": "text", "module_id": "session"})
		p.PutFields(200, made, it.Object{strings.ToLower(title): "value"})
		data, _ := p.render(p.message("session.updated", "session", made), "full")
		require.Contains(t, string(data), `"title":"`+title+`"`)
		require.Contains(t, string(data), `"internal_name":"`+strings.ToLower(title)+`"`)
	}
	require.NoError(t, p.Table(t).Transact(t.Context(), table.Delete(table.Key{PK: table.Event(p.Org, p.Event), SK: "-"})))
	data, _ := p.render(p.message("session.updated", "session", made), "full")
	require.Contains(t, string(data), `"org_id"`, "of an event that is gone, ids only")
}
