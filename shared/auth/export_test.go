package auth

// Summed is a text with its checksum.
func Summed(head string) string { return head + checksum(head) }
