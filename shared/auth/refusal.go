package auth

import "lectern/shared/apierr"

// Reason is the reason for a 401. Only the log shows the reason.
type Reason string

// The reasons for a 401.
const (
	ReasonMissing      Reason = "missing"
	ReasonTwo          Reason = "two_credentials"
	ReasonMalformed    Reason = "malformed"
	ReasonChecksum     Reason = "checksum"
	ReasonRegion       Reason = "other_region"
	ReasonUnknown      Reason = "unknown"
	ReasonWrongSecret  Reason = "wrong_secret"
	ReasonRevoked      Reason = "revoked"
	ReasonExpired      Reason = "expired"
	ReasonOwner        Reason = "owner_inactive"
	ReasonOrganization Reason = "organization_disabled"
	ReasonKind         Reason = "no_application"
)

// Refusal is the error of a request without a valid token. It wraps the 401 for the caller.
type Refusal struct {
	Reason Reason
	// Org and Token are ids; 0 unless the token exists.
	Org, Token int64
	// SignIn is the address where an application asks a member to sign in, for a route that only applications open; otherwise empty.
	SignIn string
}

// WithoutToken returns the 401 of the gateway for a request without a token, to a route that only applications open.
func WithoutToken() *apierr.Error {
	e := apierr.Unauthorized()
	e.Message = "Only an application in which a member has signed in opens this. WWW-Authenticate names where it asks for a sign-in."
	return e
}

// Refuse returns the Refusal of a request without an existing token.
func Refuse(reason Reason) error { return &Refusal{Reason: reason} }

// Error returns the reason, for the log.
func (r *Refusal) Error() string { return "sign-in refused: " + string(r.Reason) }

// Unwrap returns the *apierr.Error for the caller. It tells nothing about a token.
func (r *Refusal) Unwrap() error {
	refused := apierr.Unauthorized()
	switch {
	case r.Reason == ReasonTwo:
		refused.Message = "Send one of the headers x-access-token and Authorization, not both with different tokens."
	case r.SignIn != "":
		refused.Message = "Only an application in which a member has signed in opens this; an API token does not. The application asks for a " +
			"sign-in at " + r.SignIn + "."
	}
	return refused
}
