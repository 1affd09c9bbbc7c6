package metadatawrites

import (
	"context"

	"lectern/shared/metadata"
	"lectern/shared/settings/item"
	"lectern/shared/write"
)

// createStatus adds a custom status.
func (s *service) createStatus(ctx context.Context, in *createInput[metadata.StatusDraft]) (*metadata.Status, error) {
	sc, err := s.scene(ctx, metadata.StatusKind, in.Expand)
	if err != nil {
		return nil, err
	}
	return s.store.CreateStatus(ctx, sc, in.Body.Draft)
}

// updateStatus changes a custom status, but not its category.
func (s *service) updateStatus(ctx context.Context, in *updateInput[metadata.StatusDraft]) (*metadata.Status, error) {
	sc, err := s.scene(ctx, metadata.StatusKind, in.Expand)
	if err != nil {
		return nil, err
	}
	return s.store.UpdateStatus(ctx, sc, in.ID, in.Body.Draft, in.guard())
}

// deleteStatus hides a custom status until it is restored.
func (s *service) deleteStatus(ctx context.Context, in *InEntry) (*item.Removed, error) {
	sc, err := s.scene(ctx, metadata.StatusKind, Expand{})
	if err != nil {
		return nil, err
	}
	return &item.Removed{ID: in.ID}, s.store.DeleteStatus(ctx, sc, in.ID, write.Guard{IfMatch: in.IfMatch})
}

type restoreInput struct {
	InEntry
	Expand
}

// restoreStatus brings a custom status back, also on its sessions.
func (s *service) restoreStatus(ctx context.Context, in *restoreInput) (*metadata.Status, error) {
	sc, err := s.scene(ctx, metadata.StatusKind, in.Expand)
	if err != nil {
		return nil, err
	}
	return s.store.RestoreStatus(ctx, sc, in.ID, write.Guard{IfMatch: in.IfMatch})
}
