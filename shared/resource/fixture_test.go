package resource_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
	"lectern/localstack/test/stacktest"
	"lectern/shared/api"
)

// desk is a caller at work on the records of one kind.
type desk struct {
	*stacktest.Stack
	subject
	t *testing.T
	// owner is the id of the parent record; empty without a parent.
	owner string
	// values has the values that stand for texts.
	values *values
}

// values makes the values of a property that does not take any text, once for each text.
type values struct {
	mu sync.Mutex
	// service is the address of the service with all groups.
	service string
	made    map[string]string
}

// value returns the value of the first required property that stands for a text.
func (d *desk) value(text string) string {
	d.t.Helper()
	if d.stands == nil {
		return text
	}
	v := d.values
	v.mu.Lock()
	defer v.mu.Unlock()
	name, at := fmt.Sprint(d.Org, " ", d.Event, " ", text), *d.Stack
	if at.URL = v.service; v.made[name] == "" {
		v.made[name] = d.stands(d.t, &at, text)
	}
	return v.made[name]
}

// forEvery does a test on every kind, each time in an organization of its own. Afterwards
// the table must be whole.
func forEvery(t *testing.T, test func(t *testing.T, d *desk)) {
	t.Helper()
	forKinds(t, func(subject) bool { return true }, test)
}

func forKinds(t *testing.T, keep func(subject) bool, test func(t *testing.T, d *desk)) {
	t.Helper()
	region, tested := stacktest.Start(t), 0
	for _, s := range subjects {
		if !keep(s) {
			continue
		}
		tested++
		t.Run(strings.ReplaceAll(strings.TrimPrefix(s.path, "/v1/"), "/", "."), func(t *testing.T) {
			own := region.NewOrganization(t)
			d := (&desk{Stack: own, subject: s, t: t, values: &values{service: own.URL, made: map[string]string{}}}).instance(func(*api.Env) {})
			d.owner = d.newParent("Parent")
			if d.stands != nil {
				d.body = d.fresh("Body")
			}
			test(t, d)
		})
	}
	require.Positive(t, tested)
	it.EngineOf(t, region).RequireWhole(t)
}

// instance returns the desk at another instance of the group: a server in this process with
// its own memory, after change has edited its environment.
func (d *desk) instance(change func(*api.Env)) *desk {
	d.t.Helper()
	other := *d
	other.Stack = (&it.Client{Stack: d.Stack, T: d.t}).ServeGroup(d.group, change).Stack
	return &other
}

// parents returns the desk at the parent records.
func (d *desk) parents() *desk {
	d.t.Helper()
	other, parent := *d, d.parent()
	require.NotNil(d.t, parent, "a kind with a parent needs the parent's kind in subjects")
	other.subject, other.owner = *parent, ""
	return &other
}

// newParent creates a parent record and returns its id; empty for a kind without a parent.
func (d *desk) newParent(value string) string {
	d.t.Helper()
	if !d.child {
		return ""
	}
	return d.parents().made(value)
}

// as is the same desk with another caller.
func (d *desk) as(s *stacktest.Stack) *desk {
	other, at := *d, *s
	at.URL = d.URL
	other.Stack = &at
	return &other
}

// under is the same desk at another parent record.
func (d *desk) under(parent string) *desk {
	other := *d
	other.owner = parent
	return &other
}

// event returns the event that owns the records; 0 for an organization.
func (d *desk) event() int64 {
	if strings.Contains(d.path, "{eventId}") {
		return d.Event
	}
	return 0
}

// collection returns the path of the collection, with the ids of the desk.
func (d *desk) collection() string {
	return it.RequestFor(api.Operation{Method: http.MethodGet, Path: d.path}, d.Stack, d.owner).Path
}

func (d *desk) at(id string) string { return d.collection() + "/" + id }

// fresh is the body of a create whose unique value no other record has.
func (d *desk) fresh(value string) object {
	value = d.value(value)
	body := it.Merged(d.body, object{d.required[0]: value})
	if d.unique != "" {
		body[d.unique] = value
	}
	return body
}

func (d *desk) create(status int, body any, header ...string) entity {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodPost, d.collection()+"/create", stacktest.WithHeaders(body, header...)).JSON(d.t)
}

// made creates a record and gives its id.
func (d *desk) made(value string) string {
	d.t.Helper()
	return d.create(http.StatusOK, d.fresh(value)).ID()
}

// get returns the record of an id, from the list if no route answers it as a write does.
func (d *desk) get(status int, id string) entity {
	d.t.Helper()
	if d.unread && status == http.StatusOK {
		all := d.all()
		at := slices.IndexFunc(all, func(r entity) bool { return r.ID() == id })
		require.GreaterOrEqual(d.t, at, 0, id)
		return all[at]
	}
	if d.unread {
		return d.put(status, id, object{})
	}
	return d.Call(d.t, status, http.MethodGet, d.at(id), nil).JSON(d.t)
}

// methods returns the methods on a record.
func (d *desk) methods() []string {
	all := []string{http.MethodGet, http.MethodPut, http.MethodDelete}
	if d.unread {
		return all[1:]
	}
	return all
}

func (d *desk) put(status int, id string, body any, header ...string) entity {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodPut, d.at(id), stacktest.WithHeaders(body, header...)).JSON(d.t)
}

func (d *desk) remove(status int, id string, header ...string) entity {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodDelete, d.at(id), stacktest.WithHeaders(nil, header...)).JSON(d.t)
}

func (d *desk) restored(status int, id string, header ...string) entity {
	d.t.Helper()
	return d.Call(d.t, status, http.MethodPost, d.at(id)+"/restore", stacktest.WithHeaders(nil, header...)).JSON(d.t)
}

// all is the list without the built-in records, whether it has pages or not.
func (d *desk) all() (records []entity) {
	d.t.Helper()
	answer := d.Call(d.t, http.StatusOK, http.MethodGet, d.collection(), nil)
	if !d.paged {
		require.NoError(d.t, json.Unmarshal(answer.Body, &records))
		require.NotNil(d.t, records)
		return slices.DeleteFunc(records, func(r entity) bool { return r["is_custom"] == false })
	}
	var page struct{ Results []entity }
	require.NoError(d.t, json.Unmarshal(answer.Body, &page))
	return slices.DeleteFunc(page.Results, func(r entity) bool { return r["is_default"] == true })
}
