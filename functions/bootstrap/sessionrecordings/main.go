// Command bootstrap is the Lambda of the Session Recordings group.
package main

import (
	"lectern/functions/sessionrecordings"
	"lectern/shared/api"
)

func main() { api.Serve(sessionrecordings.Group) }
