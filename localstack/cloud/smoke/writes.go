package smoke

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"lectern/shared/auth"
)

// Numbers of requests and records.
const (
	// together is the number of requests at once to one record.
	together = 8
	// rounds repeats a check that a race may pass by luck.
	rounds = 3
	// bulked is the number of sessions of the bulk.
	bulked = 100
	// tiny is the limit of the token that reaches its limit.
	tiny = 3
)

// session is the part of a session that the checks read.
type session struct{ ID, Title string }

// newSession creates a session and notes its id for the end.
func (r *run) newSession(ctx context.Context, title string, header ...string) (session, answer, error) {
	var made session
	a, err := r.expect(ctx, http.StatusOK, r.post(r.at("/sessions/create"), object{"title": title}, header...))
	if err == nil {
		err = a.into(&made)
	}
	if err == nil && a.header.Get("Idempotent-Replayed") == "" {
		r.sessions = append(r.sessions, made.ID)
		r.written.Add(1)
	}
	return made, a, err
}

// versions updates a session with the current and with an old ETag.
func (r *run) versions(ctx context.Context) (string, error) {
	made, _, err := r.newSession(ctx, "Versions")
	if err != nil {
		return "", err
	}
	read, err := r.expect(ctx, http.StatusOK, r.get(r.at("/sessions/"+made.ID)))
	if err != nil {
		return "", err
	}
	old := read.header.Get("ETag")
	if _, err := r.expect(ctx, http.StatusNotModified, r.get(r.at("/sessions/"+made.ID), "If-None-Match", old)); err != nil {
		return "", err
	}
	if _, err := r.expect(ctx, http.StatusOK, r.put(made.ID, object{"title": "Versions, revised"}, "If-Match", old)); err != nil {
		return "", err
	}
	_, err = r.refused(ctx, http.StatusConflict, "ConflictError", r.put(made.ID, object{"title": "Lost"}, "If-Match", old))
	return "304 for the same version, 409 for a write to an old one", err
}

// replay sends a creation twice under one Idempotency-Key.
func (r *run) replay(ctx context.Context) (string, error) {
	key := unique()
	first, _, err := r.newSession(ctx, "Once", "Idempotency-Key", key)
	if err != nil {
		return "", err
	}
	second, again, err := r.newSession(ctx, "Once", "Idempotency-Key", key)
	if err == nil && (second.ID != first.ID || again.header.Get("Idempotent-Replayed") != "true") {
		err = fmt.Errorf("the repetition created %s beside %s", second.ID, first.ID)
	}
	return "the repetition answers the first session", err
}

// contended sends writes of one version at once: exactly one of them succeeds.
func (r *run) contended(ctx context.Context) (string, error) {
	made, a, err := r.newSession(ctx, "Contended")
	for round := 0; err == nil && round < rounds; round++ {
		a, err = r.contest(ctx, made.ID, a.header.Get("ETag"))
	}
	return fmt.Sprintf("%d times, one of %d writes succeeded and the others were answered with 409", rounds, together), err
}

// contest sends writes of one version at once and returns the answer of the one that succeeded.
func (r *run) contest(ctx context.Context, id, etag string) (won answer, err error) {
	answers, failed := make([]answer, together), make([]error, together)
	var running sync.WaitGroup
	for i := range together {
		running.Go(func() {
			answers[i], failed[i] = r.send(ctx, r.put(id, object{"title": "Contender " + strconv.Itoa(i)}, "If-Match", etag))
		})
	}
	running.Wait()
	succeeded := 0
	for i, a := range answers {
		switch {
		case failed[i] != nil:
			return won, failed[i]
		case a.status == http.StatusOK:
			won = a
			succeeded++
		case a.status != http.StatusConflict:
			return won, fmt.Errorf("a write is answered with %s", a.seen())
		}
	}
	if succeeded != 1 {
		return won, fmt.Errorf("%d of %d writes of one version succeeded", succeeded, together)
	}
	return won, nil
}

