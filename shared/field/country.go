package field

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/biter777/countries"
)

// isCountry takes the codes of ISO 3166-1 alone: of two or three capitals, or of
// three digits.
func isCountry(s string) bool { return countryCodes()[s] != "" }

// digits matches a code as a number, perhaps without leading zeros.
var digits = regexp.MustCompile(`^[0-9]{1,3}$`)

// CountryCode returns the three digits of a country for a code of ISO 3166-1 or an English
// name, in any case of letters.
func CountryCode(text string) (code string, ok bool) {
	text = strings.TrimSpace(text)
	if digits.MatchString(text) {
		text = strings.Repeat("0", 3-len(text)) + text
	}
	if code, ok = countryCodes()[strings.ToUpper(text)]; !ok {
		code, ok = countryNames()[plainName(text)]
	}
	return code, ok
}

func numeric(c countries.CountryCode) string { return fmt.Sprintf("%03d", int(c)) }

// countryCodes maps the codes of ISO 3166-1 to the country's code of three
// digits. The library also knows codes that are withdrawn, or that users have
// assigned themselves.
var countryCodes = sync.OnceValue(func() map[string]string {
	others := []countries.CountryCode{countries.Yugoslavia, countries.NetherlandsAntilles, countries.Kosovo}
	codes := map[string]string{}
	for _, c := range countries.All() {
		if slices.Contains(others, c) {
			continue
		}
		for _, code := range []string{c.Alpha2(), c.Alpha3(), numeric(c)} {
			codes[code] = numeric(c)
		}
	}
	return codes
})

// countryNames maps every accepted spelling of a name to the code of the country.
// The library's own search by name guesses: "Ger-many", ".de" and the USSR have results.
var countryNames = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, code := range countryCodes() {
		number, _ := strconv.Atoi(code) // CountryCode formatted a number.
		c := countries.CountryCode(number)
		for _, name := range append(otherNames[c], c.String()) {
			for _, spelling := range spellings(name) {
				names[spelling] = code
			}
		}
	}
	return names
})

// The articles that ISO 3166-1 writes before, after or within a name.
var (
	leading  = regexp.MustCompile(`(^|\(|, )the `)
	trailing = regexp.MustCompile(`( \(the\)|, the)$`)
)

// plainName returns a name without differences that do not matter: case, the width of spaces,
// the form of apostrophes and the articles.
func plainName(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.Join(strings.Fields(name), " ")), "’", "'")
	return leading.ReplaceAllString(trailing.ReplaceAllString(name, ""), "$1")
}

// qualified matches a name with a qualification, which may stand in three places: Moldova
// (Republic of), Moldova, Republic of and Republic of Moldova.
var qualified = regexp.MustCompile(`^(.+) \((.+?)( of| of the)?\)$`)

// Spellings that English texts use for each other.
var (
	unaccented = strings.NewReplacer("å", "a", "ã", "a", "ç", "c", "é", "e", "í", "i", "ô", "o", "ü", "u")
	shortened  = strings.NewReplacer(" and ", " & ")
	sainted    = strings.NewReplacer("saint ", "st. ")
)

// spellings returns the plain names for the lookup of a name.
func spellings(name string) []string {
	all := []string{plainName(name)}
	if parts := qualified.FindStringSubmatch(all[0]); parts != nil {
		before, qualification, of := parts[1], parts[2], parts[3]
		all = append(all, before+", "+qualification+of)
		if of != "" {
			all = append(all, qualification+of+" "+before)
		}
	}
	for _, other := range []*strings.Replacer{unaccented, shortened, sainted} {
		for _, spelling := range all {
			all = append(all, other.Replace(spelling))
		}
	}
	return all
}

// otherNames has English short names of ISO 3166-1 and everyday names that the library
// lacks.
var otherNames = map[countries.CountryCode][]string{
	countries.ALA: {"Åland Islands"},
	countries.BES: {"Caribbean Netherlands"},
	countries.BLM: {"Saint Barthélemy"},
	countries.BOL: {"Bolivia (Plurinational State of)"},
	countries.BRN: {"Brunei"},
	countries.CIV: {"Côte d'Ivoire", "Ivory Coast"},
	countries.COD: {"Congo (Democratic Republic of the)", "DR Congo"},
	countries.COG: {"Republic of the Congo"},
	countries.CPV: {"Cabo Verde"},
	countries.CUW: {"Curaçao"},
	countries.CZE: {"Czech Republic"},
	countries.FLK: {"Falkland Islands", "Falkland Islands [Malvinas]", "Falkland Islands (the) [Malvinas]"},
	countries.FSM: {"Micronesia"},
	countries.GBR: {"United Kingdom of Great Britain and Northern Ireland", "Great Britain"},
	countries.HKG: {"Hong Kong"},
	countries.IRN: {"Iran"},
	countries.KOR: {"Korea (Republic of)", "South Korea"},
	countries.LAO: {"Laos"},
	countries.LBY: {"Libya"},
	countries.MAC: {"Macao", "Macau"},
	countries.MAF: {"Saint Martin (French part)", "Saint Martin"},
	countries.MDA: {"Moldova"},
	countries.MKD: {"North Macedonia", "Macedonia"},
	countries.MMR: {"Burma", "Myanmar (Burma)"},
	countries.NLD: {"Netherlands (Kingdom of the)"},
	countries.PCN: {"Pitcairn Islands"},
	countries.PRK: {"Korea (Democratic People's Republic of)", "North Korea"},
	countries.PSE: {"Palestine (State of)", "Palestine", "Palestinian Territories"},
	countries.REU: {"Réunion"},
	countries.RUS: {"Russia"},
	countries.SHN: {"Saint Helena, Ascension and Tristan da Cunha"},
	countries.SJM: {"Svalbard and Jan Mayen"},
	countries.STP: {"São Tomé and Príncipe"},
	countries.SWZ: {"Eswatini"},
	countries.SXM: {"Sint Maarten (Dutch part)", "Sint Maarten"},
	countries.SYR: {"Syria"},
	countries.TLS: {"Timor-Leste", "East Timor"},
	countries.TUR: {"Türkiye"},
	countries.TWN: {"Taiwan"},
	countries.TZA: {"Tanzania"},
	countries.USA: {"United States of America"},
	countries.VAT: {"Holy See", "Vatican City", "Vatican City State", "Vatican"},
	countries.VEN: {"Venezuela (Bolivarian Republic of)"},
	countries.VGB: {"Virgin Islands (British)", "British Virgin Islands"},
	countries.VIR: {"Virgin Islands (U.S.)", "U.S. Virgin Islands", "US Virgin Islands", "United States Virgin Islands"},
	countries.VNM: {"Viet Nam"},
	countries.WLF: {"Wallis and Futuna"},
}
