// Command bootstrap is the Lambda of the Transcriptions group.
package main

import (
	"lectern/functions/transcriptions"
	"lectern/shared/api"
)

func main() { api.Serve(transcriptions.Group) }
