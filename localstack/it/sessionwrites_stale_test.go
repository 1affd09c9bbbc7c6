package it_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/stacktest"
)

// write makes a request on a session and gives its whole answer.
func (d *desk) write(status int, method, path string, body any, header ...string) stacktest.Answer {
	d.t.Helper()
	return d.Call(d.t, status, method, d.EventPath("/sessions/"+path), body, header...)
}

// stale checks a 409 that tells the current state.
func stale(t *testing.T, answer stacktest.Answer, current entity, version string) {
	t.Helper()
	refusal := entity(answer.JSON(t))
	isRefused(t, refusal, "STALE_UPDATE", "")
	require.Equal(t, "ConflictError", refusal["name"])
	require.Equal(t, current["updated_at"], refusal.at("details.updated_at"))
	require.True(t, strings.HasPrefix(answer.Header.Get("ETag"), `"`+version), answer.Header.Get("ETag"))
}

func TestUpdatedAtAdmitsTheCurrentVersionAlone(t *testing.T) {
	d := newDesk(t)
	first := d.create(200, object{"title": "A"})
	id, seen := first.id(), first.text("updated_at")
	second := d.put(200, id, object{"title": "B", "updated_at": seen})
	for _, path := range []string{id, id + "/fields"} {
		stale(t, d.write(409, "PUT", path, object{"title": "C", "values": object{}, "updated_at": seen}), second, "2")
	}
	require.Equal(t, second, d.get(200, id), "nothing is written")
	at, err := time.Parse(time.RFC3339, second.text("updated_at"))
	require.NoError(t, err)
	for _, wrong := range []time.Time{at.Add(time.Millisecond), at.Add(-time.Millisecond), at.Add(time.Hour), time.Unix(0, 0)} {
		stale(t, d.write(409, "PUT", id, object{"title": "C", "updated_at": wrong.Format(time.RFC3339Nano)}), second, "2")
	}
	third := d.put(200, id, object{"title": "C", "updated_at": at.In(time.FixedZone("", -5*3600)).Format("2006-01-02T15:04:05.000-07:00")})
	at, err = time.Parse(time.RFC3339, third.text("updated_at"))
	require.NoError(t, err)
	d.put(200, id, object{"title": "D", "updated_at": at.Add(999 * time.Microsecond).Format("2006-01-02T15:04:05.000000Z")})
	d.put(200, id, object{"title": "E"})
	isInvalid(t, d.put(400, id, object{"title": "F", "updated_at": nil}), "updated_at")
}

func TestIfMatchAdmitsTheCurrentVersionAlone(t *testing.T) {
	d := newDesk(t)
	made := d.write(200, "POST", "create", object{"title": "A"})
	id, etag := entity(made.JSON(t)).id(), made.Header.Get("ETag")
	require.NotEmpty(t, etag)
	for _, known := range []string{etag, "W/" + etag, `"9.x", ` + etag, "*", `"2"`} {
		current := d.read(200, id).Header.Get("ETag")
		known = strings.ReplaceAll(known, etag, current)
		if known == `"2"` {
			known = current[:strings.IndexByte(current, '.')] + `"`
		}
		d.write(200, "PUT", id, object{"title": known}, "If-Match", known)
	}
	current := d.get(200, id)
	for _, old := range []string{etag, `"1"`, `"1.x","2.x"`, `""`, `"x"`} {
		for path, body := range map[string]any{id: object{"title": "B"}, id + "/fields": object{"values": object{}}} {
			stale(t, d.write(409, "PUT", path, body, "If-Match", old), current, "6")
		}
		stale(t, d.write(409, "DELETE", id, nil, "If-Match", old), current, "6")
	}
	for _, malformed := range []string{"6", `"6`, `"6" "7"`, "W/6", `w/"6"`} {
		for _, method := range []string{"PUT", "DELETE"} {
			isInvalid(t, d.write(400, method, id, object{"title": "B"}, "If-Match", malformed).JSON(t), "If-Match")
		}
	}
	require.Equal(t, current, d.get(200, id))
	tag := d.read(200, id).Header.Get("ETag")
	stale(t, d.write(409, "PUT", id, object{"updated_at": "2020-01-01T00:00:00Z"}, "If-Match", tag), current, "6")
	d.write(200, "PUT", id, object{"updated_at": current["updated_at"]}, "If-Match", tag)
	deleted := d.write(200, "DELETE", id, nil, "If-Match", `"7"`)
	require.True(t, strings.HasPrefix(deleted.Header.Get("ETag"), `"8.`))
	stale(t, d.write(409, "POST", id+"/restore", nil, "If-Match", `"7"`), deleted.JSON(t), "8")
	restored := d.write(200, "POST", id+"/restore", nil, "If-Match", deleted.Header.Get("ETag"))
	require.True(t, strings.HasPrefix(restored.Header.Get("ETag"), `"9.`))
}

func TestUpdatedAtAlwaysGrows(t *testing.T) {
	d := newDesk(t)
	id := d.titled("A")[0]
	operations := make([]object, 50)
	for i := range operations {
		operations[i] = updating(id, object{"capacity": i})
	}
	o := d.bulk(operations...)
	times := make([]string, len(operations))
	for i := range operations {
		times[i] = o.data(t, i).text("updated_at")
	}
	require.IsIncreasing(t, times)
	require.Equal(t, times[49], d.get(200, id)["updated_at"])
}
