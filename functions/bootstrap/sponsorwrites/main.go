// Command bootstrap is the Lambda of the Sponsor Writes group.
package main

import (
	"lectern/functions/sponsorwrites"
	"lectern/shared/api"
)

func main() { api.Serve(sponsorwrites.Group) }
