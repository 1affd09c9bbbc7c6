// Package repair mends a table with incomplete writes, for example after a restore that
// tore transactions. It builds rows from bodies. It sets the versions of shards and of
// settings to the sums of their rows and settings. It takes unique values, running numbers,
// lists and the numbers of small records from the records. Content that was only in a lost item stays lost, and the
// report names the loss.
//
// Repair may run while the service is in use. A write that is still becoming visible is no
// damage: damage must stay the same for a while (Store.Settle). Each correction is one
// transaction, conditional on the versions that the correction depends on. The transaction
// includes a change record, except for the removal of a stray line of the region's list.
// Corrections that belong to no record have the type Type.
//
// Read repair.go, shard.go, then the families: sessions.go, parties.go, settings.go,
// lists.go, records.go.
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
	Records  = "record"
)

// MaxNames is the number of ids, and the number of holds, that one Input takes.
const MaxNames = 1000

// Input names the place to repair: an event, or an organization with all of its events.
type Input struct {
	OrgID   int64 `json:"org_id"`
	EventID int64 `json:"event_id,omitempty"`
	// Family limits the repair to one family. Shard limits the repair to one shard of rows.
	Family string `json:"family,omitempty" enum:"session,contact,account,settings,list,record"`
	Shard  string `json:"shard,omitempty" pattern:"^[0-9a-f]{2}$"`
	// IDs name damage that a reading of the table does not find: records without a row or
	// without a line in a list, records with a wrong count of roles, contacts with the item
	// of a session that they are not on, and hours without an item (HourID). With the family
	// record, they limit the repair to the records of these records. Holds are the
	// keys of unique values that are held for no record.
	IDs   []string `json:"ids,omitempty" nullable:"false" maxItems:"1000" maxLength:"64"`
	Holds []string `json:"holds,omitempty" nullable:"false" maxItems:"1000" maxLength:"1024"`
	// DropRows removes the rows without a body: the rows of lost records.
	DropRows bool `json:"drop_rows,omitempty"`
	// DryRun writes nothing and reports the damage to be mended.
	DryRun bool `json:"dry_run,omitempty"`
}

// shardsOf maps a family to the number of shards of its rows. Without a family, the number
// of session shards applies.
var shardsOf = map[string]int{
	"": sessionShards, Sessions: sessionShards, Contacts: contact.Kind.Shards, Accounts: account.Kind.Shards,
}

var sessionShards = session.Of(0, 0).Rows().Shards

// check refuses an input that asks for nothing: the lists of an event, or a shard that the
// family does not have.
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

// Report is the result of a repair.
type Report struct {
	// Looked is the number of records that were read, deleted small records too.
	Looked int `json:"looked"`
	// Rest are the ids of small records whose own records were not read: the time ended. A repair of the family record
	// with these ids goes on.
	Rest []string `json:"rest,omitempty"`
	// Mended is the mended damage, or the damage to be mended in a dry run. Unmended is the
	// damage that cannot be mended.
	Mended   []Note `json:"mended"`
	Unmended []Note `json:"unmended"`
	DryRun   bool   `json:"dry_run,omitempty"`
}

// Note names one damage, without any content of the record.
type Note struct {
	Where string `json:"where"`
	ID    string `json:"id,omitempty"`
	What  string `json:"what"`
	// Do tells an operator how to mend the damage.
	Do string `json:"do,omitempty"`
}

// Store repairs one region's table.
type Store struct {
	Table *table.Table
	Now   func() time.Time
	// Region determines the ids that the region's counter gives.
	Region string
	// Settle is the time for which damage must stay the same before a repair mends the
	// damage. A transaction becomes visible within milliseconds.
	Settle time.Duration
}

// maxTries is the number of looks at damage that concurrent writes keep changing.
const maxTries = 8

// run is one repair.
type run struct {
	Store
	in     Input
	report *Report
	mu     sync.Mutex
}

