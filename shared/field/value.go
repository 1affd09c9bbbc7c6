package field

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/table"
	"lectern/shared/tenancy"
)

// limit is how long a text may be.
type limit struct {
	most   int
	length func(string) int
	unit   string
}

// limits has the limits of texts by type.
var limits = map[Type]limit{
	Text:     {255, utf8.RuneCountInString, "characters"},
	Textarea: {5_000, utf8.RuneCountInString, "characters"},
	Wysiwyg:  {64 << 10, func(s string) int { return len(s) }, "bytes"},
}

// MaxLength returns the characters that a text of a type may have.
func MaxLength(t Type) int {
	if limit, ok := limits[t]; ok {
		return limit.most
	}
	return limits[Text].most
}

// maxValues is how many values a list may hold: more than there are countries
// or languages to name.
const maxValues = 1_000

// rule checks a value and returns the form to store.
type rule func(d *Definition, raw any, loc *time.Location) (any, error)

// rules has the rule of a value by type.
var rules = map[Type]rule{
	Text:      text(limits[Text]),
	Textarea:  text(limits[Textarea]),
	Wysiwyg:   text(limits[Wysiwyg]),
	Email:     formatted("an e-mail address", IsEmail),
	Phone:     formatted("a phone number", isPhone),
	File:      formatted("an http or https address", IsAddress),
	Countries: formatted("an ISO 3166-1 country code", isCountry),
	Languages: languageCode,
	Date:      formatted("a date in the form YYYY-MM-DD", isDate),
	Dropdown:  option,
	Checkbox:  boolean,
	Number:    number,
	Currency:  number,
	User:      member,
	Datetime:  datetime,
}

// Accept checks a value that a client sent for the field and returns the form to store.
// nil, also for an empty list, means no value.
func (d *Definition) Accept(raw any, loc *time.Location) (any, error) {
	if raw == nil {
		return nil, nil
	}
	if !d.Multiple {
		return rules[d.Type](d, raw, loc)
	}
	list, ok := raw.([]any)
	if !ok {
		return nil, d.mismatch("a list")
	}
	if len(list) > maxValues {
		return nil, apierr.Invalid(d.InternalName, "Field %q takes at most %d values.", d.InternalName, maxValues)
	}
	return d.acceptAll(list, loc)
}

func (d *Definition) acceptAll(list []any, loc *time.Location) (any, error) {
	if len(list) == 0 {
		return nil, nil
	}
	seen := make(map[any]bool, len(list))
	kept := make([]any, 0, len(list))
	for _, raw := range list {
		v, err := rules[d.Type](d, raw, loc)
		if err != nil {
			return nil, err
		}
		if seen[v] {
			return nil, apierr.Invalid(d.InternalName, "Field %q takes each value once only.", d.InternalName)
		}
		seen[v] = true
		kept = append(kept, v)
	}
	return kept, nil
}

// mismatch returns the error for a value that the field does not accept. The error of a
// dropdown lists the options.
func (d *Definition) mismatch(want string) error {
	if d.Type != Dropdown {
		return apierr.TypeMismatch(d.InternalName, fmt.Sprintf("Field %q must be %s.", d.InternalName, want))
	}
	if len(d.Options) == 0 {
		return apierr.TypeMismatch(d.InternalName, fmt.Sprintf("Field %q has no options to choose from.", d.InternalName))
	}
	if d.Multiple {
		want = "a list of options out of"
	} else {
		want = "one of"
	}
	message := fmt.Sprintf("Field %q must be %s %s.", d.InternalName, want, quoted(d.Options))
	return apierr.TypeMismatch(d.InternalName, message, d.Options...)
}

// quoted returns every option in quotes: the contract has the message name all.
func quoted(options []string) string {
	quotes := make([]string, len(options))
	for i, o := range options {
		quotes[i] = strconv.Quote(o)
	}
	return strings.Join(quotes, ", ")
}

func text(l limit) rule {
	return func(d *Definition, raw any, _ *time.Location) (any, error) {
		s, ok := raw.(string)
		if !ok {
			return nil, d.mismatch("a string")
		}
		if l.length(s) > l.most {
			return nil, apierr.Invalid(d.InternalName, "Field %q must not be longer than %d %s.", d.InternalName, l.most, l.unit)
		}
		return s, nil
	}
}

// formatted returns the rule of a short text in a certain form.
func formatted(want string, is func(string) bool) rule {
	short := text(limits[Text])
	return func(d *Definition, raw any, loc *time.Location) (any, error) {
		v, err := short(d, raw, loc)
		if err != nil {
			return nil, err
		}
		if !is(v.(string)) {
			return nil, d.mismatch(want)
		}
		return v, nil
	}
}

// languageCode keeps a code in canonical case, so that a language has a single text, which
// a list takes once.
func languageCode(d *Definition, raw any, loc *time.Location) (any, error) {
	v, err := formatted("a BCP 47 language code", isLanguage)(d, raw, loc)
	if err != nil {
		return nil, err
	}
	return canonical(v.(string)), nil
}

func option(d *Definition, raw any, _ *time.Location) (any, error) {
	for _, o := range d.Options {
		if raw == any(o) {
			return o, nil
		}
	}
	return nil, d.mismatch("")
}

func boolean(d *Definition, raw any, _ *time.Location) (any, error) {
	if _, ok := raw.(bool); !ok {
		return nil, d.mismatch("true or false")
	}
	return raw, nil
}

func number(d *Definition, raw any, _ *time.Location) (any, error) {
	if _, ok := raw.(float64); !ok {
		return nil, d.mismatch("a number")
	}
	return raw, nil
}

// member checks the form of a member's id; whether there is such a member is
// for CheckMembers.
func member(d *Definition, raw any, _ *time.Location) (any, error) {
	id, ok := raw.(float64)
	if !ok || id < 1 || id != math.Trunc(id) || id > maxID {
		return nil, d.mismatch(wantMember)
	}
	return raw, nil
}

const wantMember = "the id of a member of the organization"

// maxID is the largest integer that a JSON number holds exactly.
const maxID = 1 << 53

// Members returns the keys of the members that sent values name in fields of type user,
// by internal name. Apply has checked everything else.
func (s *Set) Members(org int64, module Module, sent map[string]any) map[string]table.Key {
	named := map[string]table.Key{}
	for name, raw := range sent {
		if d, ok := s.Named(module, name); ok && d.Type == User && raw != nil {
			id, _ := raw.(float64)
			named[name] = table.Key{PK: tenancy.MemberPK(org, int64(id)), SK: "-"}
		}
	}
	return named
}

// CheckMembers returns a 400 TYPE_MISMATCH for a named member that the organization does not
// have, or that has left. got has the items of the keys.
func CheckMembers(got map[table.Key]table.Item, named map[string]table.Key) error {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		switch found, err := isMember(got, named[name]); {
		case err != nil:
			return err
		case !found:
			return apierr.TypeMismatch(name, fmt.Sprintf("Field %q must be %s.", name, wantMember))
		}
	}
	return nil
}

// isMember reports whether the member at key was found and has not left.
func isMember(found map[table.Key]table.Item, key table.Key) (bool, error) {
	stored, ok := found[key]
	if !ok {
		return false, nil
	}
	m, err := tenancy.Members.Decode(stored)
	return err == nil && m.RemovedAt == nil, err
}
