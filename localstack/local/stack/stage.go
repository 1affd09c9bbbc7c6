package stack

import (
	"net/http"
	"strings"
)

// noStage is the stage in the events of a door without a stage in its paths.
const noStage = "local"

// stagePath returns what the paths of a stage begin with; nothing without a stage.
func stagePath(stage string) string {
	if stage == "" {
		return ""
	}
	return "/" + stage
}

// below returns the path of a request without the stage of the door, and whether the request is
// for the stage.
func (d *door) below(path string) (string, bool) {
	if d.stage == "" {
		return path, true
	}
	rest, found := strings.CutPrefix(path, stagePath(d.stage))
	if found && rest == "" {
		return "/", true // As on AWS, the address of the stage needs no slash.
	}
	return rest, found && strings.HasPrefix(rest, "/")
}

// refuseStage answers a path outside of the stage as the servers before the API do. No gateway
// response applies.
func refuseStage(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusForbidden)
	_, _ = w.Write([]byte(`{"message":"Forbidden"}`)) // A client that has gone needs no answer.
}
