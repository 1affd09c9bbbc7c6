// Command bootstrap is the Lambda of the MCP group.
package main

import (
	"lectern/functions/mcp"
	"lectern/shared/api"
)

func main() { api.Serve(mcp.Group) }
