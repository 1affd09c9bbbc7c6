package verify

import (
	"strconv"
	"strings"

	"lectern/shared/repair"
)

// addListed notes a line of the region's list of organizations.
func (r *Report) addListed(line Item) {
	id := strings.TrimLeft(line.SK, "0")
	if id != line.Data {
		r.wrong(1, "the line of organization "+id+" in the region's list names another")
		r.mendableLine(id)
	}
	r.listed[id] = true
}

// checkListed compares an organization with the region's list of organizations. A release
// before there was a list wrote no line and no person_items: maintain adopts those.
func (r *Report) checkListed(o *Organization) {
	id := strconv.FormatInt(o.id, 10)
	_, there := o.families["organization "+id]
	if there && !r.listed[id] && o.personItems {
		r.wrong(1, o.key+": the region's list of organizations does not name it")
		r.mendableLine(id)
	}
	if there {
		delete(r.listed, id)
	}
}

// checkLines reports the lines of organizations that are not there, which are left in the list.
func (r *Report) checkLines() {
	for _, id := range sorted(r.listed) {
		r.wrong(1, "the region's list names the organization "+id+", which is not there")
		r.mendableLine(id)
	}
}

// mendableLine notes that a repair may mend the line of an organization.
func (r *Report) mendableLine(id string) {
	if org, err := strconv.ParseInt(id, 10, 64); err == nil {
		r.Repairs = append(r.Repairs, &repair.Input{OrgID: org, Family: repair.Lists})
	}
}
