// Command bootstrap is the Lambda of the Session Recordings group.
package main

import (
	"lectern/functions/recordings"
	"lectern/shared/api"
)

func main() { api.Serve(recordings.Group) }
