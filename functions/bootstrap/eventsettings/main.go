// Command bootstrap is the Lambda of the Event Settings group.
package main

import (
	"lectern/functions/eventsettings"
	"lectern/shared/api"
)

func main() { api.Serve(eventsettings.Group) }
