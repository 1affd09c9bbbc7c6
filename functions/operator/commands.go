package operator

import (
	"lectern/shared/programme"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// commands lists the commands of an operator, in the order to show.
var commands = []command{
	define("organization-create", "Create an organization.", (*Service).createOrganization),
	define("organization-update", "Rename, disable or enable an organization, or its assistants.", (*Service).updateOrganization),
	define("organization-show", "Show an organization.", (*Service).showOrganization),
	define("organization-list", "List the organizations of the region by id, a page from the one after a given id.",
		(*Service).listOrganizations),
	define("member-create", "Create a member of an organization.", (*Service).createMember),
	define("member-update", "Change a member: role, activity, permitted events, rights.", (*Service).updateMember),
	define("member-remove", "Remove a member from the organization; their tokens are refused.", (*Service).removeMember),
	define("member-restore", "Bring a removed member back; their tokens work again.", (*Service).restoreMember),
	define("member-list", "List the members of an organization.", list(tenancy.Members, tenancy.MemberPK)),
	define("event-create", "Create an event.", (*Service).createEvent),
	define("event-update", "Change an event: dates, timezone, features, custom fields, mappings.", (*Service).updateEvent),
	define("event-show", "Show an event.", (*Service).showEvent),
	define("event-list", "List the events of an organization.", list(programme.Events, table.Event)),
	define("token-create", "Create an API token; its value is shown this once.", (*Service).createToken),
	define("token-update", "Change a token: name, scopes, limits.", (*Service).updateToken),
	define("token-revoke", "Revoke a token for good.", (*Service).revokeToken),
	define("token-list", "List the tokens of an organization.", (*Service).listTokens),
	define("participant-role-create", "Create a custom participant role.", onSettings(createRole)),
	define("participant-role-update", "Change a custom participant role.", onSettings(updateRole)),
	define("participant-role-delete", "Delete a custom participant role.", onSettings(deleteRole)),
	define("participant-role-list", "List the participant roles of an event.", onSettings(listRoles)),
	define("content-slot-create", "Create an upload slot of an event.", onEvent((*Service).createSlot)),
	define("content-slot-update", "Change or archive an upload slot.", onEvent((*Service).updateSlot)),
	define("content-slot-list", "List the upload slots of an event, archived ones too.", onEvent((*Service).listSlots)),
	define("holding-slides", "Turn the holding slides of an event on or off, with pictures in base64, or show how they are set up.",
		onEvent((*Service).setHoldingSlides)),
	define("connector-field-create", "Create a field that a connector owns.", (*Service).createConnectorField),
	define("connector-field-update", "Change a field that a connector owns: name, options.", onSettings(updateField)),
	define("connector-field-delete", "Delete a field that a connector owns.", onSettings(deleteField)),
	define("session-link", "Compose a session into another one.", onEvent((*Service).linkSession)),
	define("session-unlink", "Take a session out of a composition.", onEvent((*Service).unlinkSession)),
	define("session-withdraw", "Note who withdrew a session, and why.", onEvent((*Service).withdrawSession)),
	define("session-unwithdraw", "Undo the withdrawal of a session.", onEvent((*Service).unwithdrawSession)),
	define("session-show", "Show a session, with its withdrawal.", onEvent((*Service).showSession)),
	define("session-duplicate", "Copy a session.", onEvent((*Service).duplicateSession)),
	define("shard-repair",
		"Mend what verify names: rows, versions of shards and settings, unique values, numbers, lists.", (*Service).repairShards),
	define(Republish, "Publish change records again: of an organization or of all, from a time on, to a cursor.", (*Service).republish),
	define("data-request-delete", "Delete the ended access requests of an organization since a time, and erasures that found nobody.",
		(*Service).deleteRequests),
	define("erasure-list", "List the erasures of an organization since a time, by contacts and hashes of addresses.", (*Service).listErasures),
	define("erasure-repeat", "Erase the persons of these erasures again, after a restore.", (*Service).repeatErasures),
	define("redrive", "Move the messages of a queue's dead-letter queue back.", (*Service).redrive),
	define(Maintain,
		"Purge what was deleted 30 days ago and write what older releases have not, from a cursor to the next.", (*Service).maintain),
}
