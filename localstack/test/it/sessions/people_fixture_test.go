package sessions_test

import (
	"lectern/localstack/test/it"
)

// billed are the participants that a session shows, such as "Ann speaker".
func billed(r entity) []string {
	names := []string{}
	for _, p := range r.List("participants") {
		names = append(names, p.Text("first_name")+" "+p.At("participant_role.slug").(string))
	}
	return names
}

// named are the people of a legacy array.
func named(r entity, array string) []string { return it.Texts(r.List(array), "first_name") }

// entriesOf are the session_participant_ids by who is billed.
func entriesOf(r entity) map[string]string {
	ids := map[string]string{}
	for i, who := range billed(r) {
		ids[who] = r.List("participants")[i].Text("session_participant_id")
	}
	return ids
}
