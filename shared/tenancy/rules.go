package tenancy

import (
	"context"
	"net/mail"
	"slices"
	"strings"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

const (
	// maxName is how many characters a name may have.
	maxName = 255
	// maxEvents is how many events a member or a token may be limited to. Every request reads
	// both, so both must stay small.
	maxEvents = 1000
	// maxLimit is the highest custom limit of a token.
	maxLimit = 1_000_000_000
)

// CheckName refuses a name that is empty, over 255 characters, or begins or ends
// with a blank.
func CheckName(name string) error {
	if name == "" || strings.TrimSpace(name) != name || utf8.RuneCountInString(name) > maxName {
		return apierr.Invalid("name", "name must have 1 to %d characters, none of them a blank at its ends.", maxName)
	}
	return nil
}

// checkEvents refuses a list of events with a repeated id or too many events.
func checkEvents(ids []int64) error {
	sorted := slices.Sorted(slices.Values(ids))
	if len(ids) > maxEvents || len(slices.Compact(sorted)) != len(ids) {
		return apierr.Invalid("event_ids", "event_ids must name at most %d events, each once.", maxEvents)
	}
	return nil
}

func (m *Member) check(Store) error {
	if address, err := mail.ParseAddress(m.Email); err != nil || address.Address != m.Email {
		return apierr.Invalid("email", "email must be an e-mail address.")
	}
	if !slices.Contains(Roles, m.Role) {
		return apierr.OneOf("role", Roles...)
	}
	if m.Role != RoleEventOnly && len(m.EventIDs) > 0 {
		return apierr.Invalid("event_ids", "event_ids are for a member with the role %s.", RoleEventOnly)
	}
	if err := CheckName(m.Name); err != nil {
		return err
	}
	return checkEvents(m.EventIDs)
}

func (t *Token) check(Store) error {
	if t.Limit < 0 || t.Limit > maxLimit {
		return apierr.Invalid("limit", "limit must be 1 to %d.", maxLimit)
	}
	for _, err := range []error{CheckName(t.Name), checkEvents(t.EventIDs), t.checkScopes()} {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkScopes refuses scopes that the kind of token may not have: a legacy token has no
// scopes, a log export token has ReadAuditLogs for the whole organization, and an API token
// has other scopes.
func (t *Token) checkScopes() error {
	audits := slices.Contains(t.Scopes, ReadAuditLogs)
	switch t.Kind {
	case KindAPI, KindOAuth:
		if len(t.Scopes) == 0 || audits {
			return apierr.Invalid("scopes", "scopes of a token of kind %s must name at least one scope, and not %s.", t.Kind, ReadAuditLogs)
		}
	case KindLegacy:
		if len(t.Scopes) != 0 {
			return apierr.Invalid("scopes", "scopes of a token of kind %s must be empty.", t.Kind)
		}
	case KindLogExport:
		if len(t.Scopes) != 1 || !audits {
			return apierr.Invalid("scopes", "scopes of a token of kind %s must be %s alone.", t.Kind, ReadAuditLogs)
		}
		if len(t.EventIDs) != 0 {
			return apierr.Invalid("event_ids", "event_ids are not for a token of kind %s.", t.Kind)
		}
	default:
		return apierr.OneOf("kind", KindAPI, KindLegacy, KindLogExport)
	}
	return nil
}

// CreateToken stores a token with the hash of the secret. The member must be present, and must
// be allowed to manage users for a log export token (spec.md section 5.1); otherwise
// CreateToken returns a 400 for user_id.
func (s Store) CreateToken(ctx context.Context, t *Token) error {
	if err := t.check(s); err != nil {
		return err
	}
	owner, err := Members.Get(ctx, s, MemberPK(t.OrgID, t.UserID))
	if apierr.IsNotFound(err) {
		return apierr.Invalid("user_id", "Organization %d has no member %d.", t.OrgID, t.UserID)
	}
	if err != nil {
		return err
	}
	if !owner.Present() {
		return apierr.Invalid("user_id", "Member %d is not active.", t.UserID)
	}
	if t.Kind == KindLogExport && !owner.MayManageUsers() {
		return apierr.Invalid("user_id", "Member %d may not manage users, so may not make a log export token.", t.UserID)
	}
	return Tokens.Create(ctx, s, t)
}

// UpdateMember changes a member as Members.Update does, and notes when the member becomes inactive or leaves.
func (s Store) UpdateMember(ctx context.Context, org, id int64, edit func(*Member) error) (*Member, error) {
	return Members.Update(ctx, s, MemberPK(org, id), func(m *Member) error {
		was := m.Present()
		err := edit(m)
		if was && !m.Present() {
			now := wire.At(s.Now())
			m.AbsentAt = &now
		}
		return err
	})
}

// MembersWith returns the members of an organization with an e-mail address, those who left too.
func (s Store) MembersWith(ctx context.Context, org int64, address string) (some []*Member, err error) {
	ids, err := Members.IDs(ctx, s, org)
	if err != nil {
		return nil, err
	}
	pks := make([]string, len(ids))
	for i, id := range ids {
		pks[i] = MemberPK(org, id)
	}
	all, err := Members.Existing(ctx, s, pks)
	if err != nil {
		return nil, err
	}
	for _, member := range all {
		if strings.EqualFold(strings.TrimSpace(member.Email), strings.TrimSpace(address)) {
			some = append(some, member)
		}
	}
	return some, nil
}
