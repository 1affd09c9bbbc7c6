package write

import (
	"fmt"
	"strconv"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

// Guard is the version of a record that a client says it has seen. Each part that was sent
// must agree (gaps.md section 1).
type Guard struct {
	// UpdatedAt is the body's updated_at.
	UpdatedAt wire.Opt[wire.Time]
	// IfMatch is the header If-Match: "*", or entity tags separated by commas; empty without
	// the header. Only the part of a tag before the dot is compared, with the version: the
	// rest is a hash of a rendering. So a tag that a proxy has made weak still names the
	// version, and is accepted as well.
	IfMatch string
}

// Validate returns the 400 of a guard that no record could match, before the record is read.
func (g Guard) Validate() error {
	if g.UpdatedAt.Null {
		return apierr.Invalid("updated_at", "updated_at must be a time.")
	}
	_, err := parseTags(g.IfMatch)
	return err
}

// Check compares the guard with a record: 409 with the current updated_at, and the current
// version as ETag, if the client has seen another version; 400 for an If-Match that is no
// list of entity tags, or a null updated_at.
func (g Guard) Check(version int64, updatedAt wire.Time) error {
	return g.CheckSince(version, updatedAt, version, updatedAt)
}

// CheckSince does Check for a record with later writes that did not change the parts shown,
// up to the version last at the time lastAt: a client that has seen a version in between has
// missed nothing.
func (g Guard) CheckSince(version int64, updatedAt wire.Time, last int64, lastAt wire.Time) error {
	if err := g.Validate(); err != nil {
		return err
	}
	tags, _ := parseTags(g.IfMatch) // Validate has seen that it can be parsed.
	seen := g.UpdatedAt.Value.UnixMilli()
	changed := g.UpdatedAt.Has() && (seen < updatedAt.UnixMilli() || seen > lastAt.UnixMilli())
	if changed || !matches(tags, version, last) {
		return apierr.Stale(updatedAt, fmt.Sprintf("%q", strconv.FormatInt(version, 10)))
	}
	return nil
}

// matches reports whether a tag has a version from first to last. No tags match any version.
func matches(tags []string, first, last int64) bool {
	for _, tag := range tags {
		seen, _, _ := strings.Cut(tag, ".")
		n, err := strconv.ParseInt(seen, 10, 64)
		if err == nil && seen == strconv.FormatInt(n, 10) && first <= n && n <= last {
			return true
		}
	}
	return len(tags) == 0
}

// parseTags splits an If-Match header into the texts of its entity tags (RFC 9110 section
// 8.8.3); none for "*", which matches every record. A header without any tag is malformed:
// it would guard nothing.
func parseTags(header string) (tags []string, err error) {
	rest := trim(header)
	if rest == "*" || header == "" {
		return nil, nil
	}
	if rest == "" {
		return nil, malformed()
	}
	for rest != "" {
		opened, ok := strings.CutPrefix(strings.TrimPrefix(rest, "W/"), `"`)
		tag, after, closed := strings.Cut(opened, `"`)
		after = strings.TrimLeft(after, " \t")
		if !ok || !closed || strings.ContainsAny(tag, " \t") || after != "" && after[0] != ',' {
			return nil, malformed()
		}
		tags, rest = append(tags, tag), trim(after)
	}
	return tags, nil
}

func malformed() error {
	return apierr.Invalid("If-Match", `If-Match must be "*" or a list of entity tags such as "3.5f2a".`)
}

// trim cuts the empty elements that a list in a header may have.
func trim(list string) string { return strings.Trim(list, ", \t") }
