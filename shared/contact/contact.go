// Package contact owns people: one contact a person in the organization,
// associated with events. So far it says where contacts are kept, which is all
// that sessions ask before contacts can be made.
package contact

import (
	"fmt"
	"strings"

	"lectern/shared/table"
)

// Keys of contacts, under their organization o = O#<org>:
//
//	PK                   SK          what
//	o#C#<contact>        E#<event>   the association with an event
//	o#Q#email#<address>  -           the contact that holds the address

// OnEvent is the key of a contact's association with an event.
func OnEvent(org, event int64, contact string) table.Key {
	return table.Key{PK: table.Org(org) + "#C#" + contact, SK: fmt.Sprintf("E#%d", event)}
}

// ByEmail is the key under which an address is taken. Addresses are compared
// trimmed and lower-cased (gaps.md section 2.3).
func ByEmail(org int64, email string) table.Key {
	return table.Key{PK: table.Org(org) + "#Q#email#" + strings.ToLower(strings.TrimSpace(email)), SK: "-"}
}
