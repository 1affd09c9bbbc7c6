package verify

import (
	"fmt"
	"strings"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/idempotency"
)

// idempotencyItem has the stored result of an idempotency key: a record, or the claim and results
// of a bulk. Releases before decision 14 stored the answer.
type idempotencyItem struct {
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

// addAnswer adds the versions that a retry with the idempotency key would return: of one record,
// or of the records in a part of a bulk.
func (o *Organization) addAnswer(_ raw.Partition, item raw.Item) {
	var k idempotencyItem
	if strings.HasPrefix(item.SK, "P#") {
		if !o.read(item, "part of an idempotency key", &k.Results) {
			return
		}
		_, _ = fmt.Sscanf(item.SK, "P#%d#", &k.Claim) // Add has checked the form of the key.
	} else if !o.read(item, "kept idempotency key", &k) {
		return
	}
	o.acknowledge(k.Answer.ID, k.Version)
	o.acknowledge(k.Ref, k.Version)
	for _, result := range k.Answer.Results {
		if result.Status == "success" {
			o.acknowledge(result.ID, 1)
		}
	}
	for _, result := range k.Results {
		if result.ID == "" {
			result.ID = idempotency.RecordID(item.PK, k.Claim, result.Index)
		}
		if result.Error == nil {
			o.acknowledge(result.ID, max(result.Version, 1))
		}
	}
}

// acknowledge records that a client received a version of a record.
func (o *Organization) acknowledge(id string, version int64) {
	if id != "" {
		o.acknowledged[id] = max(o.acknowledged[id], version)
	}
}

// checkAnswers checks that each acknowledged record exists in the acknowledged version or a later
// version. It cannot find a lost idempotency key, because the record does not name the key.
func (o *Organization) checkAnswers() {
	for _, bodies := range o.Sessions {
		for id, body := range bodies {
			o.checkAcknowledged(id, body.Version)
		}
	}
	for _, all := range o.Parties {
		for id, body := range all.Records {
			o.checkAcknowledged(id, body.Version)
		}
	}
	for _, all := range o.settings {
		for _, s := range all {
			o.checkAcknowledged(s.id, s.version)
		}
	}
	for id, r := range o.small {
		o.checkAcknowledged(id, r.version)
	}
	for of := range o.purged {
		_, id, _ := strings.Cut(of, " ")
		delete(o.acknowledged, id)
	}
	for _, id := range sortedKeys(o.acknowledged) {
		o.problemf("an idempotency key tells of %s, which is not there", id)
	}
}

// checkAcknowledged compares the version of a record with the acknowledged version.
func (o *Organization) checkAcknowledged(id string, version int64) {
	if acknowledged := o.acknowledged[id]; version < acknowledged {
		o.problemf("an idempotency key tells of version %d of %s, which has version %d", acknowledged, id, version)
	}
	delete(o.acknowledged, id)
}
