package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
)

const (
	// prefix begins every token, so that scanners for leaked secrets know it.
	prefix = "lct_"
	// secretSize is how many random bytes a token holds.
	secretSize = 32
	// sumSize is how many base62 digits hold a CRC-32.
	sumSize = 6
	// maxText is longer than every token: more is refused unread.
	maxText = 160
	// base is that of the token's digits: 0-9, a-z, A-Z.
	base = 62
	// mark is a first byte that keeps zeros behind it from being lost, and
	// would tell a later form of tokens apart.
	mark = 1
)

// Text is what a token's text says: where the token is stored, and the secret
// that only its bearer has.
type Text struct {
	Region        string
	Org, User, ID int64
	Secret        [secretSize]byte
}

// NewSecret draws the secret of a new token.
func NewSecret() (secret [secretSize]byte) {
	_, _ = rand.Read(secret[:]) // never fails: the program ends instead
	return secret
}

// Hash is the form in which a secret is stored.
func (t Text) Hash() []byte {
	sum := sha256.Sum256(t.Secret[:])
	return sum[:]
}

// String is the whole token: lct_<region>_<ids and secret in base62><checksum>.
func (t Text) String() string {
	data := []byte{mark}
	for _, id := range []int64{t.Org, t.User, t.ID} {
		data = binary.AppendVarint(data, id)
	}
	data = append(data, t.Secret[:]...)
	head := prefix + t.Region + "_" + new(big.Int).SetBytes(data).Text(base)
	return head + checksum(head)
}

// checksum is six base62 digits for what stands before them.
func checksum(head string) string {
	digits := big.NewInt(int64(crc32.ChecksumIEEE([]byte(head)))).Text(base)
	return strings.Repeat("0", sumSize-len(digits)) + digits
}

// Parse reads a token's text. The error is a Refusal that says malformed or
// checksum.
func Parse(token string) (Text, error) {
	if len(token) > maxText || !strings.HasPrefix(token, prefix) {
		return Text{}, Refuse(ReasonMalformed)
	}
	region, digits, ok := strings.Cut(token[len(prefix):], "_")
	if !ok || len(digits) <= sumSize {
		return Text{}, Refuse(ReasonMalformed)
	}
	head := token[:len(token)-sumSize]
	if token[len(head):] != checksum(head) {
		return Text{}, Refuse(ReasonChecksum)
	}
	t, err := decode(digits[:len(digits)-sumSize])
	if err != nil {
		return Text{}, Refuse(ReasonMalformed)
	}
	if t.Region = region; t.String() != token { // A token has one text, without zeros or signs ahead of its digits.
		return Text{}, Refuse(ReasonMalformed)
	}
	return t, nil
}

// decode reads the ids and the secret.
func decode(digits string) (t Text, err error) {
	n, ok := new(big.Int).SetString(digits, base)
	if !ok || n.Sign() <= 0 {
		return t, fmt.Errorf("auth: not base %d", base)
	}
	data := n.Bytes()
	if data[0] != mark {
		return t, fmt.Errorf("auth: unknown form %d", data[0])
	}
	data = data[1:]
	for _, id := range []*int64{&t.Org, &t.User, &t.ID} {
		value, size := binary.Varint(data)
		if size <= 0 || value <= 0 {
			return t, fmt.Errorf("auth: not an id")
		}
		*id, data = value, data[size:]
	}
	if copy(t.Secret[:], data) != secretSize || len(data) != secretSize {
		return t, fmt.Errorf("auth: secret of %d bytes", len(data))
	}
	return t, nil
}
