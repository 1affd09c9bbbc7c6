package ingester

import (
	"crypto/sha256"
	"errors"
	"hash"

	"lectern/shared/requestlog"
)

// Limits of a pack. An item of DynamoDB has 400 KB.
const (
	maxEntries = 200
	maxBytes   = 200 << 10
)

// open is a batch to which entries are added.
type open struct {
	requestlog.Batch
	// lines is the hash of the lines, bytes the size of the entries.
	lines hash.Hash
	bytes int
}

// batches divides the requests of lines into batches of one organization each, in the order of
// the lines. The same lines give the same batches and hashes. r counts the lines left out.
func batches(lines []string, r *result) (all []requestlog.Batch) {
	var started []*open
	var number uint16
	last := map[int64]*open{}
	for _, text := range lines {
		found, err := read(text)
		if err != nil {
			r.leaveOut(err)
			continue
		}
		b := last[found.org]
		if b == nil || len(b.Entries) == maxEntries || b.bytes+found.size > maxBytes {
			b = &open{Batch: requestlog.Batch{Org: found.org}, lines: sha256.New()}
			last[found.org], started = b, append(started, b)
		}
		b.Entries = append(b.Entries, found.entry)
		b.bytes += found.size
		b.lines.Write([]byte(text + "\n"))
	}
	for _, b := range started {
		b.lines.Sum(b.Hash[:0])
		b.Number = number
		all = append(all, b.Batch)
		number++
	}
	return all
}

// leaveOut counts a line by its error.
func (r *result) leaveOut(err error) {
	switch {
	case errors.Is(err, errForeign):
		r.foreign++
	case errors.Is(err, errUnowned):
		r.unowned++
	default:
		r.damaged++
	}
}
