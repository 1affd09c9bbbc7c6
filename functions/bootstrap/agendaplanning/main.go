// Command bootstrap is the Lambda of the Agenda Planning group.
package main

import (
	"lectern/functions/agendaplanning"
	"lectern/shared/api"
)

func main() { api.Serve(agendaplanning.Group) }