// Run repairs the place that in names. It returns an apierr.Invalid for a wrong input, an
// apierr.NotFound for a missing organization or event, and errors of the table. The report
// names the damage that stays.
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
	if in.EventID == 0 {
		events = slices.Insert(events, 0, 0)
	}
	for _, event := range events { // The records come last, since they may take longer than a command.
		if err := r.part(ctx, Records, (*run).records, event); err != nil {
			return nil, err
		}
	}
	r.sort()
	return r.report, nil
}

// sort puts the report into an order. Of a rest of more than MaxNames it keeps the first.
func (r *run) sort() {
	if slices.Sort(r.report.Rest); len(r.report.Rest) > MaxNames {
		r.report.Rest = r.report.Rest[:MaxNames]
		what := "rest has the first of the records that are left"
		r.unmended(Note{Where: table.Org(r.in.OrgID), What: what, Do: "mend these, then run the repair again"})
	}
	order := func(a, b Note) int { return strings.Compare(a.Where+a.ID+a.What, b.Where+b.ID+b.What) }
	slices.SortFunc(r.report.Mended, order)
	slices.SortFunc(r.report.Unmended, order)
}

// ofOrganization repairs the records of the organization that belong to no event.
func (r *run) ofOrganization(ctx context.Context) error {
	if err := r.part(ctx, Lists, (*run).ownLine, 0); err != nil {
		return err
	}
	exists, err := r.exists(ctx, table.Org(r.in.OrgID))
	switch {
	case err != nil:
		return err
	case !exists && len(r.report.Mended) > 0:
		return nil // Only the line of the organization existed.
	case !exists:
		return apierr.NotFound("Organization")
	}
	return errors.Join(
		r.part(ctx, Lists, (*run).lists, 0),
		r.part(ctx, Settings, (*run).settings, 0),
		r.part(ctx, Contacts, (*run).contacts, 0),
		r.part(ctx, Accounts, (*run).accounts, 0),
	)
}

// ofEvent repairs the records of an event.
func (r *run) ofEvent(ctx context.Context, event int64) error {
	exists, err := r.exists(ctx, table.Event(r.in.OrgID, event))
	switch {
	case err != nil:
		return err
	case !exists && r.in.EventID == 0:
		return nil // The repair of lists has noted the line.
	case !exists:
		return apierr.NotFound("Event")
	}
	return errors.Join(
		r.part(ctx, Settings, (*run).settings, event),
		r.part(ctx, Contacts, (*run).contacts, event),
		r.part(ctx, Accounts, (*run).accounts, event),
		r.part(ctx, Sessions, (*run).sessions, event),
	)
}

// exists reports whether an organization or event exists.
func (r *run) exists(ctx context.Context, pk string) (bool, error) {
	_, err := r.Table.Get(ctx, table.Key{PK: pk, SK: "-"})
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// part repairs a family if the input asks for the family.
func (r *run) part(ctx context.Context, family string, do func(*run, context.Context, int64) error, event int64) error {
	if r.in.Family != "" && r.in.Family != family {
		return nil
	}
	if err := do(r, ctx, event); err != nil {
		return fmt.Errorf("repair: %s: %w", family, err)
	}
	return nil
}

// correct commits the writes of a correction with a change record, and notes the
// correction. A dry run only notes. The writes carry the conditions on the versions that
// were read: correct returns table.ErrStale if a version has changed.
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

// commit does the writes of a correction, including a change record.
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

// damage is a part of the table that may be damaged.
type damage interface {
	// look reads the part and returns a sign. Different contents give different signs. An
	// empty sign means that there is no damage.
	look(ctx context.Context) (sign string, err error)
	// mend corrects the damage that look found. It returns table.ErrStale if the part has
	// changed since then.
	mend(ctx context.Context) error
}

// settle mends damage that is the same in two looks with a pause between the looks. A correction that has begun is done and
// reported, although the time ends.
func (r *run) settle(ctx context.Context, where string, d damage) error {
	before := ""
	for range maxTries {
		sign, err := d.look(ctx)
		if err != nil || sign == "" {
			return err
		}
		if sign == before {
			if err = d.mend(context.WithoutCancel(ctx)); !errors.Is(err, table.ErrStale) {
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
