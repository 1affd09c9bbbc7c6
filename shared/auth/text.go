package auth

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/big"
	"strings"
)

// Form is the beginning of a text, so that scanners for leaked secrets recognize it, and that no text can stand for another.
type Form string

// The forms of texts: an API token, and the access and refresh tokens of an application.
const (
	FormToken   Form = "lct_"
	FormAccess  Form = "lca_"
	FormRefresh Form = "lcr_"
)

const (
	// secretSize is the number of random bytes in a token.
	secretSize = 32
	// sumSize is the number of base62 digits for a CRC-32.
	sumSize = 6
	// maxText is larger than the length of any token.
	maxText = 160
	// base is the base of the digits of a token: 0-9, a-z, A-Z.
	base = 62
	// mark is the first encoded byte. It preserves leading zeros after it, and a later form
	// of tokens can use another mark.
	mark = 1
)

// Text is the content of a token's text: the region and the ids of the stored token, and the
// secret, which the service stores only as a hash.
type Text struct {
	// Form is FormToken if it is empty.
	Form          Form
	Region        string
	Org, User, ID int64
	Secret        [secretSize]byte
}

// NewSecret returns a random secret for a new token.
func NewSecret() (secret [secretSize]byte) {
	_, _ = rand.Read(secret[:]) // An error ends the program.
	return secret
}

// Hash returns the hash of the secret, which is stored with the token.
func (t Text) Hash() []byte {
	sum := sha256.Sum256(t.Secret[:])
	return sum[:]
}

// String returns the token: <form><region>_<ids and secret in base62><checksum>.
func (t Text) String() string {
	data := []byte{mark}
	for _, id := range []int64{t.Org, t.User, t.ID} {
		data = binary.AppendVarint(data, id)
	}
	data = append(data, t.Secret[:]...)
	head := string(cmp.Or(t.Form, FormToken)) + t.Region + "_" + new(big.Int).SetBytes(data).Text(base)
	return head + checksum(head)
}

// checksum returns six base62 digits with the CRC-32 of head.
func checksum(head string) string {
	digits := big.NewInt(int64(crc32.ChecksumIEEE([]byte(head)))).Text(base)
	return strings.Repeat("0", sumSize-len(digits)) + digits
}

// Parse decodes a text of a form. The error is a Refusal with ReasonMalformed or
// ReasonChecksum.
func Parse(form Form, token string) (Text, error) {
	if len(token) > maxText || !strings.HasPrefix(token, string(form)) {
		return Text{}, Refuse(ReasonMalformed)
	}
	region, digits, ok := strings.Cut(token[len(form):], "_")
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
	if t.Form, t.Region = form, region; t.String() != token { // Refuse leading zeros and signs: a token has only one text.
		return Text{}, Refuse(ReasonMalformed)
	}
	return t, nil
}

// decode decodes the ids and the secret.
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
