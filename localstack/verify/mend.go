package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"lectern/shared/contact"
	"lectern/shared/repair"
)

// familyOf is the family that package repair mends the rows of a letter in.
var familyOf = map[string]string{"S": repair.Sessions, "C": repair.Contacts, "A": repair.Accounts}

// mendable notes that a repair of a family may mend what is wrong below an owner; ids are
// records that a repair finds by nothing else.
func (o *Organization) mendable(owner, family string, ids ...string) {
	at := o.repair(owner, family)
	for _, id := range ids {
		if !slices.Contains(at.IDs, id) {
			at.IDs = append(at.IDs, id)
		}
	}
}

// repair is the input of a repair of an owner's family.
func (o *Organization) repair(owner, family string) *repair.Input {
	event, _ := strconv.ParseInt(strings.TrimPrefix(placed(owner).event, "E#"), 10, 64)
	for _, in := range o.Repairs {
		if in.EventID == event && in.Family == family {
			return in
		}
	}
	in := &repair.Input{OrgID: o.id, EventID: event, Family: family}
	o.Repairs = append(o.Repairs, in)
	return in
}

// mendableValue notes that a repair may have a unique value held by whom it belongs to.
func (o *Organization) mendableValue(key, holder string) {
	at := placed(key)
	kind, _, _ := strings.Cut(at.rest, "#")
	if kind == "F" {
		return // The unique value of a small record.
	}
	family := repair.Settings
	if kind == "email" {
		family = contact.Kind.Name
	}
	o.mendable(at.owner, family)
	if o.owned[key] == "" && holder != "" {
		in := o.repair(at.owner, family)
		in.Holds = append(in.Holds, key)
	}
}

// inOrder sorts repairs, so that a report is the same every time.
func inOrder(all []*repair.Input) {
	slices.SortFunc(all, func(a, b *repair.Input) int {
		return cmp.Or(cmp.Compare(a.OrgID, b.OrgID), cmp.Compare(a.EventID, b.EventID), strings.Compare(a.Family, b.Family))
	})
	for _, in := range all {
		slices.Sort(in.IDs)
		slices.Sort(in.Holds)
	}
}

// cut returns inputs of at most repair.MaxNames ids and holds that name the same records.
func cut(all []*repair.Input) (short []*repair.Input) {
	for _, in := range all {
		ids, holds := slices.Collect(slices.Chunk(in.IDs, repair.MaxNames)), slices.Collect(slices.Chunk(in.Holds, repair.MaxNames))
		for i := range max(1, len(ids), len(holds)) {
			one := *in
			one.IDs, one.Holds = nil, nil
			if i < len(ids) {
				one.IDs = ids[i]
			}
			if i < len(holds) {
				one.Holds = holds[i]
			}
			short = append(short, &one)
		}
	}
	return short
}

// WriteRepairs writes the inputs of the operator's command shard-repair that mend what
// can be mended, a line of JSON each. Unique values may be persons' addresses: the writer
// should be a private file.
func (r *Report) WriteRepairs(w io.Writer) error {
	encoder := json.NewEncoder(w)
	for _, in := range r.Repairs {
		if err := encoder.Encode(in); err != nil {
			return fmt.Errorf("verify: write repairs: %w", err)
		}
	}
	return nil
}
