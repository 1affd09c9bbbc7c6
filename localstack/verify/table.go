package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lectern/shared/repair"
)

// Client is what reading a table needs.
type Client = dynamodb.ScanAPIClient

// Report is what was found in a table.
type Report struct {
	// Kinds counts the items by kind, without those that have expired.
	Kinds map[string]int64
	// Organizations is how many there are.
	Organizations int64
	// Content is a sum over the content of all items that do not expire: two tables that
	// hold the same have the same, in whatever order they were written.
	Content [sha256.Size]byte
	// Units is what reading cost.
	Units float64
	// Problems are the first ones, and Count is how many there are.
	Problems []string
	Count    int
	// Repairs are the inputs of the operator's command shard-repair that may mend some
	// of them.
	Repairs []*repair.Input

	largestID, givenID int64
	// largest is the organization that has the largest id.
	largest int64
	// listed are the organizations that the region's list names and that were not seen yet.
	listed map[string]bool
}

// idRange is how many ids a region may give: what is above tells the regions apart.
const idRange = 1_000_000_000

// Table checks a whole table. It reads each item once, strongly consistent, and keeps
// what it must compare on disk, in files that no one else can read, so that memory holds the
// organizations of one of 64 parts at a time: all of a large one's records and rows, and
// some hundred bytes for each of its changes. What cannot be read of an item is a problem
// and ends nothing. While others write, what it reads is of no one moment, and it may find
// problems that are none.
func Table(ctx context.Context, client Client, name string) (*Report, error) {
	kept, err := newSpill()
	if err != nil {
		return nil, err
	}
	defer kept.close()
	r := &Report{Kinds: map[string]int64{}, listed: map[string]bool{}}
	if err := r.scan(ctx, client, name, kept); err != nil {
		return nil, err
	}
	for part := range parts {
		if err := r.check(kept, part); err != nil {
			return nil, err
		}
	}
	r.checkLines()
	if r.largestID > r.givenID {
		r.wrong(1, fmt.Sprintf("the largest id is %d, the last one given is %d", r.largestID, r.givenID))
		r.Repairs = append(r.Repairs, &repair.Input{OrgID: r.largest, Family: repair.Lists})
	}
	return r, ctx.Err()
}

// scan reads the table.
func (r *Report) scan(ctx context.Context, client Client, name string, kept *spill) error {
	now := time.Now()
	pages := dynamodb.NewScanPaginator(client, &dynamodb.ScanInput{
		TableName: &name, ConsistentRead: aws.Bool(true), ReturnConsumedCapacity: "TOTAL",
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx, func(o *dynamodb.Options) { o.Retryer = retry.NewStandard() })
		if err != nil {
			return fmt.Errorf("verify: read %s: %w", name, err)
		}
		if page.ConsumedCapacity != nil {
			r.Units += aws.ToFloat64(page.ConsumedCapacity.CapacityUnits)
		}
		for _, all := range page.Items {
			item, odd := parse(all)
			f := item.form()
			if odd != nil {
				r.wrong(1, fmt.Sprintf("an item of kind %q in %s cannot be read: %s", f.kind, placed(item.PK).told(f.kind), strings.Join(odd, ", ")))
			}
			if f.expires && item.expired(now) {
				continue
			}
			if err := r.see(item, kept); err != nil {
				return err
			}
		}
	}
	return nil
}

// see counts an item, and keeps it for the check of its organization.
func (r *Report) see(item Item, kept *spill) error {
	kind, flaw, org := item.form().kind, item.flaw(), placed(item.PK).org
	r.Kinds[kind]++
	if item.Expires == 0 {
		r.sum(item)
	}
	switch {
	case org != 0:
		return kept.put(org, item)
	case flaw != "":
		r.wrong(1, flaw)
	}
	switch {
	case kind == runningNumber && org == 0:
		r.givenID = item.Count
	case kind == regionLine:
		r.addListed(item)
	}
	return nil
}

// sum adds an item to the content.
func (r *Report) sum(item Item) {
	h := sha256.New()
	for _, text := range []string{item.PK, item.SK, item.Data} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	fmt.Fprintf(h, "%d %d %d %d", item.Version, item.Settings, item.Auth, item.Count)
	for i, b := range h.Sum(nil) {
		r.Content[i] ^= b
	}
}

// check checks the organizations of a part, in the order of their ids.
func (r *Report) check(kept *spill, part int) error {
	all := map[int64]*Organization{}
	err := kept.read(part, func(item Item) {
		id := placed(item.PK).org
		if all[id] == nil {
			all[id] = NewOrganization(id)
		}
		all[id].Add(item)
	})
	if err != nil {
		return err
	}
	organizations := make([]*Organization, 0, len(all))
	for _, o := range all {
		organizations = append(organizations, o)
	}
	slices.SortFunc(organizations, func(a, b *Organization) int { return cmp.Compare(a.id, b.id) })
	for _, o := range organizations {
		o.Check()
		r.checkListed(o)
		r.Organizations++
		if id := o.largestID(); id > r.largestID {
			r.largestID, r.largest = id, o.id
		}
		r.Repairs = append(r.Repairs, o.Repairs...)
		r.wrong(o.Count, o.Problems...)
	}
	return nil
}

// wrong notes problems, of which lines are the first.
func (r *Report) wrong(count int, lines ...string) {
	r.Count += count
	r.Problems = append(r.Problems, lines[:min(len(lines), maxProblems-len(r.Problems))]...)
}

// largestID is the largest id of organization, events, members and tokens, which one
// running number gives, from the range of the region.
func (o *Organization) largestID() (largest int64) {
	for of := range o.families {
		var name string
		var id int64
		if n, err := fmt.Sscan(of, &name, &id); n == 2 && err == nil {
			largest = max(largest, id%idRange)
		}
	}
	return largest
}

// Print writes the report: a line a kind, then up to most problems, one a line.
func (r *Report) Print(w io.Writer, most int) error {
	items := int64(0)
	for _, kind := range sorted(r.Kinds) {
		fmt.Fprintf(w, "%9d  %s\n", r.Kinds[kind], kind)
		items += r.Kinds[kind]
	}
	fmt.Fprintf(w, "%9d  items, of %d organizations, read for %s units\n", items, r.Organizations, strconv.FormatFloat(r.Units, 'f', -1, 64))
	fmt.Fprintf(w, "  content  %x\n", r.Content)
	for _, problem := range r.Problems[:max(0, min(most, len(r.Problems)))] {
		fmt.Fprintf(w, "PROBLEM  %s\n", strings.ReplaceAll(problem, "\n", `\n`)) // A damaged id may have a line end.
	}
	for _, in := range r.Repairs {
		shown := *in
		shown.Holds = nil // They may be addresses.
		text, err := json.Marshal(shown)
		if err != nil {
			return fmt.Errorf("verify: print a repair: %w", err)
		}
		fmt.Fprintf(w, "REPAIR   bin/lectern operator shard-repair --json '%s'\n", text)
	}
	_, err := fmt.Fprintf(w, "%d problems\n", r.Count)
	return err
}
