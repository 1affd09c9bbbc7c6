// Package repair mends a table that holds halves of writes, as after a restore that tore
// transactions: rows are built again from bodies, versions of shards and of settings from
// what they count, unique values, running numbers and lists from the records. What only
// a lost item said stays lost, and is named.
//
// Repair runs beside the service. Damage that is still becoming visible is none: it must
// stay as it is for a while (Store.Settle). Each correction is one transaction, conditional
// on the versions that were read, with a change record of the type Type.
//
// Read repair.go, shard.go, then the families: sessions.go, parties.go, settings.go, lists.go.
package repair

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lectern/shared/account"
	"lectern/shared/apierr"
	"lectern/shared/change"
	"lectern/shared/contact"
	"lectern/shared/programme"
	"lectern/shared/session"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// Type is the type of the change records of corrections that belong to no record.
const Type = "repair"

// The families of items that can be repaired alone.
const (
	Sessions = "session"
	Contacts = "contact"
	Accounts = "account"
	Settings = "settings"
	Lists    = "list"
)

// MaxNames is how many ids, and how many holds, one Input takes.
const MaxNames = 1000

// Input names what to repair: an event, or an organization with all of its events.
type Input struct {
	OrgID   int64 `json:"org_id"`
	EventID int64 `json:"event_id,omitempty"`
	// Family limits the repair to one family, and Shard to one shard of its rows.
	Family string `json:"family,omitempty" enum:"session,contact,account,settings,list"`
	Shard  string `json:"shard,omitempty" pattern:"^[0-9a-f]{2}$"`
	// IDs are records that nothing else leads to: of a lost row, a lost line of a list, a
	// wrong count of roles. Holds are the keys of unique values held for nothing.
	IDs   []string `json:"ids,omitempty" nullable:"false" maxItems:"1000" maxLength:"64"`
	Holds []string `json:"holds,omitempty" nullable:"false" maxItems:"1000" maxLength:"1024"`
	// DropRows removes rows that have no body: of records that are lost.
	DropRows bool `json:"drop_rows,omitempty"`
	// DryRun writes nothing and reports what would be mended.
	DryRun bool `json:"dry_run,omitempty"`
}

// shardsOf are how many shards the rows of a family have; of any family without a name.
var shardsOf = map[string]int{
	"": sessionShards, Sessions: sessionShards, Contacts: contact.Kind.Shards, Accounts: account.Kind.Shards,
}

var sessionShards = session.Rows(0, 0).Shards

// check refuses an input that asks for nothing: the family or shard of another place.
func (in Input) check() error {
	if in.EventID != 0 && in.Family == Lists {
		return apierr.Invalid("family", "family list belongs to an organization. Leave out event_id.")
	}
	if in.Shard == "" {
		return nil
	}
	most, rows := shardsOf[in.Family]
	number, err := strconv.ParseUint(in.Shard, 16, 8)
	if !rows || err != nil || int(number) >= most {
		return apierr.Invalid("shard", "shard must be from 00 to %02x, with family session, contact or account.", max(most-1, 0))
	}
	return nil
}

