// Command bootstrap is the Lambda of the Contact Writes group.
package main

import (
	"lectern/functions/contactwrites"
	"lectern/shared/api"
)

func main() { api.Serve(contactwrites.Group) }
