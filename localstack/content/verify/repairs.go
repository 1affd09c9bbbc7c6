package verify

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/contact"
	"lectern/shared/repair"
)

// repairFamilies are the names in package repair of the families of rows, by letter.
var repairFamilies = map[string]string{"S": repair.Sessions, "C": repair.Contacts, "A": repair.Accounts}

// addRepair suggests a repair of an owner's family. ids are records that the repair cannot find
// without help.
func (o *Organization) addRepair(owner, family string, ids ...string) {
	in := o.repairOf(owner, family)
	for _, id := range ids {
		if id != "" && !slices.Contains(in.IDs, id) {
			in.IDs = append(in.IDs, id)
		}
	}
}

// repairOf returns the repair of an owner's family. It adds a missing repair.
func (o *Organization) repairOf(owner, family string) *repair.Input {
	event, _ := strconv.ParseInt(strings.TrimPrefix(raw.ParsePartition(owner).Event, "E#"), 10, 64)
	for _, in := range o.Repairs {
		if in.EventID == event && in.Family == family {
			return in
		}
	}
	in := &repair.Input{OrgID: o.id, EventID: event, Family: family}
	o.Repairs = append(o.Repairs, in)
	return in
}

// addHoldRepair suggests a repair of a hold, except for a unique value of a small record.
func (o *Organization) addHoldRepair(key, holder string) {
	at := raw.ParsePartition(key)
	kind, _, _ := strings.Cut(at.Rest, "#")
	if kind == "F" {
		return
	}
	family := repair.Settings
	if kind == "email" {
		family = contact.Kind.Name
	}
	o.addRepair(at.Owner, family)
	if o.expectedHolds[key] == "" && holder != "" {
		in := o.repairOf(at.Owner, family)
		in.Holds = append(in.Holds, key)
	}
}

// sortRepairs sorts repairs, so that every check of the same table gives the same report.
func sortRepairs(all []*repair.Input) {
	slices.SortFunc(all, func(a, b *repair.Input) int {
		return cmp.Or(cmp.Compare(a.OrgID, b.OrgID), cmp.Compare(a.EventID, b.EventID), strings.Compare(a.Family, b.Family))
	})
	for _, in := range all {
		slices.Sort(in.IDs)
		slices.Sort(in.Holds)
	}
}

// splitRepairs splits repairs with more than repair.MaxNames ids or holds.
func splitRepairs(all []*repair.Input) (split []*repair.Input) {
	for _, in := range all {
		ids, holds := slices.Collect(slices.Chunk(in.IDs, repair.MaxNames)), slices.Collect(slices.Chunk(in.Holds, repair.MaxNames))
		for i := range max(1, len(ids), len(holds)) {
			piece := *in
			piece.IDs, piece.Holds = nil, nil
			if i < len(ids) {
				piece.IDs = ids[i]
			}
			if i < len(holds) {
				piece.Holds = holds[i]
			}
			split = append(split, &piece)
		}
	}
	return split
}

// WriteRepairs writes each repair as a line of JSON, the input of the operator's command
// shard-repair. Unique values may be persons' addresses: the writer should be a private file.
func (r *Report) WriteRepairs(w io.Writer) error {
	encoder := json.NewEncoder(w)
	for _, in := range r.Repairs {
		if err := encoder.Encode(in); err != nil {
			return fmt.Errorf("verify: write repairs: %w", err)
		}
	}
	return nil
}
