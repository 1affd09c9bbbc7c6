// Command bootstrap is the Lambda of the root group.
package main

import (
	"lectern/functions/root"
	"lectern/shared/api"
)

func main() { api.Serve(root.Group) }
