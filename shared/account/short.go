package account

import (
	"lectern/shared/party"
	"lectern/shared/wire"
)

// Short are the standard fields of the short form.
var Short = []string{"name", "logo_image_url"}

// Brief shows an account as part of a session that has no room for its Summary.
func Brief(p party.Party) (o wire.Object) {
	o.Add("id", p.ID)
	o.Add("friendly_id", Kind.FriendlyID(p.Body))
	o.Add("friendly_id_raw", p.Number)
	party.Standard(&o, p.Body, Short)
	return o
}
