package gdpr_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/shared/bus"
	"lectern/shared/change"
	"lectern/shared/datarequest"
)

// TestAnErasureEndsWhatIsOpen: an access request that a worker has begun ends without an archive, and
// its message changes nothing any more.
func TestAnErasureEndsWhatIsOpen(t *testing.T) {
	b := newBench(t)
	access, collect := b.asked("access")
	w, _ := b.worker(14)
	_, err := w.Invoke(t.Context(), message(collect, 1))
	require.NoError(t, err)
	require.Equal(t, "processing", b.request(access)["status"])
	erasure, erase := b.asked("erasure")
	require.Zero(t, b.invoke(erase, 1))
	require.Equal(t, "failed", b.request(access)["status"])
	require.Equal(t, "A***@e***.org", b.request(access)["identity_value"])
	require.Zero(t, b.invoke(collect, 2))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, "completed", b.request(erasure)["status"])
	require.Equal(t, "failed", b.request(access)["status"])
	env := b.Env(t)
	begun, err := datarequest.NewStore(env).Get(t.Context(), b.Org, access)
	require.NoError(t, err)
	late := &datarequest.Collected{RequestID: access, OrgID: b.Org, Identity: canary}
	require.NoError(t, datarequest.NewStore(env).StoreArchive(t.Context(), begun, late), "a worker that stores too late keeps nothing")
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}

// TestARepeatedErasureSparesWhoHasTheAddressNow: the first round comes again after somebody else has
// got the freed address.
func TestARepeatedErasureSparesWhoHasTheAddressNow(t *testing.T) {
	b := newBench(t)
	id, erase := b.asked("erasure")
	b.fault = it.ErrEnded
	require.Equal(t, 1, b.invoke(erase, 1))
	other := b.Create(200, object{"email": address, "first_name": "Other"}).ID()
	theirs, collect := b.asked("access")
	require.Zero(t, b.invoke(collect, 1))
	b.fault = nil
	require.Zero(t, b.invoke(erase, 2))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, "completed", b.request(id)["status"])
	require.Equal(t, "Other", b.Get(200, other)["first_name"])
	b.Call(t, 200, http.MethodGet, collection+"/"+theirs+"/archive", nil)
}

// TestRequestsForAFormerAddressAreForgotten with their archives.
func TestRequestsForAFormerAddressAreForgotten(t *testing.T) {
	b := newBench(t)
	access, collect := b.asked("access")
	require.Zero(t, b.invoke(collect, 1))
	contact := b.request(access).At("response.contact_records").([]any)[0].(string)
	b.Put(200, contact, object{"email": "new@example.org"})
	b.Call(t, 200, http.MethodGet, collection+"/"+access+"/archive", nil)
	asked := entity(b.Call(t, 201, http.MethodPost, collection, asking("erasure", "new@example.org")).JSON(t))
	body := it.Encode(t, object{"detail": object{"org": b.Org, "record_id": asked.ID(), "kind": datarequest.KindCreated}})
	require.Zero(t, b.invoke(body, 1))
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	b.Call(t, 404, http.MethodGet, collection+"/"+access+"/archive", nil)
	require.Equal(t, "A***@e***.org", b.request(access)["identity_value"])
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}

// TestWhatComesBetweenTheRoundsIsErased: a process that has read the person before the first round stores
// bodies and answers after it.
func TestWhatComesBetweenTheRoundsIsErased(t *testing.T) {
	b := newBench(t)
	id, erase := b.asked("erasure")
	require.Zero(t, b.invoke(erase, 1))
	require.Len(t, found(it.EngineOf(t, b.Stack).Dump(t)), 1, "the request alone")
	talk := b.Client.Create(200, object{"title": "A late talk", "participants": []any{object{"contact_id": b.id, "core_role": "speaker"}}}).ID()
	late := 0
	for _, c := range it.ChangesOf(t, b.Stack) {
		for _, m := range bus.Messages(c) {
			if m.Kind != bus.FieldsChanged && (m.RecordID == talk || m.RecordID == b.id && c.Source == change.SourceService) {
				b.deliverMessage(m, blank{})
				late++
			}
		}
	}
	require.Greater(t, late, 2)
	require.Greater(t, len(found(it.EngineOf(t, b.Stack).Dump(t))), 2*late)
	require.Zero(t, b.invoke(b.posts[0].Body, 1))
	require.Equal(t, "completed", b.request(id)["status"])
	require.Empty(t, found(it.EngineOf(t, b.Stack).Dump(t)))
}
