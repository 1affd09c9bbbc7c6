package resource_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
	"lectern/shared/change"
	"lectern/shared/record"
)

func TestARecordIsCreatedReadChangedAndDeleted(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		require.Empty(t, d.all())
		answer := d.Call(t, 200, http.MethodPost, d.collection()+"/create", d.body)
		made := entity(answer.JSON(t))
		id := made.ID()
		require.NoError(t, uuid.Validate(id))
		for name, value := range d.body {
			require.Equal(t, value, made[name], name)
		}
		require.Equal(t, made["created_at"], made["updated_at"])
		require.NotContains(t, made, "deleted_at")
		require.NotContains(t, made, "_")
		require.Equal(t, made, d.get(200, id))
		require.Equal(t, []entity{made}, d.all())
		second := d.made("Second")
		require.Equal(t, []string{id, second}, it.Texts(d.all(), "id"), "the first made comes first")

		changed := d.put(200, id, d.change)
		require.Greater(t, changed.Text("updated_at"), made.Text("updated_at"))
		want := maps.Clone(made)
		maps.Copy(want, d.change)
		want["updated_at"] = changed["updated_at"]
		require.Equal(t, want, changed, "what is not sent stays")
		require.Equal(t, changed, d.get(200, id))
		again := d.put(200, id, changed)
		require.Greater(t, again.Text("updated_at"), changed.Text("updated_at"))
		again["updated_at"] = changed["updated_at"]
		require.Equal(t, changed, again, "what was read can be sent back")

		gone := d.remove(200, id)
		require.NotEmpty(t, gone["deleted_at"])
		require.Equal(t, gone["deleted_at"], gone["updated_at"])
		require.Equal(t, id, gone.ID())
		require.Equal(t, []string{second}, it.Texts(d.all(), "id"))
		for _, method := range d.methods() {
			refusal := d.Call(t, 404, method, d.at(id), map[bool]any{true: object{}}[method == http.MethodPut]).JSON(t)
			require.Equal(t, d.title+" not found", refusal["message"])
		}
	})
}

func TestTheETagOfARecord(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		made := d.Call(t, 200, http.MethodPost, d.collection()+"/create", d.body)
		path, tag := d.at(entity(made.JSON(t)).ID()), made.Header.Get("ETag")
		require.NotEmpty(t, tag)
		if !d.unread {
			require.Equal(t, tag, d.Call(t, 200, http.MethodGet, path, nil).Header.Get("ETag"))
			d.Call(t, 304, http.MethodGet, path, stacktest.WithHeaders(nil, "If-None-Match", tag))
		}
		changed := d.Call(t, 200, http.MethodPut, path, stacktest.WithHeaders(d.change, "If-Match", tag)).Header.Get("ETag")
		require.NotEqual(t, tag, changed)
		if !d.unread {
			require.Equal(t, changed, d.Call(t, 200, http.MethodGet, path, stacktest.WithHeaders(nil, "If-None-Match", tag)).Header.Get("ETag"))
		}
		d.Call(t, 200, http.MethodDelete, path, stacktest.WithHeaders(nil, "If-Match", changed))
	})
}

func TestAStaleChangeIsRefused(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		made := d.Call(t, 200, http.MethodPost, d.collection()+"/create", d.body)
		seen, tag := entity(made.JSON(t)), made.Header.Get("ETag")
		path := d.at(seen.ID())
		now := d.Call(t, 200, http.MethodPut, path, it.Merged(d.change, object{"updated_at": seen["updated_at"]}))
		for _, c := range []struct {
			method string
			body   any
			tag    string
		}{
			{http.MethodPut, it.Merged(d.change, object{"updated_at": seen["updated_at"]}), ""},
			{http.MethodPut, d.change, tag}, {http.MethodPut, d.change, `"99"`},
			{http.MethodPut, it.Merged(d.change, object{"updated_at": now.JSON(t)["updated_at"]}), tag}, {http.MethodDelete, nil, tag},
		} {
			answer := d.Call(t, 409, c.method, path, stacktest.WithHeaders(c.body, "If-Match", c.tag))
			refusal := entity(answer.JSON(t))
			require.Equal(t, "STALE_UPDATE", refusal["code"])
			require.Equal(t, now.JSON(t)["updated_at"], refusal["details"].(object)["updated_at"])
			require.Equal(t, `"2"`, answer.Header.Get("ETag"))
		}
		it.RequireError(t, d.put(400, seen.ID(), it.Merged(d.change, object{"updated_at": "yesterday"})), "VALIDATION_ERROR", "updated_at")
		it.RequireError(t, d.put(400, seen.ID(), it.Merged(d.change, object{"updated_at": nil})), "VALIDATION_ERROR", "updated_at")
		it.RequireError(t, d.put(400, seen.ID(), d.change, "If-Match", "no tag"), "VALIDATION_ERROR", "If-Match")
		it.RequireError(t, d.remove(400, seen.ID(), "If-Match", "no tag"), "VALIDATION_ERROR", "If-Match")
		require.Equal(t, entity(now.JSON(t)), d.get(200, seen.ID()))
	})
}

