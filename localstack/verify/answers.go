package verify

import (
	"fmt"
	"strings"

	"lectern/shared/idempotency"
)

// kept is what an idempotency key keeps: the record that was written, or of a bulk its
// claim and results. Answer stands in keys of releases before decision 14.
type kept struct {
	Claim   int64  `json:"claim"`
	Version int64  `json:"version"`
	Ref     string `json:"ref"`
	Answer  struct {
		ID      string `json:"id"`
		Results []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"results"`
	} `json:"answer"`
	Results []idempotency.Result `json:"results"`
}

// addAnswer notes the records that a repetition under the key would be shown: the record
// of a single write, or those of one part of a bulk.
func (o *Organization) addAnswer(_ place, item Item) {
	var k kept
	if strings.HasPrefix(item.SK, "P#") {
		if !o.read(item, "part of an idempotency key", &k.Results) {
			return
		}
		_, _ = fmt.Sscanf(item.SK, "P#%d#", &k.Claim) // Its form has been checked.
	} else if !o.read(item, "kept idempotency key", &k) {
		return
	}
	o.answered(k.Answer.ID, k.Version)
	o.answered(k.Ref, k.Version)
	for _, result := range k.Answer.Results {
		if result.Status == "success" {
			o.answered(result.ID, 1)
		}
	}
	for _, result := range k.Results {
		if result.ID == "" {
			result.ID = idempotency.RecordID(item.PK, k.Claim, result.Index)
		}
		if result.Error == nil {
			o.answered(result.ID, max(result.Version, 1))
		}
	}
}

// answered notes that a version of a record was acknowledged.
func (o *Organization) answered(id string, version int64) {
	if id != "" {
		o.acknowledged[id] = max(o.acknowledged[id], version)
	}
}

// checkAnswers: the record that an idempotency key tells of is there, in that version or a later one.
// That a record lacks the key it was written under cannot be known.
func (o *Organization) checkAnswers() {
	for _, bodies := range o.Sessions {
		for id, body := range bodies {
			o.found(id, body.Version)
		}
	}
	for _, all := range o.Parties {
		for id, body := range all.Records {
			o.found(id, body.Version)
		}
	}
	for _, all := range o.settings {
		for _, s := range all {
			o.found(s.id, s.version)
		}
	}
	for id, r := range o.small {
		o.found(id, r.version)
	}
	for of := range o.gone {
		_, id, _ := strings.Cut(of, " ")
		delete(o.acknowledged, id)
	}
	for _, id := range sorted(o.acknowledged) {
		o.wrong("an idempotency key tells of %s, which is not there", id)
	}
}

// found holds what was acknowledged of a record to its version, and is then done with it.
func (o *Organization) found(id string, version int64) {
	if told := o.acknowledged[id]; version < told {
		o.wrong("an idempotency key tells of version %d of %s, which has version %d", told, id, version)
	}
	delete(o.acknowledged, id)
}
