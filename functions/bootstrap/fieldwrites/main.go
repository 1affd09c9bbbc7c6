// Command bootstrap is the Lambda of the Field Writes group.
package main

import (
	"lectern/functions/fieldwrites"
	"lectern/shared/api"
)

func main() { api.Serve(fieldwrites.Group) }
