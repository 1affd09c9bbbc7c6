// Command bootstrap is the Lambda of the Metadata Writes group.
package main

import (
	"lectern/functions/metadatawrites"
	"lectern/shared/api"
)

func main() { api.Serve(metadatawrites.Group) }
