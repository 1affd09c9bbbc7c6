package demo

import "context"

// ids are the ids that the event gave the conference's settings, by kind and
// name: ids["rooms"]["Quay 1"]. Under "fields" stand internal names.
type ids map[string]map[string]string

// setting is a metadata entry, a status, a field, a rule or a persona as the API shows it; kinds
// differ in what their name is called.
type setting struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	PublicName   string `json:"public_name"`
	InternalName string `json:"internal_name"`
}

func (s setting) name() string { return s.Name + s.PublicName }

func (s setting) value() string {
	if s.InternalName != "" {
		return s.InternalName
	}
	return s.ID
}

// participantRoles is the kind of setting that the API only reads.
const participantRoles = "participant-roles"

// settings makes the metadata, statuses, fields, rules and personas that the event lacks.
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

// ensure makes the settings of one kind that are not there by name.
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
