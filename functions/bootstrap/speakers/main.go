// Command bootstrap is the Lambda of the Speakers group.
package main

import (
	"lectern/functions/speakers"
	"lectern/shared/api"
)

func main() { api.Serve(speakers.Group) }