func TestARepeatedCreateShowsTheRecordAsItIsNow(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		create := func(at *desk, body object) stacktest.Answer {
			return at.Call(t, 200, http.MethodPost, at.collection()+"/create", stacktest.WithHeaders(body, it.KeyHeader, "k"))
		}
		first := create(d, d.body)
		require.Empty(t, first.Header.Get("Idempotent-Replayed"))
		for _, at := range []*desk{d, d.instance(func(*api.Env) {})} {
			again := create(at, d.body)
			require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
			require.Equal(t, string(first.Body), string(again.Body))
			require.Equal(t, first.Header.Get("ETag"), again.Header.Get("ETag"))
		}
		require.Len(t, d.all(), 1)
		require.Equal(t, "IDEMPOTENCY_KEY_REUSED", d.create(422, d.fresh("Other"), it.KeyHeader, "k")["code"])
		id := entity(first.JSON(t)).ID()
		require.Equal(t, d.put(200, id, d.change), entity(create(d, d.body).JSON(t)))
		gone := d.remove(200, id)
		require.Equal(t, gone, entity(create(d, d.body).JSON(t)))
		require.Empty(t, d.all())
	})
}

// TestARepeatedCreateNeedsNoParent: the repetition shows the record also after the deletion of the parent.
func TestARepeatedCreateNeedsNoParent(t *testing.T) {
	forKinds(t, func(s subject) bool { return s.child }, func(t *testing.T, d *desk) {
		path, body := d.collection()+"/create", stacktest.WithHeaders(d.body, it.KeyHeader, "k")
		first := d.Call(t, 200, http.MethodPost, path, body)
		d.Call(t, 200, http.MethodDelete, d.parents().at(d.owner)+"?force=true", nil)
		again := d.Call(t, 200, http.MethodPost, path, body)
		require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
		require.Equal(t, string(first.Body), string(again.Body))
	})
}

func TestOneOfSimultaneousCreatesUnderAKeyIsDone(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		other := d.instance(func(*api.Env) {})
		answers := together(t, 12, func(i int) (stacktest.Answer, error) {
			at := []*desk{d, other}[i%2]
			return at.Send(t, http.MethodPost, at.collection()+"/create", stacktest.WithHeaders(d.body, it.KeyHeader, "k"))
		})
		for _, answer := range answers {
			require.Equal(t, 200, answer.Status, string(answer.Body))
			require.Equal(t, string(answers[0].Body), string(answer.Body))
		}
		require.Len(t, d.all(), 1)
	})
}

// together makes requests side by side.
func together(t *testing.T, n int, send func(i int) (stacktest.Answer, error)) []stacktest.Answer {
	t.Helper()
	answers, errs := make([]stacktest.Answer, n), make([]error, n)
	it.Concurrently(n, func(i int) { answers[i], errs[i] = send(i) })
	for _, err := range errs {
		require.NoError(t, err)
	}
	return answers
}

// statuses counts answers by status.
func statuses(answers []stacktest.Answer) map[int]int {
	all := map[int]int{}
	for _, a := range answers {
		all[a.Status]++
	}
	return all
}

// TestSimultaneousChangesAllCount: without a guard the last one wins, and none is lost.
func TestSimultaneousChangesAllCount(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		id := d.made("One")
		answers := together(t, 8, func(int) (stacktest.Answer, error) {
			return d.Send(t, http.MethodPut, d.at(id), d.change)
		})
		require.Equal(t, map[int]int{200: 8}, statuses(answers))
		tag := d.Call(t, 200, http.MethodPut, d.at(id), d.change).Header.Get("ETag")
		require.True(t, strings.HasPrefix(tag, `"10.`), tag)
		racing := together(t, 8, func(i int) (stacktest.Answer, error) {
			return d.Send(t, []string{http.MethodPut, http.MethodDelete}[i%2], d.at(id), stacktest.WithHeaders(map[bool]any{true: d.change}[i%2 == 0], "If-Match", `"10"`))
		})
		require.Equal(t, 1, statuses(racing)[200], "one of those that have seen the same version")
	})
}

