package requests_test

import (
	"fmt"
	"testing"
)

// TestWrongPlaces asks for what is not there: paths, methods, ids of the wrong
// kind, events of nobody; and as nobody.
func TestWrongPlaces(t *testing.T) {
	w := newTargets(t)
	var all []mistake
	for _, path := range []string{
		"/v1", "/v1/", "/v1/nothing", "/v2/events", "/v1/event", "/v1/event/1", "/v1/event/1/nothing", "/sessions/" + w.session + "/nothing",
		"/sessions//", "/sessions//fields", "/tracks/" + w.track + "/restore", "/v1/events//", "/v1//events", "/sessions/create/more", "/sessions/..%2f", "/sessions/%2e%2e",
	} {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			all = append(all, mistake{method, path, nil, 404, "", "", nil})
		}
	}
	for path, methods := range map[string][]string{
		"/v1/events": {"POST", "PUT", "DELETE", "PATCH"}, "/sessions": {"PUT", "DELETE", "PATCH"}, "/sessions/" + w.session: {"POST", "PATCH"},
		"/sessions/" + w.session + "/fields": {"GET", "POST", "DELETE"}, "/sessions/" + w.session + "/restore": {"GET", "PUT", "DELETE"},
		"/tracks": {"PUT", "DELETE", "PATCH"}, "/tracks/" + w.track: {"GET", "POST", "PATCH"}, "/statuses": {"POST"}, "/session-statuses": {"GET"},
		"/fields/" + w.noteID: {"GET", "POST"},
	} {
		for _, method := range methods {
			all = append(all, mistake{method, path, nil, 405, "", "", nil})
		}
	}
	for _, event := range []string{"x", "0", "-1", "1.5", "1e3", fmt.Sprintf("0%d", w.Event), "99999999999999999999", "0x1", "%31x", w.session, "%20"} {
		at := "/v1/event/" + event
		all = append(all, bad("GET", at+"/sessions", nil, "eventId"), bad("POST", at+"/sessions", object{}, "eventId"),
			bad("GET", at+"/tracks", nil, "eventId"), bad("POST", at+"/tracks/create", object{"name": "x"}, "eventId"),
			bad("GET", at+"/sessions/"+w.session, nil, "eventId"), bad("POST", at+"/sessions/bulk", object{"operations": 1}, "eventId"),
			bad("POST", at+"/fields/create", object{}, "eventId"), bad("POST", at+"/contacts", object{}, "eventId"),
			bad("POST", at+"/contacts/create", object{}, "eventId"), bad("DELETE", at+"/sponsors/"+w.sponsor, nil, "eventId"),
			bad("POST", at+"/exhibitors/bulk", object{}, "eventId"), bad("GET", at+"/speakers/"+w.contact, nil, "eventId"),
			bad("GET", at+"/participants", nil, "eventId"))
	}
	for _, event := range []int64{w.Event + 1000, w.NewOrganization(t).Event} {
		at := fmt.Sprint("/v1/event/", event)
		all = append(all, mistake{"GET", at + "/sessions", nil, 404, "", "", nil}, mistake{"POST", at + "/sessions", "{", 404, "", "", nil},
			mistake{"POST", at + "/sessions/create", object{"title": "x"}, 404, "", "", nil}, mistake{"GET", at + "/sessions?page=0", nil, 404, "", "", nil},
			mistake{"POST", at + "/rooms/create", object{"name": "x"}, 404, "", "", nil}, mistake{"DELETE", at + "/sessions/" + w.session, nil, 404, "", "", nil})
	}
	for _, id := range []string{"x", "1", "SESS-1", w.session + "0", w.session[:35], "{" + w.session + "}", "urn:uuid:" + w.session, "%00", "%ff"} {
		all = append(all, bad("GET", "/sessions/"+id, nil, "sessionId"), bad("PUT", "/sessions/"+id, object{"title": "x"}, "sessionId"),
			bad("PUT", "/sessions/"+id+"/fields", object{"values": object{}}, "sessionId"), bad("DELETE", "/sessions/"+id, nil, "sessionId"),
			bad("POST", "/sessions/"+id+"/restore", nil, "sessionId"))
	}
	w.makes(all)
}

func TestWrongCallers(t *testing.T) {
	w := newTargets(t)
	reader, writer := w.NewToken(t, "read:sessions"), w.NewToken(t, "write:contacts")
	var all []mistake
	for _, r := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/v1/events", nil}, {"POST", "/sessions", object{"filters": 1}}, {"GET", "/sessions?page=0", nil}, {"GET", "/sessions/x", nil},
		{"POST", "/sessions/create", "{"}, {"PUT", "/sessions/x", object{"title": ""}}, {"DELETE", "/sessions/" + w.sub, nil},
		{"POST", "/sessions/bulk", object{}}, {"POST", "/tracks/create", object{}}, {"DELETE", "/tracks/" + w.track, nil},
		{"POST", "/fields/create", object{}}, {"GET", "/fields", nil}, {"POST", "/statuses/" + w.status + "/restore", nil},
	} {
		for _, token := range []string{"", "x", "lct_us_0", w.Token + "0", w.Token[:len(w.Token)-1], "Bearer " + w.Token} {
			all = append(all, mistake{r.method, r.path, r.body, 401, "", "", []string{"X-Access-Token", token}})
		}
		all = append(all, mistake{r.method, r.path, r.body, 401, "", "", []string{"X-Access-Token", "", "Authorization", "Bearer " + w.Token}},
			mistake{r.method, r.path, r.body, 403, "", "", []string{"X-Access-Token", writer}})
		if r.method != "GET" && r.path != "/sessions" {
			all = append(all, mistake{r.method, r.path, r.body, 403, "", "", []string{"X-Access-Token", reader}})
		}
	}
	w.makes(all)
}
