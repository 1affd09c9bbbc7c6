package aws_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"lectern/functions/contactwrites"
	"lectern/functions/metadatawrites"
	"lectern/functions/operator"
	"lectern/functions/sessionwrites"
	"lectern/localstack/local/engine"
	"lectern/localstack/local/faulty"
	"lectern/localstack/local/stack"
	"lectern/shared/api"
	"lectern/shared/auth"
	"lectern/shared/bulk"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

const (
	region = "us"
	// unlimited is the limit of the token.
	unlimited = 1_000_000_000
	// patience is how long a gateway waits for an answer.
	patience = 29 * time.Second
	// batch is how many operations a bulk has.
	batch = 100
)

// world is a table with one organization and one event, and the doors before it.
type world struct {
	engine *engine.Engine
	// plain is the table without doors, name its name.
	plain table.Client
	name  string
	pages *pages
	// conflicts stands before pages, partitions before conflicts.
	conflicts  *faulty.ConflictDoor
	partitions *faulty.PartitionDoor
	// couriers is nil unless the run is one of virtual time.
	couriers *away

	org, event int64
	token      string
	// Sessions are made on the track, with two of the people as speakers, if any.
	track  string
	people []string
	// sessions are what the event was filled with.
	sessions []string
}

// newWorld starts an engine with an organization and an event, and doors as AWS has them.
func newWorld(ctx context.Context) (*world, error) {
	e, err := engine.Start(ctx, engine.Config{InMemory: true})
	if err != nil {
		return nil, err
	}
	w := &world{engine: e, name: stack.TableName(region)}
	if w.plain, err = stack.Connect(ctx, region, e.URL, w.name); err == nil {
		err = w.organize(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.Stop())
	}
	w.pages = &pages{Client: w.plain}
	w.serve(faulty.Partitions{})
	return w, nil
}

// serve puts new doors before the table.
func (w *world) serve(p faulty.Partitions) {
	w.conflicts = faulty.NewConflictDoor(w.pages, faulty.Conflicts{})
	w.partitions = faulty.NewPartitionDoor(w.conflicts, p)
}

func (w *world) stop() {
	if w.couriers != nil {
		w.couriers.stop()
	}
	_ = w.engine.Stop() // Its data was in memory.
}

// away prepares a run in virtual time.
func (w *world) away() {
	w.couriers = newAway(w.plain)
	w.pages.Client = w.couriers
}

// organize makes the organization, its event and a token.
func (w *world) organize(ctx context.Context) error {
	organization, err := w.operate(ctx, "organization-create", map[string]any{"name": "Bench"})
	if err != nil {
		return err
	}
	w.org = organization.ID
	member, err := w.operate(ctx, "member-create", map[string]any{
		"org_id": w.org, "name": "Bench", "email": "bench@bench.example", "role": tenancy.RoleAdmin})
	if err != nil {
		return err
	}
	event, err := w.operate(ctx, "event-create", map[string]any{"org_id": w.org, "name": "Bench", "timezone": "Europe/Berlin",
		"starts_at": "2027-05-01T08:00:00Z", "ends_at": "2027-05-03T18:00:00Z"})
	if err != nil {
		return err
	}
	token, err := w.operate(ctx, "token-create", map[string]any{
		"org_id": w.org, "user_id": member.ID, "name": "Bench", "scopes": auth.APIScopes, "limit": unlimited})
	w.event, w.token = event.ID, token.Token
	return err
}

// made is what an operator's command has made.
type made struct {
	ID    int64
	Token string
}

func (w *world) operate(ctx context.Context, command string, input map[string]any) (m made, err error) {
	answer, err := operator.New(w.env(w.plain)).Do(ctx, command, encoded(input))
	if err != nil {
		return m, fmt.Errorf("%s: %w", command, err)
	}
	err = json.Unmarshal(encoded(answer), &m)
	return m, err
}

func (w *world) env(client table.Client) api.Env {
	return stack.NewEnv(region, table.New(client, w.name), slog.New(slog.DiscardHandler))
}

// instance is one instance of a group's Lambda.
type instance struct {
	world   *world
	client  *counter
	handler http.Handler
}

// instance starts one of the group, behind the doors. Its first request is yet to come.
func (w *world) instance(g api.Group) *instance {
	client := &counter{Client: w.partitions, seen: map[string]bool{}}
	return &instance{w, client, g.Handler(w.env(client))}
}

// past lets the instance go past the doors.
func (i *instance) past() *instance {
	i.client.Client = i.world.pages
	return i
}

// answer keeps what a handler writes.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the headers of the answer.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader sets the status.
func (a *answer) WriteHeader(status int) { a.status = status }

