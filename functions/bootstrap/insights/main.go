// Command bootstrap is the Lambda of the Insights group.
package main

import (
	"lectern/functions/insights"
	"lectern/shared/api"
)

func main() { api.Serve(insights.Group) }
