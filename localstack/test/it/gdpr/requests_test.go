package gdpr_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/cloud/target"
	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/auth"
)

// TestAnArchiveHasAllOfAPerson: the contact on the organization and on each event, with the sessions,
// the accounts, all changes with their values, the webhooks, and the data requests.
func TestAnArchiveHasAllOfAPerson(t *testing.T) {
	o := newOffice(t)
	p := newPerson(t, o)
	p.settle()
	asked := o.ask(201, asking("access", address))
	require.Equal(t, "pending", asked["status"])
	require.Nil(t, asked["archive"])
	done := o.after(asked.ID(), "completed")
	require.Equal(t, address, done["identity_value"])
	require.Equal(t, collection+"/"+asked.ID()+"/archive", done.At("archive.url"))

	a := o.archive(200, done)
	require.Equal(t, address, a["identity_value"])
	require.Empty(t, a["omitted"])
	require.Equal(t, []any{asked.ID()}, it.Column(a.List("data_requests"), "id"))
	require.Len(t, a.List("contacts"), 1)
	c := a.List("contacts")[0]
	require.Equal(t, map[string]any(p.GetFromOrganization(200, p.id, "expand=translated_fields")), c["contact"])
	require.Len(t, c.List("events"), 2)
	here := c.List("events")[0]
	require.Equal(t, map[string]any(p.Get(200, p.id, "expand=translated_fields")), here["contact"])
	require.Len(t, here.List("sessions"), 2)
	require.Contains(t, it.Column(here.List("sessions"), "id"), p.there)
	require.Equal(t, []any{"Speaker"}, here.List("sessions")[0]["roles"])
	require.Len(t, here.List("accounts"), 1)
	require.Equal(t, true, here.List("accounts")[0]["is_primary"])
	require.Empty(t, c.List("events")[1].List("sessions"))
	changes := c.List("changes")
	require.Equal(t, "contact.created", changes[0]["action"])
	require.Contains(t, fmt.Sprint(changes[1]["values"]), "Doctor "+canary)
	require.Len(t, changes, 5)
	require.Contains(t, it.Column(c.List("webhook_deliveries"), "kind"), "contact.created")
}

// TestAMemberIsNamedAndShown: the address of a member of the organization.
func TestAMemberIsNamedAndShown(t *testing.T) {
	o := newOffice(t)
	made := o.Operator(t, "member-create", object{"org_id": o.Org, "name": "Grace", "email": "Grace@example.org", "role": "admin", "active": true})
	asked := o.ask(201, asking("access", "grace@EXAMPLE.org"))
	require.Equal(t, true, asked["matching_user_exists"])
	require.Equal(t, []any{made["id"]}, asked.At("response.users"))
	require.Equal(t, []any{fmt.Sprint(made["id"])}, asked.At("response.org_users"))
	a := o.archive(200, o.after(asked.ID(), "completed"))
	require.Equal(t, []any{"Grace"}, it.Column(a.List("members"), "name"))
	require.Empty(t, a["contacts"])
	nobody := o.ask(201, asking("access", "nobody@example.org"))
	require.Equal(t, false, nobody["matching_user_exists"])
	empty := o.archive(200, o.after(nobody.ID(), "completed"))
	require.Empty(t, empty["contacts"])
	require.Empty(t, empty["members"])
}

// TestOneOpenRequestOfATypeAndAddress: a second request gets the first as its answer, whatever the
// case of the address; a request of the other type, or for another address, is new. An erasure stays
// open for its two rounds, also where a worker does it at once.
func TestOneOpenRequestOfATypeAndAddress(t *testing.T) {
	stacktest.Everywhere(t)
	d := it.NewClient(t)
	ask := func(kind, address string, header ...string) string {
		return d.Call(t, 201, http.MethodPost, collection, stacktest.WithHeaders(asking(kind, address), header...)).JSON(t)["id"].(string)
	}
	unique := uuid.NewString()
	first := ask("erasure", unique+"@example.org", "Idempotency-Key", unique)
	require.Equal(t, first, ask("erasure", unique+"@example.org", "Idempotency-Key", unique))
	require.Equal(t, first, ask("erasure", " "+strings.ToUpper(unique)+"@Example.ORG "))
	require.Equal(t, first, ask("erasure", unique+"@example.org", "Idempotency-Key", unique+"-2"))
	require.NotEqual(t, first, ask("access", unique+"@example.org"))
	require.NotEqual(t, first, ask("erasure", unique+"@example.net"))
}

// TestAskingWhileRequestsEnd: a request may end between the refusal of a second one and its reading.
func TestAskingWhileRequestsEnd(t *testing.T) {
	o := newOffice(t)
	it.Concurrently(8, func(int) {
		for range 25 {
			answer := o.TrySend(t, http.MethodPost, collection, asking("access", "ada@example.org"))
			if answer.Status != http.StatusCreated {
				t.Errorf("%d %s", answer.Status, answer.Body)
				return
			}
		}
	})
	require.Greater(t, len(o.list()), 1, "requests ended meanwhile")
}

