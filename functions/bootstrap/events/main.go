// Command bootstrap is the Lambda of the Events group.
package main

import (
	"lectern/functions/events"
	"lectern/shared/api"
)

func main() { api.Serve(events.Group) }
