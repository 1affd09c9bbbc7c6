// Command bootstrap is the Lambda of the Log Export group.
package main

import (
	"lectern/functions/logexport"
	"lectern/shared/api"
)

func main() { api.Serve(logexport.Group) }
