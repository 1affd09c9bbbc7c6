// Command bootstrap is the Lambda of the Contacts group.
package main

import (
	"lectern/functions/contacts"
	"lectern/shared/api"
)

func main() { api.Serve(contacts.Group) }
