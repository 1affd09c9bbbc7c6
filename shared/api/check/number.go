package check

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// exactly refuses a large number in a value without a schema that would be
// changed silently when it is decoded, since there every number becomes a
// float64: what a client then reads would be another number than it sent.
func exactly(v any, at path) error {
	switch v := v.(type) {
	case json.Number:
		return unchanged(v, at)
	case []any:
		for i, one := range v {
			if err := exactly(one, item(&at, i)); err != nil {
				return err
			}
		}
	case *object:
		for _, key := range v.keys {
			if err := exactly(v.values[key], in(&at, key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unchanged holds a number against the float64 that it becomes, whatever its
// spelling: it must be that float or the shortest decimal that stands for it,
// which is how it is read back. Below 2^53 whole numbers are floats, and
// fractions are rounded as everywhere.
func unchanged(n json.Number, at path) error {
	f, err := float(n, at)
	if err != nil || math.Abs(f) < exact {
		return err
	}
	shortest := strconv.FormatFloat(f, 'e', -1, 64)
	sent := decimalOf(string(n))
	if sent == decimalOf(shortest) || sent == decimalOf(strconv.FormatFloat(f, 'f', 0, 64)) {
		return nil
	}
	return refuse(at, "has more digits than can be kept: it would become %s.", shortest)
}

// decimal is the magnitude of a number: 0.digits times ten to the point. It has
// no zeros at either end, so that a number has one.
type decimal struct {
	digits string
	point  int
}

// decimalOf reads a JSON number that is not zero and in the range of a float64.
// It takes the time of the text's length, not of the number's size.
func decimalOf(text string) decimal {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent, _ := strconv.Atoi(power) // It is in range, since the number is; none is 0.
	digits := strings.TrimLeft(whole+fraction, "0")
	zeros := len(whole) + len(fraction) - len(digits)
	return decimal{strings.TrimRight(digits, "0"), len(whole) - zeros + exponent}
}
