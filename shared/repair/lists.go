package repair

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
	"lectern/shared/wire"
)

// idRange is the number of ids that a region may give.
const idRange = 1_000_000_000

// lists repairs the lists of events, members and tokens, so that each list has a line for
// each record and no other line. The input names the records without a line. lists also
// puts the hours that the input names, and raises the counter of the region's ids to the
// highest id of the organization.
func (r *run) lists(ctx context.Context, _ int64) error {
	if err := r.hours(ctx); err != nil {
		return err
	}
	highest := r.in.OrgID % idRange
	for _, l := range []list{
		{programme.Events.Name, table.Event}, {tenancy.Members.Name, tenancy.MemberPK}, {tenancy.Tokens.Name, tenancy.TokenPK},
		{tenancy.Providers.Name, tenancy.ProviderPK},
	} {
		largest, err := r.list(ctx, l)
		if err != nil {
			return err
		}
		highest = max(highest, largest%idRange)
	}
	return r.count(ctx, 0, table.Key{PK: "N#id", SK: "-"}, highest)
}

// list is one list of an organization.
type list struct {
	kind string
	pk   func(org, id int64) string
}

// line is the damage of the lines of one id in a list.
type line struct {
	*run
	of     list
	id     int64
	what   string
	writes []table.Write
}

// listed is the content of a list, with the records that the list names or should name.
type listed struct {
	lines   map[int64][]table.Item
	records map[int64]table.Item
}

func (r *run) partition(l list) string { return table.Org(r.in.OrgID) + "#L#" + l.kind }

// read reads a list, the records of its lines, and the records of more ids.
func (r *run) read(ctx context.Context, l list, more ...string) (*listed, error) {
	all := &listed{map[int64][]table.Item{}, map[int64]table.Item{}}
	for _, text := range more {
		if id, err := strconv.ParseInt(text, 10, 64); err == nil {
			all.lines[id] = nil
		}
	}
	for line, err := range r.Table.Between(ctx, r.partition(l), "0", lastKey) {
		if err != nil {
			return nil, err
		}
		_, text, _ := strings.Cut(line.SK, "#")
		id, _ := strconv.ParseInt(text, 10, 64)
		all.lines[id] = append(all.lines[id], line)
	}
	keys := map[table.Key]int64{}
	for id := range all.lines {
		keys[table.Key{PK: l.pk(r.in.OrgID, id), SK: "-"}] = id
	}
	got, err := r.Table.GetMany(ctx, slices.Collect(maps.Keys(keys)))
	for key, record := range got {
		all.records[keys[key]] = record
	}
	return all, err
}

// list repairs one list and returns the highest id of a record.
func (r *run) list(ctx context.Context, l list) (highest int64, err error) {
	all, err := r.read(ctx, l, r.in.IDs...)
	if err != nil {
		return 0, err
	}
	r.report.Looked += len(all.records)
	for _, id := range sorted(all.lines) {
		if _, found := all.records[id]; found {
			highest = max(highest, id)
		}
		damaged := &line{run: r, of: l, id: id}
		if damaged.judge(all); damaged.what == "" {
			continue
		}
		if err := r.settle(ctx, r.partition(l), damaged); err != nil {
			return 0, err
		}
	}
	return highest, nil
}

func (n *line) look(ctx context.Context) (sign string, err error) {
	all, err := n.read(ctx, n.of, strconv.FormatInt(n.id, 10))
	if err != nil {
		return "", err
	}
	n.judge(all)
	return n.what, nil
}

func (n *line) mend(ctx context.Context) error {
	return n.correct(ctx, 0, Note{Where: n.partition(n.of), ID: strconv.FormatInt(n.id, 10), What: n.what}, n.writes...)
}

// judge finds the damage of the lines of the id, and the writes that mend the lines.
func (n *line) judge(all *listed) {
	n.what, n.writes = "", nil
	record, exists := all.records[n.id]
	owner, number, want := table.Key{PK: n.of.pk(n.in.OrgID, n.id), SK: "-"}, strconv.FormatInt(n.id, 10), ""
	if exists {
		var says struct {
			CreatedAt wire.Time `json:"created_at"`
		}
		if decode(record, &says) != nil {
			n.unmended(Note{Where: owner.PK, What: "the " + n.of.kind + " cannot be read", Do: fromBackup})
			return
		}
		want = fmt.Sprintf("%013d#%019d", says.CreatedAt.UnixMilli(), n.id)
	}
	listed := false
	for _, line := range all.lines[n.id] {
		if line.SK == want {
			listed = string(line.Data) == number
			continue
		}
		n.what = "the list named the " + n.of.kind + " wrongly"
		n.writes = append(n.writes, table.Remove(line.Key, line.Version))
	}
	switch {
	case exists && !listed:
		n.what = "the " + n.of.kind + " was not in its list"
		line := table.Item{Key: table.Key{PK: n.partition(n.of), SK: want}, Version: 1, Data: []byte(number)}
		n.writes = append(n.writes, table.Put(line), table.Exists(owner))
	case !exists && n.what != "":
		n.writes = append(n.writes, table.Absent(owner))
	}
}
