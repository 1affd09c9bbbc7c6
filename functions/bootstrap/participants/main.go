// Command bootstrap is the Lambda of the Participants group.
package main

import (
	"lectern/functions/participants"
	"lectern/shared/api"
)

func main() { api.Serve(participants.Group) }