// found searches right after the creation and the update of a session.
func (r *run) found(ctx context.Context) (string, error) {
	for range rounds {
		made, _, err := r.newSession(ctx, "New")
		if err != nil {
			return "", err
		}
		if err := r.shown(ctx, made); err != nil {
			return "", err
		}
		made.Title = "Revised"
		if _, err := r.expect(ctx, http.StatusOK, r.put(made.ID, object{"title": made.Title})); err != nil {
			return "", err
		}
		if err := r.shown(ctx, made); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%d times, the next search showed the new session, and then its new title", rounds), nil
}

// shown searches for all sessions, which must be those of the run, with the session among them.
func (r *run) shown(ctx context.Context, wanted session) error {
	a, err := r.expect(ctx, http.StatusOK, r.post(r.at("/sessions?pageSize=100"), object{}))
	if err != nil {
		return err
	}
	var page struct{ Results []session }
	if err := a.into(&page); err != nil {
		return err
	}
	if !slices.Contains(page.Results, wanted) || len(page.Results) != len(r.sessions) {
		return fmt.Errorf("the search right after a write finds %d of %d sessions, or not %q", len(page.Results), len(r.sessions), wanted.Title)
	}
	return nil
}

// bulkResult is the result of an operation of a bulk.
type bulkResult struct{ ID, Status string }

// bulk sends a bulk of sessions whose operations must all succeed.
func (r *run) bulk(ctx context.Context, operations []object) ([]bulkResult, answer, error) {
	a, err := r.expect(ctx, http.StatusOK, r.post(r.at("/sessions/bulk"), object{"operations": operations}))
	if err != nil {
		return nil, a, err
	}
	var all struct{ Results []bulkResult }
	if err := a.into(&all); err != nil {
		return nil, a, err
	}
	for _, result := range all.Results {
		if result.Status != "success" {
			return all.Results, a, fmt.Errorf("an operation of the bulk is answered with %q", result.Status)
		}
	}
	return all.Results, a, nil
}

// create100 creates sessions by a bulk.
func (r *run) create100(ctx context.Context) (string, error) {
	operations := make([]object, bulked)
	for i := range operations {
		operations[i] = object{"action": "create", "data": object{"title": "Bulk " + strconv.Itoa(i)}}
	}
	results, a, err := r.bulk(ctx, operations)
	for _, result := range results {
		if result.ID != "" {
			r.sessions = append(r.sessions, result.ID)
			r.written.Add(1)
		}
	}
	if err == nil && len(results) != bulked {
		err = fmt.Errorf("the bulk has %d results", len(results))
	}
	return fmt.Sprintf("%d sessions in %d ms", bulked, a.took.Milliseconds()), err
}

// deleteSessions deletes the sessions of the run, a bulk at a time.
func (r *run) deleteSessions(ctx context.Context) (err error) {
	for len(r.sessions) > 0 {
		batch := r.sessions[:min(bulked, len(r.sessions))]
		r.sessions = r.sessions[len(batch):]
		operations := make([]object, len(batch))
		for i, id := range batch {
			operations[i] = object{"action": "delete", "id": id}
		}
		_, _, failed := r.bulk(ctx, operations)
		err = errors.Join(err, failed)
	}
	return err
}

// deleted deletes a session, which is then not found.
func (r *run) deleted(ctx context.Context) (string, error) {
	made, _, err := r.newSession(ctx, "Deleted")
	if err != nil {
		return "", err
	}
	r.sessions = r.sessions[:len(r.sessions)-1]
	c := r.get(r.at("/sessions/" + made.ID))
	c.method = http.MethodDelete
	if _, err := r.expect(ctx, http.StatusOK, c); err != nil {
		return "", err
	}
	_, err = r.refused(ctx, http.StatusNotFound, "NotFoundError", r.get(r.at("/sessions/"+made.ID)))
	return "the read after it is answered with 404", err
}

// limits reaches the limit of a token, tries a write without its scope, and revokes the token.
func (r *run) limits(ctx context.Context) (string, error) {
	token, id, err := r.newToken(ctx, tiny, auth.ReadEvents)
	if err != nil {
		return "", err
	}
	write := r.post(r.at("/sessions/create"), object{"title": "Forbidden"})
	write.token = token
	if _, err := r.refused(ctx, http.StatusForbidden, "ForbiddenError", write); err != nil {
		return "", err
	}
	read := r.get(r.at("/rooms"))
	read.token = token
	for i := range tiny {
		a, err := r.expect(ctx, http.StatusOK, read)
		if err != nil {
			return "", err
		}
		if left := a.header.Get("RateLimit-Remaining"); left != strconv.Itoa(tiny-1-i) {
			return "", fmt.Errorf("after %d of %d requests, RateLimit-Remaining is %q", i+1, tiny, left)
		}
	}
	a, err := r.refused(ctx, http.StatusTooManyRequests, "TooManyRequestsError", read)
	if err != nil {
		return "", err
	}
	if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait <= 0 {
		return "", fmt.Errorf("the 429 has Retry-After %q", a.header.Get("Retry-After"))
	}
	if err := r.operate(ctx, "token-revoke", object{"org_id": r.org, "token_id": id}, nil); err != nil {
		return "", err
	}
	_, err = r.refused(ctx, http.StatusUnauthorized, "UnauthorizedError", read)
	return fmt.Sprintf("403 without the scope, 429 after %d requests with Retry-After %s, 401 once the token is revoked",
		tiny, a.header.Get("Retry-After")), err
}
