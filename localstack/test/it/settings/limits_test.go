package settings_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/settings/item"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// stock puts settings of a kind into the table as so many creates would have.
func stock(d *it.Client, kind string, n int, content object) {
	d.T.Helper()
	place := item.Place{Org: d.Org, Event: d.Event}
	var writes []table.Write
	sum := int64(0)
	for i := range n {
		id := uuid.NewString()
		data, err := wire.Encode(it.Merged(object{"id": id, "event_id": d.Event, "name": fmt.Sprint(kind, " ", i), "order": 1,
			"created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z"}, content))
		require.NoError(d.T, err)
		writes = append(writes, table.Insert(table.Item{Key: place.Key(kind, id), Version: 1, Data: data}))
		sum += table.Weight(id)
	}
	t := d.Table(d.T)
	for some := range slices.Chunk(writes, 20) {
		require.NoError(d.T, t.Transact(d.T.Context(), some...))
	}
	require.NoError(d.T, t.Transact(d.T.Context(), table.BumpSettings(place.Owner(), sum)))
}

// isOver checks the 409 of a bound.
func isOver(t *testing.T, refused entity, limit string, most int) {
	t.Helper()
	require.Equal(t, "LIMIT_REACHED", refused["code"])
	require.Equal(t, object{"limit": limit, "maximum": float64(most)}, refused["details"])
}

func TestTheNumberOfSettingsIsLimited(t *testing.T) {
	all := it.NewClient(t, "sessions_2_0")
	for kind, most := range map[string]int{"tags": 1000, "statuses": 200} {
		t.Run(kind, func(t *testing.T) {
			d := all.ForTest(t)
			stock(d, kind, most-1, object{"status": "pending"})
			last := d.NewEntry(kind, "Last")
			isOver(t, d.Do(409, http.MethodPost, "/"+kind+"/create", object{"name": "More"}), kind, most)
			d.Do(200, http.MethodPut, "/"+kind+"/"+last.ID(), object{"name": "As long as it was"})
			d.DeleteRecord(kind, last.ID())
			d.NewEntry(kind, "In its place")
			if kind == "statuses" {
				isOver(t, d.Do(409, http.MethodPost, "/statuses/"+last.ID()+"/restore", nil), kind, most)
			}
		})
	}
	t.Run("fields", func(t *testing.T) {
		d := all.ForTest(t)
		stock(d, "field", 499, object{"internal_name": "x", "public_name": "X", "field_type": "text", "field_source": "custom",
			"scope": "event", "module_id": "session"})
		last := d.DefineField(200, object{"name": "Last"})
		isOver(t, d.DefineField(409, object{"name": "More"}), "fields", 500)
		d.DefineField(200, object{"name": "Of the organization", "module_id": "contact", "scope": "global"})
		in := object{"org_id": d.Org, "event_id": d.Event}
		_, err := d.TryOperator(t, "connector-field-create", it.Merged(in, object{"name": "More", "type": "text", "module_id": "session", "source": "crm"}))
		require.ErrorContains(t, err, "which is the limit")
		d.Do(200, http.MethodDelete, "/fields/"+last["id"].(string), nil)
		d.DefineField(200, object{"name": "More"})
	})
	t.Run("roles", func(t *testing.T) {
		d := all.ForTest(t)
		stock(d, "participant_role", 200, object{"slug": "x", "name_plural": "X", "core_role": "speaker", "is_custom": true})
		_, err := d.TryOperator(t, "participant-role-create", object{"org_id": d.Org, "event_id": d.Event, "name": "More", "core_role": "speaker"})
		require.ErrorContains(t, err, "200 participant_roles")
	})
}

// TestTheBytesOfSettingsAreLimited fills an event with large fields, made many at a
// time: the bound is passed by what was written at once, and no further.
func TestTheBytesOfSettingsAreLimited(t *testing.T) {
	d := it.NewClient(t)
	options := make([]string, 250)
	for i := range options {
		options[i] = strings.Repeat("o", 250) + fmt.Sprint(i)
	}
	const writers, each = 8, 6
	var mu sync.Mutex
	var made []string
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				body := object{"name": fmt.Sprint("Field ", w, " ", i), "type": "dropdown", "module_id": "session", "options": options}
				answer, err := d.Send(t, http.MethodPost, d.EventPath("/fields/create"), body)
				if err != nil || answer.Status != 200 && answer.Status != 409 {
					t.Errorf("status %d, %v", answer.Status, err)
					return
				}
				if answer.Status == 200 {
					mu.Lock()
					made = append(made, answer.JSON(t)["id"].(string))
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	most := item.MaxBytes / (64 << 10)
	require.GreaterOrEqual(t, len(made), most-2)
	require.LessOrEqual(t, len(made), most+writers)
	large := object{"name": "More", "type": "dropdown", "module_id": "session", "options": options}
	isOver(t, d.DefineField(409, large), "settings_bytes", item.MaxBytes)

	path := "/fields/" + made[0]
	longer := append(slices.Clone(options[:240]), strings.Repeat("p", 255), strings.Repeat("q", 255))
	d.Do(200, http.MethodPut, path, object{"options": longer}) // Shorter than it was.
	d.Do(200, http.MethodPut, path, object{"options": options[:1]})
	for _, id := range made[1:] {
		d.Do(200, http.MethodDelete, "/fields/"+id, nil)
	}
	d.DefineField(200, large)
	it.RequireSettingsVersion(t, d.Stack)
}
