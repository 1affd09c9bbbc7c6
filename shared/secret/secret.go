// Package secret seals small secrets with keys that are derived from the master key of a region:
// a secret of Secrets Manager on AWS, a key file on one machine (decision 26).
package secret

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
)

const (
	// version is the first byte of a sealed text: AES-256-GCM with a key by HKDF-SHA256.
	version = 1
	// keyBytes is the length of a derived key, and the least length of the master key.
	keyBytes = 32
)

// errSealed is the error for a text that Seal has not returned for this purpose and place.
var errSealed = errors.New("secret: the text was not sealed for this purpose and place")

// Keys seals and opens. The first use loads the master key. Keys is safe for concurrent use.
type Keys struct {
	// Load returns the master key, at least 32 bytes. Keys calls Load again after a failure only.
	Load func(context.Context) ([]byte, error)

	mu     sync.Mutex
	master []byte
	ready  map[string]cipher.AEAD // by purpose
}

// Seal encrypts a text for a purpose, such as webhook, and binds the text to a place, such as the
// id of the record: Open with another purpose or place fails.
func (k *Keys) Seal(ctx context.Context, purpose, place string, plain []byte) ([]byte, error) {
	aead, err := k.cipher(ctx, purpose)
	if err != nil {
		return nil, err
	}
	// The cipher chooses the nonce, so none is given.
	return aead.Seal([]byte{version}, nil, plain, bound(purpose, place)), nil //nolint:gosec // G407: no nonce is hardcoded
}

// Open decrypts a text that Seal has returned.
func (k *Keys) Open(ctx context.Context, purpose, place string, sealed []byte) ([]byte, error) {
	aead, err := k.cipher(ctx, purpose)
	if err != nil {
		return nil, err
	}
	if len(sealed) == 0 || sealed[0] != version {
		return nil, errSealed
	}
	plain, err := aead.Open(nil, nil, sealed[1:], bound(purpose, place))
	if err != nil {
		return nil, errSealed
	}
	return plain, nil
}

// bound returns the additional data of a text. The length keeps two pairs of purpose and place
// apart whose texts are the same one after the other.
func bound(purpose, place string) []byte {
	return fmt.Appendf(nil, "%d:%s:%s", len(purpose), purpose, place)
}

// cipher returns the cipher of a purpose. The cipher puts a random nonce before each text.
func (k *Keys) cipher(ctx context.Context, purpose string) (cipher.AEAD, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if aead, ok := k.ready[purpose]; ok {
		return aead, nil
	}
	key, err := k.derive(ctx, purpose)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("secret: cipher of %s: %w", purpose, err)
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("secret: cipher of %s: %w", purpose, err)
	}
	if k.ready == nil {
		k.ready = map[string]cipher.AEAD{}
	}
	k.ready[purpose] = aead
	return aead, nil
}

// Sum returns the keyed hash of a text for a purpose: HMAC-SHA256.
func (k *Keys) Sum(ctx context.Context, purpose string, text []byte) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, err := k.derive(ctx, purpose)
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(text)
	return mac.Sum(nil), nil
}

// derive returns the key of a purpose.
func (k *Keys) derive(ctx context.Context, purpose string) ([]byte, error) {
	if err := k.load(ctx); err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, k.master, nil, "lectern "+purpose, keyBytes)
	if err != nil {
		return nil, fmt.Errorf("secret: derive the key of %s: %w", purpose, err)
	}
	return key, nil
}

// load loads the master key, unless an earlier call has.
func (k *Keys) load(ctx context.Context) error {
	if k.master != nil {
		return nil
	}
	master, err := k.Load(ctx)
	if err != nil {
		return fmt.Errorf("secret: load the master key: %w", err)
	}
	if len(master) < keyBytes {
		return fmt.Errorf("secret: the master key has %d bytes, not at least %d", len(master), keyBytes)
	}
	k.master = master
	return nil
}
