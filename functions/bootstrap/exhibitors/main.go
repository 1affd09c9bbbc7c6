// Command bootstrap is the Lambda of the Exhibitors group.
package main

import (
	"lectern/functions/exhibitors"
	"lectern/shared/api"
)

func main() { api.Serve(exhibitors.Group) }
