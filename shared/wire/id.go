package wire

import "github.com/google/uuid"

// IsID reports whether a text is a UUID in the form of the API; uuid.Validate knows other forms too.
func IsID(text string) bool {
	return len(text) == len(uuid.UUID{}.String()) && uuid.Validate(text) == nil
}
