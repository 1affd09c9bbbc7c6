package bus_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/shared/bus"
	"lectern/shared/change"
)

// TestChangedFieldsOfAContactAreOneMessage more, after the published kinds of the change.
func TestChangedFieldsOfAContactAreOneMessage(t *testing.T) {
	kind := func(name string, sequence int64, fields ...string) change.Kind {
		return change.Kind{Name: name, Sequence: sequence, Fields: fields}
	}
	updated := func(sequence int64, fields ...string) change.Kind {
		return kind("contact.updated", sequence, fields...)
	}
	const seat = "custom_fields.seat"
	for name, c := range map[string]struct {
		kinds []change.Kind
		want  []string
	}{
		"standard and custom fields": {[]change.Kind{updated(3, "title", "about"), updated(4, seat)}, []string{"title", "about", seat}},
		"standard fields":            {[]change.Kind{updated(3, "title")}, []string{"title"}},
		"too many fields": {
			[]change.Kind{updated(3, "title", change.Others), updated(4, seat, change.Others)}, []string{"title", seat, change.Others},
		},
		"no field":            {[]change.Kind{updated(3)}, nil},
		"a create":            {[]change.Kind{kind("contact.created", 1, "email")}, nil},
		"a create that edits": {[]change.Kind{kind("contact.event.associated", 3, "title"), updated(4, "title")}, []string{"title"}},
		"another record":      {[]change.Kind{kind("sponsor.updated", 1, "name")}, nil},
		"nothing published":   {nil, nil},
	} {
		for _, source := range []string{change.SourceAPI, change.SourceAdmin, change.SourceService} {
			r := change.Record{ID: "c", Org: 7, Event: 9, Type: "contact", RecordID: "a", Version: 5, Kinds: c.kinds, Source: source}
			all := bus.Messages(r)
			for i, k := range c.kinds {
				require.Equal(t, []any{k.Name, k.Sequence, source}, []any{all[i].Kind, all[i].Sequence, all[i].Source}, name)
			}
			if all = all[len(c.kinds):]; c.want == nil {
				require.Empty(t, all, name)
				continue
			}
			want := bus.Message{
				Change: "c", Org: 7, Event: 9, Kind: bus.FieldsChanged, Fields: c.want, Type: "contact", RecordID: "a", Version: 5, Source: source,
			}
			require.Equal(t, []bus.Message{want}, all, name)
			text, err := json.Marshal(all[0])
			require.NoError(t, err)
			require.NotContains(t, string(text), "sequence", name)
		}
	}
}

// TestAChangeOfManySessionsIsOneMessage of the event, which is no published kind.
func TestAChangeOfManySessionsIsOneMessage(t *testing.T) {
	for kind, want := range map[string]int{
		"event": 1, "rooms": 1, "participant_role": 1, "holding_slides": 1, "tracks": 0, "session": 0, "organization": 0,
	} {
		r := change.Record{ID: "c", Org: 7, Event: 9, Type: kind, RecordID: "a", Version: 5, Source: change.SourceAdmin, Action: kind + ".updated"}
		all := bus.Messages(r)
		require.Len(t, all, want, kind)
		if want > 0 {
			require.Equal(t, bus.Message{
				Change: "c", Org: 7, Event: 9, Kind: bus.EventChanged, Type: kind, RecordID: "a", Version: 5, Source: change.SourceAdmin,
			}, all[0])
		}
		made, ofOrg := r, r
		made.Action, ofOrg.Event = kind+".created", 0
		require.Empty(t, bus.Messages(made), "a new %s touches no session", kind)
		require.Empty(t, bus.Messages(ofOrg), "%s of an organization", kind)
	}
}
