package sessions_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// TestASearchTrustsOnlyWhatItValidated: a search of contacts that began before a
// change, and ends while sessions are searched after it, leaves rows in memory that
// say nothing about the change.
func TestASearchTrustsOnlyWhatItValidated(t *testing.T) {
	d, c := it.StartBehindGate(t)
	s := it.NewPeople(d, "Ann")
	s.Create(200, object{"title": "A", "participants": []object{s.Participant("Ann", "speaker")}})
	elsewhere := s.InNewEvent()
	elsewhere.NewContact(it.EmailOf("Ann"))
	there := &it.Client{Stack: s.Instance(t), T: t}
	found := (&it.Client{Stack: there.In(elsewhere.Event), T: t}).Do(200, http.MethodPost, "/contacts", object{"filters": object{"search": "ann"}})
	require.Equal(t, []string{"Ann"}, it.Texts(found.List("results"), "first_name"), "the record is in memory, as it was")

	event := fmt.Sprintf("#E#%d#", s.Event)
	reads, resume, searched := make(chan string, 10), make(chan struct{}), make(chan struct{})
	hold := func(keys string) {
		reads <- keys
		if strings.Contains(keys, event+"RC ") {
			<-resume
		}
	}
	c.Queried.Store(&hold)
	go func() {
		defer close(searched)
		there.TrySend(t, http.MethodPost, there.EventPath("/contacts"), object{"filters": object{"search": "nobody"}})
	}()
	for range 3 { // The versions of the records, and the associations with theirs.
		<-reads
	}
	c.Queried.Store(nil)
	s.Do(200, http.MethodPut, "/contacts/"+s.IDs["Ann"], object{"first_name": "Zoe"})

	open := sync.OnceFunc(func() { close(resume) })
	release := func(keys string) {
		if strings.Contains(keys, event+"S#") {
			open()
			<-searched
		}
	}
	c.Batched.Store(&release)
	require.Equal(t, []string{"Zoe speaker"}, billed(there.Search(object{}).Results[0]))
}
