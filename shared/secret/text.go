package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
)

// NewText returns a text of 32 random bytes, such as a cookie: nobody can guess the text.
func NewText() string {
	var random [32]byte
	_, _ = rand.Read(random[:]) // An error ends the program.
	return base64.RawURLEncoding.EncodeToString(random[:])
}

// HashText returns the hash of a text in hexadecimal digits. A table keeps the hash in place of the text.
func HashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
