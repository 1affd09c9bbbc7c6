// Command bootstrap is the Lambda of the Media group.
package main

import (
	"lectern/functions/media"
	"lectern/shared/api"
)

func main() { api.Serve(media.Group) }
