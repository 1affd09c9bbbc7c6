package session

import (
	"fmt"
	"slices"
	"strings"

	"lectern/shared/apierr"
	"lectern/shared/auth"
	"lectern/shared/field"
	"lectern/shared/metadata"
	"lectern/shared/wire"
	"lectern/shared/write"
)

// rule refuses a draft for a session b.
type rule func(e *Edit, b *Body) error

// The tables list the rules in the order of refusals, which is part of the API. An operation
// checks draftRules once, before it reads its records, and foundRules in each plan. An update
// goes on with updateFeatureRules, the 404 of the session, recordRules, the size of the session
// and the version that the client has seen. A create goes on with recordRules, the size, then
// parentRules if the draft names a parent, featureRules otherwise, and the cap on the number of
// sessions. A delete compares the version first.
// The rules of one value are beside the value: of participants in participants.go, of custom
// fields in package field, of the size in record.go, of the version in package write, of the
// cap in package caps.
var (
	// draftRules need the draft and the event's settings alone. The session is empty.
	draftRules = []rule{
		textsValid, metadataExists, tagsExist, customStatusAgrees, timesInOrder, valuesValid, participantsValid, accountsOnce,
	}
	// foundRules look for the records that the draft names among the read items.
	foundRules = []func(*Resolved, write.Items) error{membersExist, contactsOnEvent, accountsOnEvent}
	// featureRules are the 403s of a create, updateFeatureRules those of an update.
	featureRules       = append([]rule{abstractAllowed}, updateFeatureRules...)
	updateFeatureRules = []rule{translationsAllowed, customRolesAllowed}
	// recordRules compare the draft with the session that it changes.
	recordRules = []rule{unchanged, timesInOrder, statusRequired}
	// parentRules compare the draft of a subsession with the parent, nil for an unknown one.
	parentRules = slices.Concat([]rule{parentAdopts, parentHasRoom, abstractOfParent}, featureRules, []rule{parentNotDeleted})
	// restoreRules are for the parent of a subsession that is restored, without an Edit.
	restoreRules = []rule{parentNotDeleted, parentHasRoom}
)

// check returns the error of the first broken rule.
func (e *Edit) check(rules []rule, b *Body) error {
	for _, rule := range rules {
		if err := rule(e, b); err != nil {
			return err
		}
	}
	return nil
}

func textsValid(e *Edit, _ *Body) error {
	d := e.draft
	switch {
	case d.Title.Sent && strings.TrimSpace(d.Title.Value) == "":
		return apierr.Invalid("title", "title must not be blank.")
	case len(d.Description.Value) > maxDescription:
		return apierr.Invalid("description", "description must not be longer than %d bytes.", maxDescription)
	case d.ExternalURL.Has() && !field.IsAddress(d.ExternalURL.Value):
		return apierr.Invalid("external_url", "external_url must be an http or https address.")
	}
	return nil
}

func metadataExists(e *Edit, b *Body) error {
	for _, ref := range e.draft.references(b) {
		if _, ok := e.set.Metadata[ref.kind].Get(ref.sent.Value); ref.sent.Has() && !ok {
			return apierr.Invalid(ref.name, "There is no such %s on this event.", ref.thing)
		}
	}
	return nil
}

func tagsExist(e *Edit, _ *Body) error {
	tags := e.draft.TagIDs.Value
	for i, id := range tags {
		name := fmt.Sprintf("tag_ids[%d]", i)
		if _, ok := e.set.Metadata[metadata.Tags].Get(id); !ok {
			return apierr.Invalid(name, "There is no such tag on this event.")
		}
		if slices.Contains(tags[:i], id) {
			return apierr.Invalid(name, "A tag can be given once only.")
		}
	}
	return nil
}

// customStatusAgrees refuses an unknown custom status, and a status that is not the category
// of the custom status (gaps.md section 2.4).
func customStatusAgrees(e *Edit, _ *Body) error {
	custom, status := e.draft.CustomStatusID, e.draft.Status
	if !custom.Has() {
		return nil
	}
	entry, ok := e.set.Statuses.Get(custom.Value)
	if !ok || !entry.IsCustom {
		return apierr.Invalid("custom_status_id", "There is no such custom status on this event.")
	}
	if status.Sent && (status.Null || status.Value != entry.Status) {
		return apierr.Invalid("status", "status must be %q, the category of the custom status, or be left out.", entry.Status)
	}
	return nil
}

// timesInOrder checks the times of b after the write. As a draftRule it compares the sent times
// alone.
func timesInOrder(e *Edit, b *Body) error {
	starts, ends := b.StartsAt, b.EndsAt
	e.draft.StartsAt.IntoPointer(&starts)
	e.draft.EndsAt.IntoPointer(&ends)
	if starts == nil || ends == nil || !ends.Before(starts.Time) {
		return nil
	}
	name := "ends_at"
	if !e.draft.EndsAt.Sent {
		name = "starts_at"
	}
	return apierr.Invalid(name, "ends_at must not be before starts_at.")
}

// valuesValid checks custom fields and translations against an empty session, so that a bad
// value is refused before the session is read.
func valuesValid(e *Edit, b *Body) error {
	_, err := e.values(b, wire.Time{})
	return err
}

// membersExist looks for the members of the organization in custom fields.
func membersExist(r *Resolved, got write.Items) error { return field.CheckMembers(got, r.edit.members) }

func abstractAllowed(e *Edit, b *Body) error { return checkAbstract(e.caller, b) }

