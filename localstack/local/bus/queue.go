package bus

import (
	"container/heap"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"lectern/events"
	shared "lectern/shared/bus"
)

const (
	// maxReceives is the number of times that a message is handed out before it goes to the
	// dead-letter queue.
	maxReceives = 5
	// maxOfGroup is the number of messages of a group in flight while other groups wait.
	maxOfGroup = 10
	// visibilities is the number of times of its reader that a queue hides a message for, as in infra.
	visibilities = 6
	// deadVisibility is the time for which a dead-letter queue hides a message.
	deadVisibility = 30 * time.Second
	// retryTime is the time after which a message that its worker reported as failed is handed out again.
	retryTime = 5 * time.Second
)

// message is a message in a queue.
type message struct {
	ID       string    `json:"id"`
	Body     string    `json:"body"`
	Group    string    `json:"group,omitempty"`
	Sent     time.Time `json:"sent"`
	Due      time.Time `json:"due"`
	Receives int       `json:"receives,omitempty"`
	inFlight bool
	// place is the index in the heap of later messages, below 0 outside the heap.
	place int
}

// newMessage returns a message that is handed out after a delay.
func newMessage(body, group string, now time.Time, delay time.Duration) *message {
	return &message{ID: uuid.NewString(), Body: body, Group: group, Sent: now, Due: now.Add(delay), place: -1}
}

// receipt returns the text by which the reader that has the message names the message.
func (m message) receipt() string { return m.ID + "#" + strconv.Itoa(m.Receives) }

// queue is a standard queue. The mutex of queues guards every field.
type queue struct {
	name string
	// visibility is the time for which a message is hidden after it was handed out.
	visibility time.Duration
	// dead takes a message after maxReceives; nil in a dead-letter queue.
	dead   *queue
	all    map[string]*message
	groups map[string]*group
	// later has the messages that are delayed or in flight, the first due first.
	later later
	// wake gets a value after a message came.
	wake chan struct{}
}

// group has the messages of a message group that can be handed out, and the number in flight.
type group struct {
	ready    []*message
	inFlight int
}

// queues has the queues of a region. It is safe for concurrent use.
type queues struct {
	mu      sync.Mutex
	byName  map[string]*queue
	journal *journal
	now     func() time.Time
}

// openQueues returns the queues of the workers, with the messages of the folder.
func openQueues(c Config) (*queues, error) {
	all := &queues{byName: map[string]*queue{}, now: c.Now}
	all.add(shared.Dead(shared.Changes), deadVisibility, nil)
	for _, w := range c.Workers {
		if w.Source == events.Queue {
			dead := all.add(shared.Dead(w.From), deadVisibility, nil)
			all.add(w.From, visibilities*time.Duration(w.Seconds)*time.Second, dead)
		}
	}
	var err error
	all.journal, err = openJournal(c.Dir, all.replay)
	return all, err
}

// add adds an empty queue.
func (s *queues) add(name string, visibility time.Duration, dead *queue) *queue {
	q := &queue{
		name: name, visibility: visibility, dead: dead, all: map[string]*message{}, groups: map[string]*group{}, wake: make(chan struct{}, 1),
	}
	s.byName[name] = q
	return q
}

// replay puts a message of the journal into its queue. A message that was in flight is handed out at
// once, since its reader has ended. A queue without a reader in this release is left out.
func (s *queues) replay(name string, m *message) {
	if m.Receives > 0 {
		m.Due = s.now()
	}
	if q := s.byName[name]; q != nil {
		q.put(m)
	}
}

// close closes the journal.
func (s *queues) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.journal.close()
}

// send accepts messages. After an error, none is accepted.
func (s *queues) send(q *queue, messages ...*message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.journal.sent(q.name, messages...); err != nil {
		return err
	}
	for _, m := range messages {
		q.put(m)
	}
	return s.journal.compact(s.byName)
}

// put adds a message.
func (q *queue) put(m *message) {
	q.all[m.ID] = m
	heap.Push(&q.later, m)
	select {
	case q.wake <- struct{}{}:
	default: // The reader has not seen the message before yet.
	}
}

// want describes the messages to hand out.
type want struct {
	most int
	// hidden is the time until a message is handed out again.
	hidden time.Duration
	// alone takes messages of a single group; quiet leaves out groups with messages in flight.
	// Messages without a group are no group for alone's limit and for quiet.
	alone, quiet bool
}

// take hands out messages. The group with the fewest messages in flight comes first.
func (s *queues) take(q *queue, w want) (taken []*message, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.release(q); err != nil {
		return nil, err
	}
	for name := q.next(w); len(taken) < w.most; {
		g := q.groups[name]
		if g == nil {
			break
		}
		m := g.ready[0]
		g.ready, g.inFlight = g.ready[1:], g.inFlight+1
		m.inFlight, m.Due, m.Receives = true, s.now().Add(w.hidden), m.Receives+1
		heap.Push(&q.later, m)
		taken = append(taken, m)
		if !w.alone {
			name = q.next(w)
		} else if len(g.ready) == 0 || name != "" && g.inFlight >= maxOfGroup {
			break
		}
	}
	return taken, s.journal.received(taken)
}

