package party

import (
	"context"
	"slices"
	"sync"

	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/write"
)

// Reader reads the parties of ids that were ever associated with the caller's event, by id.
type Reader func(ctx context.Context, c *auth.Caller, wanted []string) (map[string]Party, error)

// Portion says how much of a party an answer needs.
type Portion struct {
	// Fields are the standard fields to keep, beside the roles; nil keeps the whole party.
	Fields []string
	// Translated keeps the translations of a whole party.
	Translated bool
	// Brief are the standard fields to keep once the budget is used up.
	Brief []string
	// Budget is how many bytes the loaded parties may have, as Weigh counts the bytes of
	// a party.
	Budget int
	Weigh  func(Party) int
}

// Loader loads the parties of one kind that an answer shows: each once, however many
// records name the party, and in brief once the budget is used up. A Loader may be used
// in parallel.
type Loader struct {
	Portion
	caller *auth.Caller
	store  *Store
	read   Reader

	mu     sync.Mutex
	loaded map[string]loaded
	used   int
}

// loaded is a party that was looked for; zero for a party never on the event.
type loaded struct {
	Party
	bytes int
	// mayBeTorn asks for another read before the party is shown.
	mayBeTorn bool
}

// NewLoader returns an empty Loader for the caller's event.
func NewLoader(c *auth.Caller, st *Store, read Reader, needs Portion) *Loader {
	return &Loader{Portion: needs, caller: c, store: st, read: read, loaded: map[string]loaded{}}
}

// maxAtOnce is how many parties are read before their size is looked at.
const maxAtOnce = 250

// Load reads the parties of ids that were not looked for yet, or may be torn.
func (l *Loader) Load(ctx context.Context, ids []string) error {
	for chunk := range slices.Chunk(l.missing(ids), maxAtOnce) {
		found, err := l.read(ctx, l.caller, chunk)
		if err != nil {
			return err
		}
		l.Keep(chunk, found)
	}
	return nil
}

// Keep adds the found parties of ids and counts their bytes against the budget.
func (l *Loader) Keep(ids []string, found map[string]Party) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		p, bytes := l.weighed(found[id])
		if l.used += bytes; l.used > l.Budget {
			p = p.only(l.Brief)
		}
		l.loaded[id] = loaded{Party: p, bytes: bytes}
	}
}

// weighed returns the part of a party that fits the answer's needs, with the bytes.
func (l *Loader) weighed(p Party) (kept Party, bytes int) {
	if p.Body == nil {
		return p, 0
	}
	if !l.Translated {
		p = p.untranslated()
	}
	bytes = l.Weigh(p)
	if l.Fields != nil {
		p = p.only(l.Fields)
	}
	return p, bytes
}

// Add adds parties that were read for a write. The budget does not count their bytes.
func (l *Loader) Add(parties ...Party) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range parties {
		kept, bytes := l.weighed(p)
		l.loaded[p.ID] = loaded{kept, bytes, l.store.mayBeTorn(p)}
	}
}

// AddFrom adds the parties of ids from the items that an operation read.
func (l *Loader) AddFrom(got write.Items, ids []string) error {
	for _, id := range l.missing(ids) {
		switch p, err := l.store.Found(l.caller, got, id); {
		case err != nil:
			return err
		case p.Body != nil:
			l.Add(p)
		}
	}
	return nil
}

// missing returns the ids that were not looked for yet or may be torn, each once.
func (l *Loader) missing(ids []string) (missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := map[string]bool{}
	for _, id := range ids {
		if known, ok := l.loaded[id]; (!ok || known.mayBeTorn) && !seen[id] {
			seen[id] = true
			missing = append(missing, id)
		}
	}
	return missing
}

// Holder returns the loaded party of an id if the party holds the role on the event.
func (l *Loader) Holder(id, role string) (Party, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.loaded[id].Party
	return p, p.Holds(role)
}

// Bytes returns the size of a loaded party, as Weigh counts; 0 for a party that was never
// on the event.
func (l *Loader) Bytes(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.loaded[id]; p.Body != nil && p.Association != nil {
		return p.bytes
	}
	return 0
}

// Exceeded reports whether some of the parties are kept in brief.
func (l *Loader) Exceeded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.used > l.Budget
}

// Size returns about how many stored bytes the party was read from.
func (p Party) Size() int {
	if p.Association == nil {
		return p.bytes
	}
	return p.bytes + p.Association.bytes
}

func length(texts field.Translations) (sum int) {
	for _, byField := range texts {
		for _, text := range byField {
			sum += len(text)
		}
	}
	return sum
}

// untranslated returns the party without its translations, for answers without them.
func (p Party) untranslated() Party {
	if p.Body != nil && p.Translations != nil {
		body := *p.Body
		body.bytes, body.Translations = max(body.bytes-length(body.Translations), 0), nil
		p.Body = &body
	}
	if p.Association != nil && p.Association.Translations != nil {
		association := *p.Association
		association.bytes, association.Translations = max(association.bytes-length(association.Translations), 0), nil
		p.Association = &association
	}
	return p
}

// only returns the party with its roles and the standard fields named, for answers that
// show nothing else or lack the memory for more. The Size stays the same.
func (p Party) only(names []string) Party {
	if p.Body == nil {
		return p
	}
	kept := map[string]string{}
	for _, name := range names {
		if value, ok := p.Values[name]; ok {
			kept[name] = value
		}
	}
	only := Party{Body: &Body{
		ID: p.ID, Number: p.Number, Values: kept, CreatedAt: p.CreatedAt, UpdatedAt: p.Changed(), WrittenAt: p.WrittenAt, bytes: p.Size(),
	}}
	if p.Association != nil {
		only.Association = &Association{ID: p.Association.ID, Event: p.Association.Event, Roles: p.Association.Roles}
	}
	return only
}