func checkAbstract(c *auth.Caller, b *Body) error {
	if b.IsAbstract && !c.Event.Features.Sessions2 {
		return apierr.FeatureNeeded("Abstracts need the Sessions 2.0 feature, which this event does not have.")
	}
	return nil
}

func translationsAllowed(e *Edit, _ *Body) error {
	if e.draft.Translations.Sent {
		return e.caller.Event.AllowsTranslations()
	}
	return nil
}

func customRolesAllowed(e *Edit, _ *Body) error {
	for _, p := range e.participants {
		if p.custom {
			return e.caller.Event.AllowsCustomRoles()
		}
	}
	return nil
}

// unchanged refuses another value of a property that is for create alone, or read only.
func unchanged(e *Edit, b *Body) error {
	switch d := e.draft; {
	case d.IsAbstract.Sent && d.IsAbstract.Value != b.IsAbstract:
		return apierr.Invalid("is_abstract", "is_abstract cannot change after the session is created.")
	case d.ParentSessionID.Sent && d.ParentSessionID.Value != b.Parent:
		return apierr.Invalid("parent_session_id", "parent_session_id cannot change after the session is created.")
	case d.Source.Sent && d.Source.Value != b.Source:
		return apierr.Invalid("source", "source is read only.")
	}
	return nil
}

func statusRequired(e *Edit, b *Body) error {
	if e.draft.Status.Null && b.Parent == "" {
		return apierr.Invalid("status", "status can be null on a subsession only.")
	}
	return nil
}

func parentAdopts(_ *Edit, parent *Body) error {
	switch {
	case parent == nil:
		return apierr.Invalid("parent_session_id", "There is no such session on this event.")
	case parent.Parent != "":
		return apierr.Invalid("parent_session_id", "A subsession cannot have subsessions.")
	}
	return nil
}

func parentHasRoom(_ *Edit, parent *Body) error {
	if len(parent.Subsessions) >= maxSubsessions {
		return apierr.Invalid("parent_session_id", "A session can have at most %d subsessions.", maxSubsessions)
	}
	return nil
}

func abstractOfParent(e *Edit, parent *Body) error {
	if e.draft.IsAbstract.Sent && e.draft.IsAbstract.Value != parent.IsAbstract {
		return apierr.Invalid("is_abstract", "A subsession has the is_abstract of its parent.")
	}
	return nil
}

func parentNotDeleted(_ *Edit, parent *Body) error {
	if parent.DeletedAt != nil {
		return apierr.Conflict("PARENT_DELETED", "The parent session is deleted. Restore it first.")
	}
	return nil
}

// The rules of stored sessions follow. A delete compares the version that the client has seen
// before it calls CheckDelete.

// CheckDelete refuses to delete a session that others depend on.
func (b *Body) CheckDelete() error {
	switch {
	case len(b.Linked()) > 0:
		return linked()
	case len(b.Subsessions) > 0:
		return apierr.Conflict("HAS_SUBSESSIONS", "The session has subsessions. Delete them first.")
	}
	return nil
}

// CheckWithdraw refuses to withdraw a composition source.
func (b *Body) CheckWithdraw() error {
	if b.Target != nil {
		return linked()
	}
	return nil
}

// CheckCopy refuses to copy an abstract on an event without abstracts, a composition source
// and a subsession.
func (b *Body) CheckCopy(c *auth.Caller) error {
	if err := checkAbstract(c, b); err != nil {
		return err
	}
	switch {
	case b.Target != nil:
		return linked()
	case b.Parent != "":
		return apierr.Invalid("session_id", "A subsession cannot be duplicated.")
	}
	return nil
}

func linked() error {
	return apierr.Conflict("COMPOSITION_LINKED", "The session is linked with another one. Unlink it first.")
}

// checkLink refuses to link source into target (spec.md section 2.5).
func checkLink(target, source *Body, relationship string) error {
	switch {
	case target.Parent != "":
		return apierr.Invalid("target_id", "A subsession cannot be part of a composition.")
	case source.Parent != "":
		return apierr.Invalid("source_id", "A subsession cannot be part of a composition.")
	case source.Target != nil || target.Target != nil || len(source.Sources) > 0:
		return linked()
	case len(target.Sources) >= maxSources:
		return apierr.Invalid("target_id", "A session can have at most %d sources.", maxSources)
	}
	joins := map[string][2]bool{ // is_abstract of target and source
		MergedSession: {false, false}, MergedAbstract: {true, true}, ComposedIntoSession: {false, true},
	}
	if kinds, known := joins[relationship]; !known || kinds != [2]bool{target.IsAbstract, source.IsAbstract} {
		return apierr.Invalid("relationship_type", "%q does not join these two sessions.", relationship)
	}
	return nil
}

// CheckPair refuses to link a session with itself.
func CheckPair(targetID, sourceID string) error {
	if targetID == sourceID {
		return apierr.Invalid("source_id", "A session cannot be linked with itself.")
	}
	return nil
}

// CheckSource refuses to unlink a session without a target.
func (b *Body) CheckSource() error {
	if b.Target == nil {
		return apierr.Conflict("NOT_LINKED", "The session is not a composition source.")
	}
	return nil
}

// checkUnlink refuses to unlink source from a target that it has lost meanwhile.
func checkUnlink(target, source *Body) error {
	if source.Target == nil || source.Target.SessionID != target.ID {
		return apierr.Conflict("NOT_LINKED", "The session is not a source of this target.")
	}
	return nil
}
