// Package secret seals small secrets with keys that are derived from the one master key of a
// region: a secret of Secrets Manager on AWS, a key file on one machine (decision 26).
package secret

import "context"

// Keys seals and opens. It loads the master key at the first use and is safe for concurrent use.
type Keys struct {
	// Load returns the master key.
	Load func(context.Context) ([]byte, error)
}

// Seal encrypts a text for a purpose, such as webhook, and binds it to a place, such as the id of
// the record: Open with another purpose or place fails.
func (k *Keys) Seal(ctx context.Context, purpose, place string, plain []byte) ([]byte, error) {
	panic("not built")
}

// Open decrypts what Seal has returned.
func (k *Keys) Open(ctx context.Context, purpose, place string, sealed []byte) ([]byte, error) {
	panic("not built")
}