// Write adds to the body.
func (a *answer) Write(p []byte) (int, error) { return a.body.Write(p) }

// send sends a request and returns its status, which is 503 too for an answer that comes
// too late, and its body.
func (i *instance) send(ctx context.Context, method, path string, body any) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://bench"+path, bytes.NewReader(encoded(body)))
	if err != nil {
		return 0, nil, err
	}
	r.Header.Set("X-Access-Token", i.world.token)
	r.Header.Set("Content-Type", "application/json")
	a := &answer{header: http.Header{}, status: http.StatusOK}
	i.handler.ServeHTTP(a, r)
	text, err := io.ReadAll(&a.body)
	switch {
	case ctx.Err() != nil:
		return http.StatusServiceUnavailable, nil, nil
	case a.status != http.StatusOK && a.status != http.StatusServiceUnavailable:
		return 0, nil, fmt.Errorf("%s %s: %d %s", method, path, a.status, text)
	}
	return a.status, text, err
}

// must sends a request, whose answer must be a 200.
func (i *instance) must(ctx context.Context, method, path string, body any) ([]byte, error) {
	status, text, err := i.send(ctx, method, path, body)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%s %s: %d %s", method, path, status, text)
	}
	return text, err
}

func (w *world) path(rest string) string { return fmt.Sprintf("/v1/event/%d/%s", w.event, rest) }

// writing returns the group that makes records of a collection in bulk.
func writing(collection string) api.Group {
	if collection == "contacts" {
		return contactwrites.Group
	}
	return sessionwrites.Group
}

// fill makes n records of a collection, past the doors, and returns their ids.
func (w *world) fill(ctx context.Context, collection string, n int) (ids []string, err error) {
	at := w.instance(writing(collection)).past()
	for from := 0; from < n; from += batch {
		made, err := w.bulk(ctx, at, collection, from, min(batch, n-from))
		if err != nil {
			return nil, err
		}
		ids = append(ids, made...)
	}
	return ids, nil
}

// addPeople makes a track and n people for the sessions that are made next.
func (w *world) addPeople(ctx context.Context, n int) error {
	text, err := w.instance(metadatawrites.Group).past().must(ctx, http.MethodPost, w.path("tracks/create"), map[string]any{"name": "Track"})
	if err != nil {
		return err
	}
	var track struct{ ID string }
	if err := json.Unmarshal(text, &track); err != nil {
		return err
	}
	w.track = track.ID
	w.people, err = w.fill(ctx, "contacts", n)
	return err
}

// bulk makes n records of a collection, the first numbered from, and returns their ids.
func (w *world) bulk(ctx context.Context, at *instance, collection string, from, n int) (ids []string, err error) {
	operations := make([]map[string]any, n)
	for i := range operations {
		operations[i] = map[string]any{"action": "create", "data": w.draft(collection, from+i)}
	}
	text, err := at.must(ctx, http.MethodPost, w.path(collection+"/bulk"), map[string]any{"operations": operations})
	if err != nil {
		return nil, err
	}
	var made struct {
		Stats   bulk.Stats
		Results []struct{ ID string }
	}
	if err := json.Unmarshal(text, &made); err != nil {
		return nil, err
	}
	if made.Stats.Failed > 0 {
		return nil, fmt.Errorf("%d of %d records were not made", made.Stats.Failed, n)
	}
	for _, result := range made.Results {
		ids = append(ids, result.ID)
	}
	return ids, nil
}

// draft returns a record of about the row that real ones have.
func (w *world) draft(collection string, i int) map[string]any {
	if collection == "contacts" {
		return map[string]any{"email": fmt.Sprintf("given%d.family@people.bench.example", i), "first_name": fmt.Sprint("Given", i),
			"last_name": fmt.Sprint("Family", i%997), "title": "Measurer", "company": fmt.Sprint("Company ", i%5000),
			"address_city": "Berlin", "address_country": 276, "photo_url": fmt.Sprintf("https://photos.bench.example/%d.jpg", i)}
	}
	start := time.Date(2027, 5, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(i%500) * 5 * time.Minute)
	session := map[string]any{"title": fmt.Sprintf("Session %d: what the measured figures mean", i), "starts_at": start,
		"ends_at": start.Add(45 * time.Minute), "status": "accepted", "is_public": true, "capacity": 50 + i%200}
	if len(w.people) > 0 {
		speaker := func(n int) map[string]any {
			return map[string]any{"contact_id": w.people[n%len(w.people)], "core_role": "speaker"}
		}
		session["track_id"], session["participants"] = w.track, []any{speaker(i), speaker(i + 1)}
	}
	return session
}

func encoded(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // Plain values can be written.
	}
	return text
}
