package auth

import "lectern/shared/apierr"

// Reason is why a request was refused at sign-in. It is for the log: to the
// caller all refusals look alike.
type Reason string

// The reasons.
const (
	ReasonMissing      Reason = "missing"
	ReasonMalformed    Reason = "malformed"
	ReasonChecksum     Reason = "checksum"
	ReasonRegion       Reason = "other_region"
	ReasonUnknown      Reason = "unknown"
	ReasonUnknownGrant Reason = "unknown_grant"
	ReasonWrongSecret  Reason = "wrong_secret"
	ReasonRevoked      Reason = "revoked"
	ReasonExpired      Reason = "expired"
	ReasonOwner        Reason = "owner_inactive"
	ReasonOrganization Reason = "organization_disabled"
)

// Refusal is a request refused at sign-in. It wraps the 401 that the caller gets.
type Refusal struct {
	Reason Reason
	// Org and Token are ids; 0 unless the token is a known one.
	Org, Token int64
}

// Refuse is the Refusal of a request without a known token.
func Refuse(reason Reason) error { return &Refusal{Reason: reason} }

// Error says why, for the log.
func (r *Refusal) Error() string { return "sign-in refused: " + string(r.Reason) }

// Unwrap gives the *apierr.Error for the caller.
func (r *Refusal) Unwrap() error { return apierr.Unauthorized() }
