// Command bootstrap is the Lambda of the Webhooks group.
package main

import (
	"lectern/functions/webhooks"
	"lectern/shared/api"
)

func main() { api.Serve(webhooks.Group) }
