package contact

import (
	"strings"

	"lectern/shared/party"
	"lectern/shared/wire"
)

// Short are the standard fields of the short form.
var Short = strings.Fields(names + " photo_url company_name title")

// Brief shows a contact as part of a session that has no room for its Profile.
func Brief(p party.Party) (o wire.Object) {
	o.Add("id", p.ID)
	o.Add("friendly_id", Kind.FriendlyID(p.Body))
	o.Add("full_name", FullName(p.Body))
	party.Standard(&o, p.Body, Short)
	return o
}
