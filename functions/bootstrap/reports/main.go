// Command bootstrap is the Lambda of the Reports and Queries group.
package main

import (
	"lectern/functions/reports"
	"lectern/shared/api"
)

func main() { api.Serve(reports.Group) }
