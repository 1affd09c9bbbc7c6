package check

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// checkNumbers checks the numbers of a value without a schema. Such numbers are decoded as
// float64. checkNumbers refuses a number that a client would read back with other digits.
func checkNumbers(v any, at path) error {
	switch v := v.(type) {
	case json.Number:
		return unchanged(v, at)
	case []any:
		for i, entry := range v {
			if err := checkNumbers(entry, item(&at, i)); err != nil {
				return err
			}
		}
	case *object:
		for _, key := range v.keys {
			if err := checkNumbers(v.values[key], in(&at, key)); err != nil {
				return err
			}
		}
	}
	return nil
}

// unchanged refuses a number above 2^53 that float64 cannot represent. The number must be equal
// to the float64 or to its shortest decimal form, in any spelling. Smaller integers are always
// exact, and smaller fractions may be rounded.
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

// decimal is the magnitude of a number: 0.digits times ten to the power of point. digits has no
// zeros at both ends, so equal numbers have equal decimals.
type decimal struct {
	digits string
	point  int
}

// decimalOf reads a JSON number that is not zero and in the range of float64. The time depends
// on the length of the text, not on the size of the number.
func decimalOf(text string) decimal {
	mantissa, power, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	exponent, _ := strconv.Atoi(power) // The range of float64 has been checked. Without a power: 0.
	digits := strings.TrimLeft(whole+fraction, "0")
	zeros := len(whole) + len(fraction) - len(digits)
	return decimal{strings.TrimRight(digits, "0"), len(whole) - zeros + exponent}
}
