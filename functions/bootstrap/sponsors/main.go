// Command bootstrap is the Lambda of the Sponsors group.
package main

import (
	"lectern/functions/sponsors"
	"lectern/shared/api"
)

func main() { api.Serve(sponsors.Group) }
