package operator

// commands are all that an operator can do, in the order to show them.
var commands = []command{
	define("organization-create", "Create an organization.", (*Service).createOrganization),
	define("organization-update", "Rename, disable or enable an organization, or its assistants.", (*Service).updateOrganization),
	define("organization-show", "Show an organization.", (*Service).showOrganization),
	define("member-create", "Create a member of an organization.", (*Service).createMember),
	define("member-update", "Change a member: role, activity, permitted events, rights.", (*Service).updateMember),
	define("member-remove", "Remove a member from the organization; their tokens end.", (*Service).removeMember),
	define("member-list", "List the members of an organization.", (*Service).listMembers),
	define("event-create", "Create an event.", (*Service).createEvent),
	define("event-update", "Change an event: dates, timezone, features, custom fields, mappings.", (*Service).updateEvent),
	define("event-show", "Show an event.", (*Service).showEvent),
	define("event-list", "List the events of an organization.", (*Service).listEvents),
	define("token-create", "Create an API token; its value is shown this once.", (*Service).createToken),
	define("token-update", "Change a token: name, scopes, limits.", (*Service).updateToken),
	define("token-revoke", "Revoke a token for good.", (*Service).revokeToken),
	define("token-list", "List the tokens of an organization.", (*Service).listTokens),
	define("participant-role-create", "Create a custom participant role.", (*Service).createRole),
	define("participant-role-update", "Change a custom participant role.", (*Service).updateRole),
	define("participant-role-delete", "Delete a custom participant role.", (*Service).deleteRole),
	define("participant-role-list", "List the participant roles of an event.", (*Service).listRoles),
	define("connector-field-create", "Create a field that a connector owns.", (*Service).createField),
	define("session-link", "Compose a session into another one.", (*Service).linkSession),
	define("session-unlink", "Take a session out of a composition.", (*Service).unlinkSession),
	define("session-withdraw", "Note who withdrew a session, and why.", (*Service).withdrawSession),
	define("session-duplicate", "Copy a session.", (*Service).duplicateSession),
}