// none is the name of no group: a client cannot send it.
const none = "\x00"

// next returns the name of the group to hand out a message of.
func (q *queue) next(w want) string {
	waiting := 0
	for _, g := range q.groups {
		if len(g.ready) > 0 {
			waiting++
		}
	}
	best := none
	for name, g := range q.groups {
		limited := name != "" && (w.alone || waiting > 1)
		switch {
		case len(g.ready) == 0, limited && g.inFlight >= maxOfGroup, w.quiet && name != "" && g.inFlight > 0:
		case best == none || g.before(q.groups[best]):
			best = name
		}
	}
	return best
}

// before reports whether a group comes before another group.
func (g *group) before(other *group) bool {
	if g.inFlight != other.inFlight {
		return g.inFlight < other.inFlight
	}
	return g.ready[0].Due.Before(other.ready[0].Due)
}

// release makes the messages ready whose time has come. A message that was handed out often enough
// goes to the dead-letter queue.
func (s *queues) release(q *queue) error {
	now := s.now()
	for len(q.later) > 0 && !q.later[0].Due.After(now) {
		m := q.later[0]
		if q.dead != nil && m.Receives >= maxReceives {
			if err := s.bury(q, m); err != nil {
				return err
			}
			continue
		}
		heap.Pop(&q.later)
		g := q.landed(m)
		g.ready = append(g.ready, m)
	}
	return nil
}

// landed returns the group of a message, which is not in flight any more.
func (q *queue) landed(m *message) *group {
	g := q.groups[m.Group]
	if g == nil {
		g = &group{}
		q.groups[m.Group] = g
	}
	if m.inFlight {
		g.inFlight--
	}
	m.inFlight = false
	return g
}

// bury moves a message to the dead-letter queue.
func (s *queues) bury(q *queue, m *message) error {
	buried := newMessage(m.Body, m.Group, s.now(), 0)
	buried.ID, buried.Sent = m.ID, m.Sent
	if err := s.journal.sent(q.dead.name, buried); err != nil {
		return err
	}
	q.drop(m)
	q.dead.put(buried)
	return nil
}

// drop removes a message that is delayed or in flight.
func (q *queue) drop(m *message) {
	delete(q.all, m.ID)
	heap.Remove(&q.later, m.place)
	if g := q.landed(m); len(g.ready) == 0 && g.inFlight == 0 {
		delete(q.groups, m.Group)
	}
}

// find returns the message in flight that a receipt names; nil for an old receipt.
func (q *queue) find(receipt string) *message {
	id, _, _ := strings.Cut(receipt, "#")
	if m := q.all[id]; m != nil && m.inFlight && m.receipt() == receipt {
		return m
	}
	return nil
}

// remove deletes the messages that receipts name. An old receipt deletes nothing.
func (s *queues) remove(q *queue, receipts ...string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var gone []*message
	for _, r := range receipts {
		if m := q.find(r); m != nil && !slices.Contains(gone, m) {
			gone = append(gone, m)
		}
	}
	if err := s.journal.removed(gone); err != nil {
		return err
	}
	for _, m := range gone {
		q.drop(m)
	}
	return s.journal.compact(s.byName)
}

// failed hands messages out again after a while, or to the dead-letter queue.
func (s *queues) failed(q *queue, messages []*message) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range messages {
		if q.all[m.ID] != m || !m.inFlight {
			continue // The time of its reader is over, and it was handed out again.
		}
		q.landed(m)
		m.Due = s.now().Add(retryTime)
		if m.Receives >= maxReceives {
			m.Due = s.now()
		}
		heap.Fix(&q.later, m.place)
	}
	return s.release(q)
}

// due returns the time until the next message that is delayed or in flight; ok is false without one.
func (s *queues) due(q *queue) (wait time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(q.later) == 0 {
		return 0, false
	}
	return q.later[0].Due.Sub(s.now()), true
}

// later is a heap of messages, the first due first.
type later []*message

func (l later) Len() int           { return len(l) }
func (l later) Less(i, j int) bool { return l[i].Due.Before(l[j].Due) }
func (l later) Swap(i, j int) {
	l[i], l[j] = l[j], l[i]
	l[i].place, l[j].place = i, j
}

// Push adds a message.
func (l *later) Push(m any) {
	added := m.(*message) //nolint:forcetypeassert // the heap has messages alone
	added.place = len(*l)
	*l = append(*l, added)
}

// Pop removes the last message.
func (l *later) Pop() any {
	last := (*l)[len(*l)-1]
	*l = (*l)[:len(*l)-1]
	last.place = -1
	return last
}
