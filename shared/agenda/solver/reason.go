package solver

import "fmt"

// reason says why a session has no place.
func (s *search) reason(i int) string {
	return fmt.Sprint("TODO ", i)
}
