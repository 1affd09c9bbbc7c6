// Command bootstrap is the Lambda of the Session Writes group.
package main

import (
	"lectern/functions/sessionwrites"
	"lectern/shared/api"
)

func main() { api.Serve(sessionwrites.Group) }
