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

	"lectern/localstack/content/verify/deliveries"
	"lectern/localstack/content/verify/raw"
	"lectern/shared/delivery"
	"lectern/shared/repair"
	"lectern/shared/tenancy"
)

// Client scans a table.
type Client = dynamodb.ScanAPIClient

// Report has the result of a check.
type Report struct {
	// Kinds are the numbers of items by kind, without expired items.
	Kinds map[string]int64
	// Organizations is the number of organizations with items.
	Organizations int64
	// Content is a hash of all items without a time to live. The order of the items does not
	// change the hash, so that copies of a table have the same hash.
	Content [sha256.Size]byte
	// Units is the number of read units of the scan.
	Units float64
	// Problems are the first 1,000, and Count is the number of all.
	Problems []string
	Count    int
	// Repairs are inputs of the operator's command shard-repair that may mend problems.
	Repairs []*repair.Input

	// largestID is the largest id of an organization, event, member or token, largestOrg the
	// organization of the record with the largest id, and lastGivenID the running number of ids.
	largestID, largestOrg, lastGivenID int64
	// listed has the ids in the region's list of organizations. checkListed deletes the ids of
	// organizations with items.
	listed  map[string]bool
	sweeper deliveries.Sweeper
}

// idRange is the number of ids of a region. The digits above tell the regions apart.
const idRange = 1_000_000_000

// Table checks a whole table. It reads each item once, strongly consistent, and adds a problem for
// each item that cannot be read. A raw.Spill keeps the items of organizations on disk, so that
// memory holds only the organizations of one file: all records and rows, and some hundred bytes
// for each change record and delivery. Writes during the scan may cause false problems, because the scan does
// not read a snapshot.
func Table(ctx context.Context, client Client, name string) (*Report, error) {
	spill, err := raw.NewSpill()
	if err != nil {
		return nil, err
	}
	defer spill.Close()
	r := &Report{Kinds: map[string]int64{}, listed: map[string]bool{}}
	if err := r.scan(ctx, client, name, spill); err != nil {
		return nil, err
	}
	if err := r.check(spill); err != nil {
		return nil, err
	}
	return r, ctx.Err()
}

// check checks the organizations of a spill, and then the items of the region.
func (r *Report) check(spill *raw.Spill) error {
	for file := range raw.Files {
		if err := r.checkFile(spill, file); err != nil {
			return err
		}
	}
	r.checkLines()
	r.addProblem(r.sweeper.Check())
	if r.largestID > r.lastGivenID {
		r.addProblems(1, fmt.Sprintf("the largest id is %d, the last one given is %d", r.largestID, r.lastGivenID))
		r.Repairs = append(r.Repairs, &repair.Input{OrgID: r.largestOrg, Family: repair.Lists})
	}
	return nil
}

// scan reads all items.
func (r *Report) scan(ctx context.Context, client Client, name string, spill *raw.Spill) error {
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
		for _, attributes := range page.Items {
			item, flaws := raw.Parse(attributes)
			pattern := item.Pattern()
			if flaws != nil {
				shown := raw.ParsePartition(item.PK).Redacted(pattern.Name)
				r.addProblems(1, fmt.Sprintf("an item of kind %q in %s cannot be read: %s", pattern.Name, shown, strings.Join(flaws, ", ")))
			}
			if pattern.Expires && item.Expired(now) {
				continue
			}
			if err := r.add(item, spill); err != nil {
				return err
			}
		}
	}
	return nil
}

// add counts an item. It puts an item of an organization into the spill for checkFile, and checks
// an item of the region.
func (r *Report) add(item raw.Item, spill *raw.Spill) error {
	kind, flaw, org := item.Pattern().Name, item.Flaw(), item.Organization()
	r.Kinds[kind]++
	if item.Expires == 0 {
		r.addContent(item)
	}
	if kind == delivery.Due.Name {
		r.addProblem(r.sweeper.AddDue(item))
	}
	if org != 0 {
		return spill.Put(org, item)
	}
	r.addProblem(flaw)
	switch kind {
	case delivery.Swept.Name:
		r.addProblem(r.sweeper.AddProgress(item))
	case tenancy.RunningNumber.Name:
		r.lastGivenID = item.Count
	case tenancy.Line.Name:
		r.addListed(item)
	}
	return nil
}

