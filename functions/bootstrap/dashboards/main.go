// Command bootstrap is the Lambda of the Dashboards and Widgets group.
package main

import (
	"lectern/functions/dashboards"
	"lectern/shared/api"
)

func main() { api.Serve(dashboards.Group) }
