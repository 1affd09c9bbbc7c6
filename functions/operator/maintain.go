package operator

import (
	"context"
	"time"

	"lectern/shared/bus"
	"lectern/shared/datarequest"
	"lectern/shared/maintain"
	"lectern/shared/repair"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Maintain is the command that goes on where its answer's cursor says.
const Maintain = "maintain"

// maintainTime is about how long a call of maintain takes: less than makes an invocation
// slow (infra/observe/alarms.go), the reading of a large event included.
const maintainTime = 20 * time.Second

// maintain purges and fills in (docs/operations.md).
func (s *Service) maintain(ctx context.Context, in *maintain.Input) (*maintain.Report, error) {
	return maintain.Store{Tenancy: s.tenancy, Blobs: s.env.Blobs, Time: maintainTime, Publish: s.publish}.Run(ctx, *in)
}

// publish puts messages on the bus.
func (s *Service) publish(ctx context.Context, messages []bus.Message) error {
	to, err := s.env.Places.Bus()
	if err == nil {
		_, err = to.Publish(ctx, messages)
	}
	return err
}

type erasureList struct {
	OrgID int64 `json:"org_id" minimum:"1"`
	// Since is the time to which a table was restored.
	Since wire.Time `json:"since"`
}

type erasureRepeat struct {
	OrgID int64 `json:"org_id" minimum:"1"`
	// Erasures are the results of erasure-list.
	Erasures []datarequest.Erased `json:"erasures" minItems:"1" maxItems:"5000"`
}

type requestDelete struct {
	OrgID int64 `json:"org_id" minimum:"1"`
	// Since is the time of the first request of the flood.
	Since wire.Time `json:"since"`
}

// requestsDeleted is the result of data-request-delete. Left is the number of matching requests that are
// still there.
type requestsDeleted struct {
	Deleted int `json:"deleted"`
	Left    int `json:"left"`
}

// deleteRequests deletes the ended requests of a flood for about busTime.
func (s *Service) deleteRequests(ctx context.Context, in *requestDelete) (*requestsDeleted, error) {
	if err := s.organizationExists(ctx, in.OrgID); err != nil {
		return nil, err
	}
	upkeep := datarequest.Upkeep{Table: s.env.Table, Now: s.env.Now}
	all, err := upkeep.Flood(ctx, in.OrgID, in.Since.Time)
	if err != nil {
		return nil, err
	}
	answer, until := &requestsDeleted{Left: len(all)}, s.env.Now().Add(busTime)
	for _, r := range all {
		if s.env.Now().After(until) {
			break
		}
		if err := upkeep.Delete(ctx, r); err != nil {
			return nil, err
		}
		answer.Deleted, answer.Left = answer.Deleted+1, answer.Left-1
	}
	return answer, nil
}

// erasures is the result of erasure-list and erasure-repeat.
type erasures[T any] struct {
	Results []T `json:"results"`
}

// listErasures lists the erasures of an organization since a time.
func (s *Service) listErasures(ctx context.Context, in *erasureList) (*erasures[datarequest.Erased], error) {
	if err := s.organizationExists(ctx, in.OrgID); err != nil {
		return nil, err
	}
	all, err := datarequest.NewStore(s.env).Erasures(ctx, in.OrgID, in.Since.Time)
	return &erasures[datarequest.Erased]{all}, err
}

// repeatErasures erases again, after a restore, who was erased before.
func (s *Service) repeatErasures(ctx context.Context, in *erasureRepeat) (*erasures[*datarequest.Request], error) {
	if err := s.organizationExists(ctx, in.OrgID); err != nil {
		return nil, err
	}
	opened, err := datarequest.NewStore(s.env).Repeat(ctx, in.OrgID, in.Erasures)
	return &erasures[*datarequest.Request]{opened}, err
}

// organizationExists returns the 404 of an unknown organization.
func (s *Service) organizationExists(ctx context.Context, id int64) error {
	_, err := tenancy.Organizations.Get(ctx, s.tenancy, table.Org(id))
	return err
}

// settle is how long damage must stay unchanged before the repair, since a transaction becomes
// visible within milliseconds.
const settle = 2 * time.Second

// repairShards mends the damage of a torn restore (docs/operations.md).
func (s *Service) repairShards(ctx context.Context, in *repair.Input) (*repair.Report, error) {
	return repair.Store{Table: s.env.Table, Now: s.env.Now, Region: s.env.Region, Settle: settle}.Run(ctx, *in)
}