// addContent adds an item to the hash of the content.
func (r *Report) addContent(item raw.Item) {
	h := sha256.New()
	for _, text := range []string{item.PK, item.SK, item.Data} {
		fmt.Fprintf(h, "%d:%s", len(text), text)
	}
	fmt.Fprintf(h, "%d %d %d %d", item.Version, item.Settings, item.Auth, item.Count)
	for i, b := range h.Sum(nil) {
		r.Content[i] ^= b
	}
}

// checkFile checks the organizations of a file of the spill, in order of id.
func (r *Report) checkFile(spill *raw.Spill, file int) error {
	all := map[int64]*Organization{}
	err := spill.Read(file, func(item raw.Item) {
		id := item.Organization()
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
			r.largestID, r.largestOrg = id, o.id
		}
		r.Repairs = append(r.Repairs, o.Repairs...)
		r.addProblems(o.Count, o.Problems...)
	}
	return nil
}

// addProblems adds problems. lines are the first of count problems.
func (r *Report) addProblems(count int, lines ...string) {
	r.Count += count
	r.Problems = append(r.Problems, lines[:min(len(lines), maxProblems-len(r.Problems))]...)
}

// addProblem adds a problem, if the text is not empty.
func (r *Report) addProblem(problem string) {
	if problem != "" {
		r.addProblems(1, problem)
	}
}

// largestID returns the largest id of the organization, events, members and tokens, less the start
// of the region's range. A single running number gives the ids of all.
func (o *Organization) largestID() (largest int64) {
	for record := range o.tenancy {
		var name string
		var id int64
		if n, err := fmt.Sscan(record, &name, &id); n == 2 && err == nil {
			largest = max(largest, id%idRange)
		}
	}
	return largest
}

// addListed adds a line of the region's list of organizations.
func (r *Report) addListed(line raw.Item) {
	id := strings.TrimLeft(line.SK, "0")
	if id != line.Data {
		r.addProblems(1, "the line of organization "+id+" in the region's list names another")
		r.addLineRepair(id)
	}
	r.listed[id] = true
}

// checkListed compares an organization with the region's list of organizations. An organization
// without the flag person_items may lack a line: early releases wrote no list, and maintain adds
// the line.
func (r *Report) checkListed(o *Organization) {
	id := strconv.FormatInt(o.id, 10)
	_, exists := o.tenancy["organization "+id]
	if exists && !r.listed[id] && o.personItemsComplete {
		r.addProblems(1, o.key+": the region's list of organizations does not name it")
		r.addLineRepair(id)
	}
	if exists {
		delete(r.listed, id)
	}
}

// checkLines reports the lines of missing organizations.
func (r *Report) checkLines() {
	for _, id := range sortedKeys(r.listed) {
		r.addProblems(1, "the region's list names the organization "+id+", which is not there")
		r.addLineRepair(id)
	}
}

// addLineRepair suggests a repair of an organization's line.
func (r *Report) addLineRepair(id string) {
	if org, err := strconv.ParseInt(id, 10, 64); err == nil {
		r.Repairs = append(r.Repairs, &repair.Input{OrgID: org, Family: repair.Lists})
	}
}

// Print writes a line for each kind, problem and repair. most limits the number of problems.
func (r *Report) Print(w io.Writer, most int) error {
	items := int64(0)
	for _, kind := range sortedKeys(r.Kinds) {
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
		shown.Holds = nil // Holds may contain persons' addresses.
		text, err := json.Marshal(shown)
		if err != nil {
			return fmt.Errorf("verify: print a repair: %w", err)
		}
		fmt.Fprintf(w, "REPAIR   bin/lectern operator shard-repair --json '%s'\n", text)
	}
	_, err := fmt.Fprintf(w, "%d problems\n", r.Count)
	return err
}
