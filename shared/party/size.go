package party

import "lectern/shared/field"

// Size is about how many bytes the party is that was read from the table.
func (p Party) Size() int {
	if p.Here == nil {
		return p.bytes
	}
	return p.bytes + p.Here.bytes
}

func length(texts field.Translations) (sum int) {
	for _, byField := range texts {
		for _, text := range byField {
			sum += len(text)
		}
	}
	return sum
}

// Untranslated is the party without its translations, for where these are not shown.
func (p Party) Untranslated() Party {
	if p.Body != nil && p.Translations != nil {
		body := *p.Body
		body.bytes, body.Translations = max(body.bytes-length(body.Translations), 0), nil
		p.Body = &body
	}
	if p.Here != nil && p.Here.Translations != nil {
		here := *p.Here
		here.bytes, here.Translations = max(here.bytes-length(here.Translations), 0), nil
		p.Here = &here
	}
	return p
}

// Trim is the party with no more than its roles and the standard fields named, for
// when there is no room for all of it. Its Size stays what it was.
func (p Party) Trim(names []string) Party {
	if p.Body == nil {
		return p
	}
	size, kept := p.Size(), map[string]string{}
	for _, name := range names {
		if value, ok := p.Values[name]; ok {
			kept[name] = value
		}
	}
	short := Party{Body: &Body{ID: p.ID, Number: p.Number, Values: kept, CreatedAt: p.CreatedAt, UpdatedAt: p.Changed(), WrittenAt: p.WrittenAt, bytes: size, trimmed: true}}
	if p.Here != nil {
		short.Here = &Association{ID: p.Here.ID, Event: p.Here.Event, Roles: p.Here.Roles}
	}
	return short
}

// Trimmed is whether the party is one that Trim has made.
func (p Party) Trimmed() bool { return p.Body != nil && p.trimmed }