// TestTheNumberOfRecordsIsBounded exactly, also for simultaneous requests.
func TestTheNumberOfRecordsIsBounded(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		most := 3
		if d.kind == "award_round" {
			most += d.beside
		}
		d = d.instance(func(env *api.Env) { env.MostRecords = int64(most) })
		first, second := d.made("1"), d.made("2")
		answers := together(t, 6, func(i int) (stacktest.Answer, error) {
			return d.Send(t, http.MethodPost, d.collection()+"/create", d.fresh(fmt.Sprint("more ", i)))
		})
		require.Equal(t, map[int]int{200: 1, 409: 5}, statuses(answers))
		refusal := d.create(409, d.fresh("4"))
		require.Equal(t, "LIMIT_REACHED", refusal["code"])
		require.InDelta(t, most, refusal["details"].(object)["maximum"], 0)
		d.put(200, first, d.change)
		d.remove(200, first)
		third := d.made("3")
		if d.restore {
			require.Equal(t, "LIMIT_REACHED", d.restored(409, first)["code"])
			d.remove(200, third)
			d.restored(200, first)
		}
		d.remove(200, second)
		d.made("5")
		require.Len(t, d.all(), 3)
	})
}

func TestEveryChangeHasARecord(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		id := d.made("One")
		d.put(200, id, d.change)
		d.remove(200, id)
		verbs := []string{"created", "updated", "deleted"}
		if d.restore {
			d.restored(200, id)
			verbs = append(verbs, "restored")
		}
		d.put(404, uuid.NewString(), d.change)
		records := changes(t, d, id)
		require.Len(t, records, len(verbs))
		sequence := int64(0)
		for i, r := range records {
			require.Equal(t, d.kind+"."+verbs[i], r.Action)
			require.Equal(t, []any{d.kind, id, int64(i + 1), d.Org}, []any{r.Type, r.RecordID, r.Version, r.Org})
			require.Equal(t, change.Actor{Type: change.ActorToken, ID: d.Member, Token: r.Actor.Token}, r.Actor)
			require.NotEmpty(t, r.RequestID)
			require.Equal(t, d.event(), r.Event)
			name := d.publishes[record.Verb(verbs[i])]
			if name == "" {
				require.Empty(t, r.Kinds)
				continue
			}
			sequence++
			require.Len(t, r.Kinds, 1)
			require.Equal(t, []any{name, sequence}, []any{r.Kinds[0].Name, r.Kinds[0].Sequence})
		}
		require.Equal(t, slices.Sorted(maps.Keys(d.change)), fields(records[1]))
		require.Equal(t, []string{"deleted_at"}, fields(records[2]))
	})
}

func fields(r change.Record) (names []string) {
	for _, v := range r.Values {
		names = append(names, v.Field)
	}
	return names
}

// changes returns the change records of a record, by version.
func changes(t *testing.T, d *desk, id string) []change.Record {
	t.Helper()
	all := slices.DeleteFunc(it.ChangesOf(t, d.Stack), func(r change.Record) bool { return r.Type != d.kind || r.RecordID != id })
	slices.SortFunc(all, func(a, b change.Record) int { return int(a.Version - b.Version) })
	return all
}

// TestAForeignRecordIsUnknown, of another organization, of another event and of another parent.
func TestAForeignRecordIsUnknown(t *testing.T) {
	forEvery(t, func(t *testing.T, d *desk) {
		others := []*desk{d.as(d.NewOrganization(t))}
		if d.event() != 0 {
			others = append(others, d.as(d.In(d.NewEvent(t))))
		}
		if d.child {
			others = append(others, d.as(d.Stack))
		}
		own := d.made("Own")
		for _, other := range others {
			other.owner = other.newParent("Elsewhere")
			foreign, unknown := other.made("Foreign"), uuid.NewString()
			require.Equal(t, []string{own}, it.Texts(d.all(), "id"))
			for _, method := range d.methods() {
				body := map[bool]any{true: d.change}[method == http.MethodPut]
				want := d.Call(t, 404, method, d.at(unknown), body)
				require.Equal(t, string(want.Body), string(d.Call(t, 404, method, d.at(foreign), body).Body))
			}
			other.remove(200, foreign)
			if d.restore {
				d.restored(404, foreign)
				other.restored(200, foreign)
			}
			if other.Org != d.Org {
				d.Call(t, 404, http.MethodPut, other.at(foreign), d.change)
			}
		}
		require.Equal(t, own, d.get(200, own).ID())
	})
}
