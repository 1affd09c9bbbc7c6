// Command bootstrap is the Lambda of the Exhibitor Writes group.
package main

import (
	"lectern/functions/exhibitorwrites"
	"lectern/shared/api"
)

func main() { api.Serve(exhibitorwrites.Group) }