// TestARequestIsDone everywhere: as processes and on the emulator, under the functions' own roles.
func TestARequestIsDone(t *testing.T) {
	stacktest.Everywhere(t)
	o := newOffice(t)
	mail := uuid.NewString() + "@example.org"
	hook := o.Call(t, 200, http.MethodPost, "/v1/webhooks/create", object{"url": "https://hooks.invalid/", "events": []any{"contact.created"}}).JSON(t)["id"]
	id := o.Create(200, object{"email": mail, "first_name": "Ada"}).ID()
	for range 6 { // The items of the first event are checked by the version of one of them.
		o.InNewEvent().Create(200, object{"email": mail})
	}
	talk := o.Client.Create(200, object{"title": "A talk", "participants": []any{object{"email": mail, "core_role": "speaker"}}}).ID()
	access := o.after(o.ask(201, asking("access", mail)).ID(), "completed")
	require.Equal(t, "Ada", o.archive(200, access).List("contacts")[0].At("contact.first_name"))
	repeated := o.Operator(t, "erasure-repeat", object{"org_id": o.Org, "erasures": []any{
		object{"request": id, "identity": "of nobody", "contacts": []any{}, "completed_at": "2026-11-24T00:00:00Z"},
	}})
	require.Empty(t, repeated["results"])
	require.Empty(t, o.Operator(t, "erasure-list", object{"org_id": o.Org, "since": "2026-11-24T00:00:00Z"})["results"])
	require.Eventually(t, func() bool {
		path := fmt.Sprintf("/v1/webhooks/%s/deliveries", hook)
		return len(stacktest.Call[it.Page](o.Stack, 200, http.MethodGet, path, nil).Results) > 0
	}, patience, pause)
	erasure := o.ask(201, asking("erasure", mail)).ID()
	require.Eventually(t, func() bool { return o.Get(200, id)["email"] == nil }, patience, pause)
	require.NotContains(t, fmt.Sprint(o.Client.Get(200, talk)), "Ada")
	require.Eventually(t, func() bool {
		r := it.ByID(t, o.list(), erasure)
		return r["status"] == "processing" || r["status"] == "completed"
	}, patience, pause)
	// Between the rounds of a worker of its own binary are dataworker.Settling, for which only long runs wait.
	if os.Getenv(target.Env)+os.Getenv(stacktest.EnvFunctions) != "" && os.Getenv(stacktest.EnvWhole) == "" {
		return
	}
	require.Eventually(t, func() bool { return it.ByID(t, o.list(), erasure)["status"] == "completed" }, 5*time.Minute, 2*time.Second)
}

// TestRequestsThatAreRefused with the field, and nothing is stored.
func TestRequestsThatAreRefused(t *testing.T) {
	d := it.NewClient(t)
	good := asking("access", "ada@example.org")
	for field, values := range map[string][]any{
		"requestType":   {nil, "deletion", "", 1},
		"identityType":  {nil, "phone", "", 1},
		"identityValue": {nil, "", "  ", strings.Repeat("a", 256), 1},
	} {
		for _, value := range append(values, "absent") {
			body := it.Merged(good, object{field: value})
			if value == "absent" {
				delete(body, field)
			}
			answer := d.Call(t, 400, http.MethodPost, collection, body).JSON(t)
			require.Equal(t, field, entity(answer).At("details.field"), "%v", value)
		}
	}
	d.Call(t, 400, http.MethodPost, collection, []any{})
	d.Call(t, 404, http.MethodGet, collection+"/"+uuid.NewString()+"/archive", nil)
	d.Call(t, 400, http.MethodGet, collection+"/none/archive", nil)
	require.Empty(t, stacktest.Call[it.Page](d.Stack, 200, http.MethodGet, collection, nil).Results)
}

// TestWhoMayAsk: the scopes of contacts, and no token or member that is limited to events. Another
// organization sees nothing.
func TestWhoMayAsk(t *testing.T) {
	o := newOffice(t)
	asked := o.ask(201, asking("access", "ada@example.org"))
	done := o.after(asked.ID(), "completed")
	limited := o.LimitedToEvent()
	for _, path := range []string{collection, done.At("archive.url").(string)} {
		limited.Call(t, 403, http.MethodGet, path, nil)
	}
	limited.Call(t, 403, http.MethodPost, collection, asking("access", "eve@example.org"))
	reader := o.As(o.NewToken(t, string(auth.ReadContacts)))
	reader.Call(t, 200, http.MethodGet, collection, nil)
	reader.Call(t, 403, http.MethodPost, collection, asking("access", "eve@example.org"))
	other := o.InOtherOrganization()
	other.Call(t, 404, http.MethodGet, done.At("archive.url").(string), nil)
	require.Empty(t, stacktest.Call[it.Page](other.Stack, 200, http.MethodGet, collection, nil).Results)
	require.Len(t, o.list(), 1)
}
