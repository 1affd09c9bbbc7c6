package stack

// noStage is the stage in the events of a door without a stage in its paths.
const noStage = "local"

// stagePath returns what the paths of a stage begin with; nothing without a stage.
func stagePath(stage string) string {
	if stage == "" {
		return ""
	}
	return "/" + stage
}
