// Package scan gives the verdict on bytes that clients have sent: whether a scanner found malware in
// them. Read scan.go, guardduty.go, clamd.go, instream.go.
package scan

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"

	"lectern/shared/blob"
)

// Verdict is what a record keeps of a scan.
type Verdict string

// The verdicts. NotScanned stands for bytes that no scanner has read. Unread stands for bytes that a scanner could
// not read to the end, such as an archive that unpacks to too much; no record keeps it.
const (
	Clean      Verdict = "clean"
	Infected   Verdict = "infected"
	NotScanned Verdict = "not_scanned"
	Unread     Verdict = "unread"
)

// ErrNoVerdict reports a scan that has not ended, and a scanner that gave no verdict. The request that
// needs the verdict can be repeated.
var ErrNoVerdict = errors.New("scan: the scanner gave no verdict")

// Object names stored bytes. Nobody writes them again: a key is written once.
type Object struct {
	Store *blob.Store
	Key   string
	Size  int64
}

// Scanner gives verdicts.
type Scanner interface {
	// Scan returns the verdict on an object. Without a verdict, it returns ErrNoVerdict.
	Scan(ctx context.Context, o Object) (Verdict, error)
}

// None is the Scanner of a service without one.
type None struct{}

// Scan returns NotScanned.
func (None) Scan(context.Context, Object) (Verdict, error) { return NotScanned, nil }

// Parse returns the Scanner of a setting: none for an empty text, GuardDuty for guardduty, clamd for
// clamd://host:port and, at a Unix socket, for clamd:///path.
func Parse(setting string) (Scanner, error) {
	switch setting {
	case "":
		return None{}, nil
	case Amazon:
		return GuardDuty{waiting}, nil
	}
	u, err := url.Parse(setting)
	if err == nil && u.Scheme == "clamd" {
		if u.Host == "" && path.IsAbs(u.Path) && setting == "clamd://"+u.Path {
			return NewClamd("unix", u.Path), nil
		}
		if u.Hostname() != "" && u.Port() != "" && strings.TrimSuffix(setting, "/") == "clamd://"+u.Host {
			return NewClamd("tcp", u.Host), nil
		}
	}
	return nil, fmt.Errorf("must be clamd://HOST:PORT, clamd:///SOCKET or, on AWS, %s: %q", Amazon, setting)
}
