// Command bootstrap is the Lambda of the Awards group.
package main

import (
	"lectern/functions/awards"
	"lectern/shared/api"
)

func main() { api.Serve(awards.Group) }
