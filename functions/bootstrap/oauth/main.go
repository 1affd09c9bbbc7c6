// Command bootstrap is the Lambda of the OAuth group.
package main

import (
	"lectern/functions/oauth"
	"lectern/shared/api"
)

func main() { api.Serve(oauth.Group) }
