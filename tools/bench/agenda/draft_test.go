package agenda_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/tools/bench/scale"
)

// TestALargeDraft shows the changes of a draft of 1,000 placements, and commits the draft.
func TestALargeDraft(t *testing.T) {
	n := scale.Size(120, 1_000)
	b := startBench(t)
	room := b.NewEntry("rooms", "Hall").ID()
	opens := time.Date(2027, 5, 10, 8, 0, 0, 0, time.UTC)
	sessions := b.CreateAll("sessions", drafts(n, func(i int) any {
		return it.Object{"title": fmt.Sprint("Talk ", i), "description": description}
	}))
	draft := "agenda-drafts/" + b.Do(http.StatusOK, http.MethodPost, "/agenda-drafts/create", it.Object{"name": "Large"}).ID()
	b.CreateAll(draft+"/sessions", drafts(n, func(i int) any {
		starts := opens.Add(time.Duration(i) * time.Hour)
		return it.Object{"session_id": sessions[i], "starts_at": starts, "ends_at": starts.Add(time.Hour), "room_id": room}
	}))
	b.do("the first changes of a draft", http.MethodGet, "/"+draft+"/changes", 1)
	b.do("the changes of a draft, warm", http.MethodGet, "/"+draft+"/changes", 9)
	committed := b.do("the commit of a draft", http.MethodPost, "/"+draft+"/commit", 1)
	require.EqualValues(t, n, committed.JSON(t)["applied"])
	b.do("the changes of a committed draft", http.MethodGet, "/"+draft+"/changes", 9)
}
