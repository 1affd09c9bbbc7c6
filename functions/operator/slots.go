package operator

import (
	"context"
	"slices"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/metadata"
	"lectern/shared/record"
	"lectern/shared/resource"
	"lectern/shared/sessionfile"
)

// slots returns the slots of the caller's event.
func (s *Service) slots(c *auth.Caller) resource.Collection[sessionfile.StoredSlot, *sessionfile.StoredSlot, sessionfile.SlotDraft] {
	return sessionfile.Slots.Of(resource.NewStore(s.env), resource.Owner{Org: c.Org.ID, Event: c.Event.ID})
}

type slotCreate struct {
	InEvent
	sessionfile.SlotDraft
}

func (s *Service) createSlot(ctx context.Context, c *auth.Caller, in *slotCreate) (*sessionfile.StoredSlot, error) {
	if err := s.checkMetadata(ctx, c, &in.SlotDraft); err != nil {
		return nil, err
	}
	if err := c.Event.AllowsContentSlots(); err != nil {
		return nil, err
	}
	return s.slots(c).Create(ctx, in.SlotDraft)
}

type slotUpdate struct {
	InEvent
	SlotID string `json:"slot_id" format:"uuid"`
	sessionfile.SlotDraft
}

func (s *Service) updateSlot(ctx context.Context, c *auth.Caller, in *slotUpdate) (*sessionfile.StoredSlot, error) {
	if err := s.checkMetadata(ctx, c, &in.SlotDraft); err != nil {
		return nil, err
	}
	change := resource.Change[sessionfile.SlotDraft]{Verb: record.Updated, Draft: &in.SlotDraft}
	return s.slots(c).Change(ctx, in.SlotID, change)
}

func (s *Service) listSlots(ctx context.Context, c *auth.Caller, _ *InEvent) (results[*sessionfile.StoredSlot], error) {
	all, err := s.slots(c).List(ctx)
	slices.SortFunc(all, sessionfile.BySpeakerOrder)
	return results[*sessionfile.StoredSlot]{all}, err
}

// checkMetadata returns the 400 that names the first format or track that the event does not have.
func (s *Service) checkMetadata(ctx context.Context, c *auth.Caller, d *sessionfile.SlotDraft) error {
	set, err := s.settings.Of(ctx, c)
	if err != nil {
		return err
	}
	for _, list := range []struct {
		name, thing string
		kind        metadata.Kind
		ids         []string
	}{
		{"format_ids", "format", metadata.Formats, d.FormatIDs.Value}, {"track_ids", "track", metadata.Tracks, d.TrackIDs.Value},
	} {
		for i, id := range list.ids {
			if _, ok := set.Metadata[list.kind].Get(id); !ok {
				return apierr.Invalid(element(list.name, i), "There is no such %s on this event.", list.thing)
			}
		}
	}
	return nil
}
