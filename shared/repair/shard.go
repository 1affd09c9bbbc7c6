package repair

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lectern/shared/catalogue"
	"lectern/shared/party"
	"lectern/shared/session"
	"lectern/shared/table"
)

const (
	// fromBackup is the advice for a lost item.
	fromBackup = "restore its item from a backup"
	// lastKey is greater than every id.
	lastKey = "~"
	// shardsAtOnce is the number of shards that are repaired in parallel.
	shardsAtOnce = 8
	// maxRows is the number of rows that one transaction mends: each row takes two of the
	// hundred writes.
	maxRows = 45
)

// rows repairs the shards of a family and returns the bodies, by id.
func (r *run) rows(ctx context.Context, f family) (map[string]table.Item, error) {
	shards := make([]*shard, f.source().Shards)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(shardsAtOnce)
	for i := range shards {
		shards[i] = &shard{run: r, family: f, number: i, key: catalogue.VersionKey(f.source(), i)}
		if r.in.Shard == "" || fmt.Sprintf("%02x", i) == r.in.Shard {
			g.Go(table.Safely(func() error { return r.settle(ctx, shards[i].where(), shards[i]) }))
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	all := map[string]table.Item{}
	for _, s := range shards {
		maps.Copy(all, s.bodies)
	}
	r.report.Looked += len(all)
	return all, nil
}

// shard is the damage of one shard.
type shard struct {
	*run
	family
	number int
	key    table.Key
	// version is the stored version, and sum the version after the repair: the sum of the
	// rows. counted is the stored number of rows, and count the number of rows after the
	// repair.
	version, sum   int64
	counted, count int64
	rows, bodies   map[string]table.Item
	fixes          []fix
	// lost are the ids of the rows without a body that stay.
	lost []string
}

// fix is the correction of one row.
type fix struct {
	id, what string
	writes   []table.Write
	// adds is the change of the sum of the rows by the correction. rows is the change of
	// the number of rows.
	adds, rows int64
}

func (s *shard) where() string { return s.key.PK + " " + s.key.SK }

// look reads the version before the rows. A later write changes the version, so the
// correction then fails.
func (s *shard) look(ctx context.Context) (sign string, err error) {
	stored, err := s.Table.Get(ctx, s.key)
	if err != nil && !errors.Is(err, table.ErrNotFound) {
		return "", err
	}
	s.version, s.counted, s.sum, s.fixes, s.lost = stored.Version, stored.Count, 0, nil, nil
	s.rows, s.bodies = map[string]table.Item{}, map[string]table.Item{}
	if err := s.read(ctx); err != nil {
		return "", err
	}
	s.count = int64(len(s.rows))
	ids := maps.Clone(s.rows)
	maps.Copy(ids, s.bodies)
	var text strings.Builder
	for _, id := range sorted(ids) {
		s.judge(id)
		fmt.Fprint(&text, " ", id, " ", s.rows[id].Version, " ", s.bodies[id].Version)
	}
	if len(s.fixes)+len(s.lost) == 0 && s.version == s.sum && s.counted == s.count {
		return "", nil
	}
	return fmt.Sprint(s.version, " ", s.sum, " ", s.counted, text.String()), nil
}

// read reads the rows, their bodies, and the bodies of the ids that the input names.
func (s *shard) read(ctx context.Context) error {
	prefix, src := fmt.Sprintf("%02x#", s.number), s.source()
	keys := map[table.Key]string{}
	for row, err := range s.Table.Between(ctx, src.Rows, prefix, prefix+lastKey) {
		if err != nil {
			return err
		}
		id := strings.TrimPrefix(row.SK, prefix)
		s.rows[id], keys[s.body(id)] = row, id
	}
	for _, id := range s.in.IDs {
		if catalogue.Shard(id, src.Shards) == s.number {
			keys[s.body(id)] = id
		}
	}
	got, err := s.Table.GetMany(ctx, slices.Collect(maps.Keys(keys)))
	for key, body := range got {
		s.bodies[keys[key]] = body
	}
	return err
}

// judge compares the row of a record with the record's body.
func (s *shard) judge(id string) {
	row, hasRow := s.rows[id]
	body, hasBody := s.bodies[id]
	s.sum += row.Version * table.Weight(id)
	switch {
	case hasBody:
		s.compare(id, row, hasRow, body)
	case s.in.DropRows:
		s.add(fix{id, "the row has no record and is removed",
			[]table.Write{table.Remove(row.Key, row.Version), table.Absent(s.body(id))}, -row.Version, -1})
	default:
		s.lost = append(s.lost, id)
	}
}

// compare builds the row of a body, and fixes the stored row if the stored row differs.
func (s *shard) compare(id string, row table.Item, hasRow bool, body table.Item) {
	text, err := s.row(body)
	if err != nil {
		s.unmended(Note{Where: s.source().Rows, ID: id, What: "the " + s.name() + " cannot be read", Do: fromBackup})
		return
	}
	is := table.Item{Key: catalogue.RowKey(s.source(), id), Version: body.Version, Data: text}
	what, write, rows := "the row was missing", table.Insert(is), int64(1)
	switch {
	case hasRow && row.Version != body.Version:
		what = fmt.Sprintf("the row was of version %d, the record is of %d", row.Version, body.Version)
		write, rows = table.Replace(is, row.Version), 0
	case hasRow && !same(row.Data, text):
		what, write, rows = "the row did not say what the record says", table.Replace(is, row.Version), 0
	case hasRow:
		return
	}
	s.add(fix{id, what, []table.Write{write, table.Version(body.Key, body.Version)}, body.Version - row.Version, rows})
}

// add adds a correction. x.adds counts versions of the record on entry; add multiplies the
// number by the weight of the id.
func (s *shard) add(x fix) {
	x.adds *= table.Weight(x.id)
	s.sum += x.adds
	s.count += x.rows
	s.fixes = append(s.fixes, x)
}

// mend writes rows and the version of the shard. If one transaction does not hold all rows,
// the last transaction makes the version right.
func (s *shard) mend(ctx context.Context) error {
	for _, id := range s.lost {
		s.unmended(Note{Where: s.source().Rows, ID: id, What: "the row has no " + s.name() + ": the record is lost",
			Do: fromBackup + ", or repair with drop_rows to have searches leave it out"})
	}
	for chunk := range slices.Chunk(s.fixes, maxRows) {
		is := s.version
		var writes []table.Write
		for _, x := range chunk {
			is += x.adds
			writes = append(writes, x.writes...)
		}
		if chunk[len(chunk)-1].id == s.fixes[len(s.fixes)-1].id {
			is = s.sum
		}
		if err := s.correctVersion(ctx, is, fmt.Sprintf("%d rows were wrong", len(chunk)), writes); err != nil {
			return err
		}
		for _, x := range chunk {
			s.mended(Note{Where: s.source().Rows, ID: x.id, What: x.what})
		}
	}
	switch {
	case s.version != s.sum:
		return s.correctVersion(ctx, s.sum, fmt.Sprintf("the version was %d, its rows add up to %d", s.version, s.sum), nil)
	case s.counted != s.count && len(s.fixes) == 0:
		return s.correctVersion(ctx, s.sum, fmt.Sprintf("%d rows were counted, there are %d", s.counted, s.count), nil)
	}
	return nil
}

// correctVersion commits writes together with the next version of the shard and the number
// of rows.
func (s *shard) correctVersion(ctx context.Context, is int64, what string, writes []table.Write) error {
	if is == 0 && s.version != 0 {
		writes = append(writes, table.Remove(s.key, s.version))
	} else {
		writes = append(writes, table.CorrectShard(s.key, s.version, is, s.count))
	}
	s.version = is
	return s.correct(ctx, s.event, Note{Where: s.where(), What: what}, writes...)
}

// same reports whether two texts contain equal JSON.
func same(a, b []byte) bool {
	var left, right any
	return json.Unmarshal(a, &left) == nil && json.Unmarshal(b, &right) == nil && reflect.DeepEqual(left, right)
}

// family is the group of records of one kind that have their rows together: an event's
// sessions, the contacts or accounts of an organization, or their associations with an
// event.
type family struct {
	// kind is nil for sessions. event is 0 for the records of an organization.
	kind       *party.Kind
	org, event int64
}

// name returns the type of record in change records.
func (f family) name() string {
	if f.kind == nil {
		return Sessions
	}
	return f.kind.Name
}

// source returns the place of the rows.
func (f family) source() catalogue.Source {
	if f.kind == nil {
		return session.Of(f.org, f.event).Rows()
	}
	return f.kind.Rows(f.org, f.event)
}

// body returns the key of a record or association.
func (f family) body(id string) table.Key {
	switch {
	case f.kind == nil:
		return session.Of(f.org, f.event).Body(id)
	case f.event == 0:
		return f.kind.Body(f.org, id)
	}
	return f.kind.OnEvent(f.org, f.event, id)
}

// row returns the row that belongs to a body.
func (f family) row(body table.Item) ([]byte, error) {
	if f.kind == nil {
		return session.EncodeRow(body)
	}
	return f.kind.EncodeRow(body, f.event != 0)
}
