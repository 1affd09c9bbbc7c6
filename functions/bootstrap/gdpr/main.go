// Command bootstrap is the Lambda of the GDPR group.
package main

import (
	"lectern/functions/gdpr"
	"lectern/shared/api"
)

func main() { api.Serve(gdpr.Group) }
