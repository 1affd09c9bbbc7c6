package gdpr_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestHoldingSlidesLoseAnErasedPerson: the slides are drawn without the name, and the bytes with the name are
// gone, also of a session that the person has left.
func TestHoldingSlidesLoseAnErasedPerson(t *testing.T) {
	o := newOffice(t)
	o.Inside(t, slow)
	ada := o.Create(200, object{"email": address, "first_name": canary, "last_name": "Lovelace"}).ID()
	talk := func(title string) string {
		return o.Client.Create(200, object{"title": title, "status": "accepted", "participants": []any{
			object{"contact_id": ada, "core_role": "speaker"},
		}}).ID()
	}
	first, left := talk("A talk"), talk("Another talk")
	o.Command("holding-slides", object{"on": true})
	slide := func(id string) entity {
		all := o.Do(200, http.MethodGet, "/sessions/"+id+"/files?type=holding_slide", nil).List("data")
		if len(all) == 0 {
			return nil
		}
		return all[0]
	}
	drawn := func(id string, not entity) (is entity) {
		o.T.Helper()
		require.Eventually(t, func() bool { is = slide(id); return is != nil && is["url"] != not["url"] }, patience, 5*pause)
		return is
	}
	was, former := drawn(first, nil), drawn(left, nil)
	prefix := fmt.Sprintf("files/%d/", o.Org)
	o.Client.Put(200, left, object{"participants": []any{}})
	drawn(left, former)
	require.Eventually(t, func() bool { return len(o.StoredKeys(t, prefix)) == 2 }, patience, 5*pause)
	before := o.StoredKeys(t, prefix)

	o.after(o.ask(201, asking("erasure", address)).ID(), "completed")
	is := drawn(first, was)
	require.Equal(t, was.ID(), is.ID())
	require.Eventually(t, func() bool { return len(o.StoredKeys(t, prefix)) == 2 }, patience, 5*pause)
	after := o.StoredKeys(t, prefix)
	gone := 0
	for _, key := range before {
		if !contains(after, key) {
			gone++
		}
	}
	require.Equal(t, 1, gone, "the bytes with the name, and not those of the session that the person had left")
	time.Sleep(time.Second) // Messages that come late change nothing.
	require.Equal(t, after, o.StoredKeys(t, prefix))
	require.Empty(t, found(it.EngineOf(t, o.Stack).Dump(t)))
	it.EngineOf(t, o.Stack).RequireWhole(t)
}

func contains(all []string, one string) bool {
	for _, key := range all {
		if key == one {
			return true
		}
	}
	return false
}