// Report is what a repair did.
type Report struct {
	// Looked is how many records were looked at.
	Looked int `json:"looked"`
	// Mended is what was mended, or would be; Unmended what cannot be.
	Mended   []Note `json:"mended"`
	Unmended []Note `json:"unmended"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// Note names one damage. It shows nothing of what a record says.
type Note struct {
	Where string `json:"where"`
	ID    string `json:"id,omitempty"`
	What  string `json:"what"`
	// Do is what an operator can do about it.
	Do string `json:"do,omitempty"`
}

// Store repairs one region's table.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	// Region tells which ids the region's counter gives.
	Region string
	// Settle is how long damage must stay the same before it is mended. A transaction
	// becomes visible within milliseconds.
	Settle time.Duration
}

// maxTries is how often damage is looked at that others keep changing.
const maxTries = 8

// run is one repair.
type run struct {
	Store
	in     Input
	report *Report
	mu     sync.Mutex
}

// Run repairs what in names. The error is of the table, or apierr.NotFound for an organization
// that is not there; damage that stays is in the report.
func (s Store) Run(ctx context.Context, in Input) (*Report, error) {
	if err := in.check(); err != nil {
		return nil, err
	}
	s.Table = s.Table.Lenient()
	r := &run{Store: s, in: in, report: &Report{Mended: []Note{}, Unmended: []Note{}, DryRun: in.DryRun}}
	events := []int64{in.EventID}
	if in.EventID == 0 {
		var err error
		if events, err = programme.Events.IDs(ctx, tenancy.Store{Table: s.Table, Now: s.Now, Region: s.Region}, in.OrgID); err != nil {
			return nil, err
		}
		if err := r.ofOrganization(ctx); err != nil {
			return nil, err
		}
	}
	for _, event := range events {
		if err := r.ofEvent(ctx, event); err != nil {
			return nil, err
		}
	}
	if err := r.holds(ctx); err != nil {
		return nil, err
	}
	order := func(a, b Note) int { return strings.Compare(a.Where+a.ID+a.What, b.Where+b.ID+b.What) }
	slices.SortFunc(r.report.Mended, order)
	slices.SortFunc(r.report.Unmended, order)
	return r.report, nil
}

// ofOrganization repairs what belongs to no event.
func (r *run) ofOrganization(ctx context.Context) error {
	if err := r.part(ctx, Lists, (*run).ownLine, 0); err != nil {
		return err
	}
	there, err := r.exists(ctx, table.Org(r.in.OrgID))
	switch {
	case err != nil:
		return err
	case !there && len(r.report.Mended) > 0:
		return nil // Its line was all that there was.
	case !there:
		return apierr.NotFound("Organization")
	}
	return errors.Join(
		r.part(ctx, Lists, (*run).lists, 0),
		r.part(ctx, Settings, (*run).settings, 0),
		r.part(ctx, Contacts, (*run).contacts, 0),
		r.part(ctx, Accounts, (*run).accounts, 0),
	)
}

// ofEvent repairs what belongs to an event.
func (r *run) ofEvent(ctx context.Context, event int64) error {
	there, err := r.exists(ctx, table.Event(r.in.OrgID, event))
	switch {
	case err != nil:
		return err
	case !there && r.in.EventID == 0:
		return nil // The repair of lists has noted its line.
	case !there:
		return apierr.NotFound("Event")
	}
	return errors.Join(
		r.part(ctx, Settings, (*run).settings, event),
		r.part(ctx, Contacts, (*run).contacts, event),
		r.part(ctx, Accounts, (*run).accounts, event),
		r.part(ctx, Sessions, (*run).sessions, event),
	)
}

// exists reports whether an organization or event is there.
func (r *run) exists(ctx context.Context, pk string) (bool, error) {
	_, err := r.Table.Get(ctx, table.Key{PK: pk, SK: "-"})
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// part repairs a family if the input asks for it.
func (r *run) part(ctx context.Context, family string, do func(*run, context.Context, int64) error, event int64) error {
	if r.in.Family != "" && r.in.Family != family {
		return nil
	}
	if err := do(r, ctx, event); err != nil {
		return fmt.Errorf("repair: %s: %w", family, err)
	}
	return nil
}

// correct commits the writes of a correction with its change record, and notes it. The
// writes carry conditions on what was read: table.ErrStale when that has changed.
func (r *run) correct(ctx context.Context, event int64, note Note, writes ...table.Write) error {
	if !r.in.DryRun {
		at := wire.At(r.Now())
		audit := change.New(ctx, change.Record{
			At: at, Org: r.in.OrgID, Event: event, Action: Type + "ed", Type: Type, Version: at.UnixMilli(),
			RecordID: strings.TrimSpace(note.Where + " " + note.ID), Values: []change.Value{{Field: "what", New: note.What}},
		})
		if err := r.commit(ctx, append(writes, audit.Write())...); err != nil {
			return err
		}
	}
	r.mended(note)
	return nil
}

// commit does the writes of a correction, of which one is a change record.
func (r *run) commit(ctx context.Context, writes ...table.Write) error {
	return change.Commit(ctx, r.Table, writes...)
}

func (r *run) mended(notes ...Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Mended = append(r.report.Mended, notes...)
}

func (r *run) unmended(notes ...Note) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, n := range notes {
		if !slices.Contains(r.report.Unmended, n) {
			r.report.Unmended = append(r.report.Unmended, n)
		}
	}
}

// damage is something that may be wrong.
type damage interface {
	// look reads it and returns a sign, which differs where what was read differs. An
	// empty sign says that nothing is wrong.
	look(ctx context.Context) (sign string, err error)
	// mend corrects what look has read; table.ErrStale when that has changed.
	mend(ctx context.Context) error
}

// settle mends damage that is the same in two looks with a pause between them.
func (r *run) settle(ctx context.Context, where string, d damage) error {
	before := ""
	for range maxTries {
		sign, err := d.look(ctx)
		if err != nil || sign == "" {
			return err
		}
		if sign == before {
			if err = d.mend(ctx); !errors.Is(err, table.ErrStale) {
				return err
			}
			sign = ""
		}
		before = sign
		if err := table.Sleep(ctx, r.Settle); err != nil {
			return err
		}
	}
	r.unmended(Note{Where: where, What: "was written again and again meanwhile", Do: "run the repair again"})
	return nil
}

func sorted[K interface{ ~string | ~int64 }, V any](all map[K]V) []K {
	return slices.Sorted(maps.Keys(all))
}
