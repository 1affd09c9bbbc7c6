package demo

import "context"

// ids has the ids of the event's settings by kind and name: ids["rooms"]["Quay 1"]. Fields
// have internal names in place of ids.
type ids map[string]map[string]string

// setting is a metadata entry, status, field, rule or persona as the API shows it. The name of
// the name differs by kind.
type setting struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	PublicName   string `json:"public_name"`
	InternalName string `json:"internal_name"`
}

// name returns the name of any kind.
func (s setting) name() string { return s.Name + s.PublicName }

// value returns the internal name of a field, otherwise the id.
func (s setting) value() string {
	if s.InternalName != "" {
		return s.InternalName
	}
	return s.ID
}

// participantRoles is the kind of setting without a create.
const participantRoles = "participant-roles"

// settings creates the missing metadata, statuses, fields, rules and personas.
func (c client) settings(ctx context.Context, p programme) (ids, error) {
	all, wanted := ids{}, p.settings()
	wanted[participantRoles] = nil
	for kind, bodies := range wanted {
		have, err := c.ensure(ctx, kind, bodies)
		if err != nil {
			return nil, err
		}
		all[kind] = have
	}
	return all, nil
}

// ensure creates the settings of a kind with a missing name.
func (c client) ensure(ctx context.Context, kind string, bodies []map[string]any) (map[string]string, error) {
	var list []setting
	if err := c.get(ctx, c.path("/"+kind), &list); err != nil {
		return nil, err
	}
	have := map[string]string{}
	for _, s := range list {
		have[s.name()] = s.value()
	}
	for _, body := range bodies {
		name, _ := body["name"].(string)
		if have[name] != "" {
			continue
		}
		var made setting
		if err := c.post(ctx, "/"+kind+"/create", body, &made); err != nil {
			return nil, err
		}
		have[name] = made.value()
	}
	return have, nil
}
