// Command bootstrap is the Lambda of the Sessions group.
package main

import (
	"lectern/functions/sessions"
	"lectern/shared/api"
)

func main() { api.Serve(sessions.Group) }
