package auth

import "lectern/shared/tenancy"

// Summed is a text with its checksum.
func Summed(head string) string { return head + checksum(head) }

// Kept is how many tokens the Authenticator has in memory.
func (a *Authenticator) Kept() int {
	a.memory.mu.Lock()
	defer a.memory.mu.Unlock()
	return len(a.memory.newer) + len(a.memory.older)
}

// Keep puts an entry into memory as if its text had been verified.
func (a *Authenticator) Keep(text Text) { a.memory.put(text, entry{token: &tenancy.Token{}}) }
