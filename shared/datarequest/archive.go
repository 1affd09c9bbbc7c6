package datarequest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/keys"
	"lectern/shared/table"
	"lectern/shared/wire"
)

// Keys are the patterns of the items of archives.
var Keys = []keys.Pattern{{Name: "part of an archive", PK: "o#G#<record>", SK: "P#<claim>#<index>", Expires: true, Personal: keys.Person}}

// partBytes is how much text of an archive an item has.
const partBytes = 256 << 10

// partsAtOnce is the number of parts that a transaction has.
const partsAtOnce = 8

// partition returns the partition of the archives of a request.
func partition(r *Request) string { return table.Org(r.OrgID) + "#G#" + r.ID }

// parts returns the beginning of the sort keys of the archive of a claim.
func parts(claim int64) string { return fmt.Sprintf("P#%d#", claim) }

// partKey returns the sort key of the index-th part of the archive of a claim.
func partKey(claim int64, index int) string { return parts(claim) + fmt.Sprintf("%04d", index) }

// StoreArchive keeps the archive of a request, and ends the request. The parts have a claim, so that two
// workers do not mix parts; the last worker removes all other parts. For a request with an end in the
// meantime, StoreArchive keeps nothing.
func (s *Store) StoreArchive(ctx context.Context, r *Request, c *Collected) error {
	text, err := c.encode()
	if err != nil {
		return err
	}
	now := s.records.Now()
	claim, expires := now.UnixNano(), now.Add(keepArchive)
	if err := s.storeParts(ctx, r, text, part{claim, expires.Unix()}); err != nil {
		return err
	}
	archive := &Archive{URL: "/v1/gdpr/requests/" + r.ID + "/archive", ExpiresAt: wire.At(expires)}
	_, err = s.change(ctx, r, ending{Completed, archive, claim, wire.At(now)})
	if errors.Is(err, errEnded) {
		return s.removeParts(ctx, r, func(sk string) bool { return strings.HasPrefix(sk, parts(claim)) })
	}
	if err != nil {
		return err
	}
	return s.removeArchive(ctx, r, claim)
}

// part has the common values of the parts of an archive.
type part struct{ claim, expires int64 }

// storeParts stores the text of an archive.
func (s *Store) storeParts(ctx context.Context, r *Request, text []byte, of part) error {
	var writes []table.Write
	for index := 0; len(text) > 0; index++ {
		n := min(len(text), partBytes)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		key := table.Key{PK: partition(r), SK: partKey(of.claim, index)}
		writes = append(writes, table.Put(table.Item{Key: key, Version: 1, Data: text[:n], Expires: of.expires}))
		text = text[n:]
		if len(writes) < partsAtOnce && len(text) > 0 {
			continue
		}
		if err := s.records.Table.Transact(ctx, writes...); err != nil {
			return err
		}
		writes = nil
	}
	return nil
}

// ReadArchive returns the archive of a request; the 404 without an archive.
func (s *Store) ReadArchive(ctx context.Context, r *Request) (*Collected, error) {
	p, err := r.private()
	if err != nil {
		return nil, err
	}
	if r.Archive == nil {
		return nil, apierr.NotFound("Archive")
	}
	var text []byte
	next := 0
	for stored, err := range s.records.Table.Between(ctx, partition(r), parts(p.Claim), parts(p.Claim)+"~") {
		if err != nil {
			return nil, err
		}
		if stored.SK != partKey(p.Claim, next) {
			return nil, fmt.Errorf("datarequest: the archive of %s lacks part %d", r.ID, next)
		}
		text = append(text, stored.Data...)
		next++
	}
	if next == 0 {
		return nil, apierr.NotFound("Archive")
	}
	c := &Collected{}
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("datarequest: decode the archive of %s: %w", r.ID, err)
	}
	return c, nil
}

// removeArchive removes the archives of a request except for the archive of a claim; 0 for all.
func (s *Store) removeArchive(ctx context.Context, r *Request, but int64) error {
	return s.removeParts(ctx, r, func(sk string) bool { return !strings.HasPrefix(sk, parts(but)) })
}

// removeParts removes the matching parts of the archives of a request.
func (s *Store) removeParts(ctx context.Context, r *Request, match func(sk string) bool) error {
	for stored, err := range s.records.Table.Between(ctx, partition(r), "P#", "P#~") {
		if err != nil {
			return err
		}
		if !match(stored.SK) {
			continue
		}
		if err := s.records.Table.Transact(ctx, table.Delete(stored.Key)); err != nil {
			return err
		}
	}
	return nil
}
