// Command bootstrap is the Lambda of the Session Files group.
package main

import (
	"lectern/functions/sessionfiles"
	"lectern/shared/api"
)

func main() { api.Serve(sessionfiles.Group) }
