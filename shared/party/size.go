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

// Only returns the party with its roles and the standard fields named, for where nothing
// else of it is shown or there is no memory for more. Its Size stays the same.
func (p Party) Only(names []string) Party {
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
	if p.Here != nil {
		only.Here = &Association{ID: p.Here.ID, Event: p.Here.Event, Roles: p.Here.Roles}
	}
	return only
}
