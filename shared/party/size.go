package party

import "lectern/shared/field"

// Size is about how many bytes the party is that was read from the table, with its
// translations or without.
func (p Party) Size(translated bool) int {
	size := p.bytes
	if !translated {
		size -= length(p.Translations)
	}
	if p.Here != nil {
		if size += p.Here.bytes; !translated {
			size -= length(p.Here.Translations)
		}
	}
	return max(size, 0)
}

func length(texts field.Translations) (sum int) {
	for _, byField := range texts {
		for _, text := range byField {
			sum += len(text)
		}
	}
	return sum
}

// Trim is the party with no more than its roles and the standard fields named, for
// when there is no room for all of it. Its Size stays what it was.
func (p Party) Trim(names []string) Party {
	if p.Body == nil {
		return p
	}
	size, kept := p.Size(true), map[string]string{}
	for _, name := range names {
		if value, ok := p.Values[name]; ok {
			kept[name] = value
		}
	}
	short := Party{Body: &Body{ID: p.ID, Number: p.Number, Values: kept, CreatedAt: p.CreatedAt, UpdatedAt: p.Changed(), bytes: size, trimmed: true}}
	if p.Here != nil {
		short.Here = &Association{ID: p.Here.ID, Event: p.Here.Event, Roles: p.Here.Roles}
	}
	return short
}

// Trimmed is whether the party is one that Trim has made.
func (p Party) Trimmed() bool { return p.Body != nil && p.trimmed }
