package people_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// isoCountries is the list of ISO 3166-1: two codes of letters, the code of digits and
// the English short name.
const isoCountries = `
AF AFG 004 Afghanistan; AL ALB 008 Albania; DZ DZA 012 Algeria; AS ASM 016 American Samoa; AD AND 020 Andorra; AO AGO 024 Angola;
AI AIA 660 Anguilla; AQ ATA 010 Antarctica; AG ATG 028 Antigua and Barbuda; AR ARG 032 Argentina; AM ARM 051 Armenia; AW ABW 533 Aruba;
AU AUS 036 Australia; AT AUT 040 Austria; AZ AZE 031 Azerbaijan; BS BHS 044 Bahamas (the); BH BHR 048 Bahrain; BD BGD 050 Bangladesh;
BB BRB 052 Barbados; BY BLR 112 Belarus; BE BEL 056 Belgium; BZ BLZ 084 Belize; BJ BEN 204 Benin; BM BMU 060 Bermuda; BT BTN 064 Bhutan;
BO BOL 068 Bolivia (Plurinational State of); BQ BES 535 Bonaire, Sint Eustatius and Saba; BA BIH 070 Bosnia and Herzegovina;
BW BWA 072 Botswana; BV BVT 074 Bouvet Island; BR BRA 076 Brazil; IO IOT 086 British Indian Ocean Territory (the);
BN BRN 096 Brunei Darussalam; BG BGR 100 Bulgaria; BF BFA 854 Burkina Faso; BI BDI 108 Burundi; CV CPV 132 Cabo Verde; KH KHM 116 Cambodia;
CM CMR 120 Cameroon; CA CAN 124 Canada; KY CYM 136 Cayman Islands (the); CF CAF 140 Central African Republic (the); TD TCD 148 Chad;
CL CHL 152 Chile; CN CHN 156 China; CX CXR 162 Christmas Island; CC CCK 166 Cocos (Keeling) Islands (the); CO COL 170 Colombia;
KM COM 174 Comoros (the); CG COG 178 Congo (the); CD COD 180 Congo (the Democratic Republic of the); CK COK 184 Cook Islands (the);
CR CRI 188 Costa Rica; HR HRV 191 Croatia; CU CUB 192 Cuba; CW CUW 531 Curaçao; CY CYP 196 Cyprus; CZ CZE 203 Czechia;
CI CIV 384 Côte d'Ivoire; DK DNK 208 Denmark; DJ DJI 262 Djibouti; DM DMA 212 Dominica; DO DOM 214 Dominican Republic (the);
EC ECU 218 Ecuador; EG EGY 818 Egypt; SV SLV 222 El Salvador; GQ GNQ 226 Equatorial Guinea; ER ERI 232 Eritrea; EE EST 233 Estonia;
SZ SWZ 748 Eswatini; ET ETH 231 Ethiopia; FK FLK 238 Falkland Islands (the) [Malvinas]; FO FRO 234 Faroe Islands (the); FJ FJI 242 Fiji;
FI FIN 246 Finland; FR FRA 250 France; GF GUF 254 French Guiana; PF PYF 258 French Polynesia; TF ATF 260 French Southern Territories (the);
GA GAB 266 Gabon; GM GMB 270 Gambia (the); GE GEO 268 Georgia; DE DEU 276 Germany; GH GHA 288 Ghana; GI GIB 292 Gibraltar; GR GRC 300 Greece;
GL GRL 304 Greenland; GD GRD 308 Grenada; GP GLP 312 Guadeloupe; GU GUM 316 Guam; GT GTM 320 Guatemala; GG GGY 831 Guernsey;
GN GIN 324 Guinea; GW GNB 624 Guinea-Bissau; GY GUY 328 Guyana; HT HTI 332 Haiti; HM HMD 334 Heard Island and McDonald Islands;
VA VAT 336 Holy See (the); HN HND 340 Honduras; HK HKG 344 Hong Kong; HU HUN 348 Hungary; IS ISL 352 Iceland;
IN IND 356 India; ID IDN 360 Indonesia; IR IRN 364 Iran (Islamic Republic of); IQ IRQ 368 Iraq; IE IRL 372 Ireland; IM IMN 833 Isle of Man;
IL ISR 376 Israel; IT ITA 380 Italy; JM JAM 388 Jamaica; JP JPN 392 Japan; JE JEY 832 Jersey; JO JOR 400 Jordan; KZ KAZ 398 Kazakhstan;
KE KEN 404 Kenya; KI KIR 296 Kiribati; KP PRK 408 Korea (the Democratic People's Republic of); KR KOR 410 Korea (the Republic of);
KW KWT 414 Kuwait; KG KGZ 417 Kyrgyzstan; LA LAO 418 Lao People's Democratic Republic (the); LV LVA 428 Latvia; LB LBN 422 Lebanon;
LS LSO 426 Lesotho; LR LBR 430 Liberia; LY LBY 434 Libya; LI LIE 438 Liechtenstein; LT LTU 440 Lithuania; LU LUX 442 Luxembourg;
MO MAC 446 Macao; MG MDG 450 Madagascar; MW MWI 454 Malawi; MY MYS 458 Malaysia; MV MDV 462 Maldives; ML MLI 466 Mali; MT MLT 470 Malta;
MH MHL 584 Marshall Islands (the); MQ MTQ 474 Martinique; MR MRT 478 Mauritania; MU MUS 480 Mauritius; YT MYT 175 Mayotte; MX MEX 484 Mexico;
FM FSM 583 Micronesia (Federated States of); MD MDA 498 Moldova (the Republic of); MC MCO 492 Monaco; MN MNG 496 Mongolia;
ME MNE 499 Montenegro; MS MSR 500 Montserrat; MA MAR 504 Morocco; MZ MOZ 508 Mozambique; MM MMR 104 Myanmar; NA NAM 516 Namibia;
NR NRU 520 Nauru; NP NPL 524 Nepal; NL NLD 528 Netherlands (Kingdom of the); NC NCL 540 New Caledonia; NZ NZL 554 New Zealand;
NI NIC 558 Nicaragua; NE NER 562 Niger (the); NG NGA 566 Nigeria; NU NIU 570 Niue; NF NFK 574 Norfolk Island; MK MKD 807 North Macedonia;
MP MNP 580 Northern Mariana Islands (the); NO NOR 578 Norway; OM OMN 512 Oman; PK PAK 586 Pakistan; PW PLW 585 Palau;
PS PSE 275 Palestine, State of; PA PAN 591 Panama; PG PNG 598 Papua New Guinea; PY PRY 600 Paraguay; PE PER 604 Peru;
PH PHL 608 Philippines (the); PN PCN 612 Pitcairn; PL POL 616 Poland; PT PRT 620 Portugal; PR PRI 630 Puerto Rico; QA QAT 634 Qatar;
RO ROU 642 Romania; RU RUS 643 Russian Federation (the); RW RWA 646 Rwanda; RE REU 638 Réunion; BL BLM 652 Saint Barthélemy;
SH SHN 654 Saint Helena, Ascension and Tristan da Cunha; KN KNA 659 Saint Kitts and Nevis; LC LCA 662 Saint Lucia;
MF MAF 663 Saint Martin (French part); PM SPM 666 Saint Pierre and Miquelon; VC VCT 670 Saint Vincent and the Grenadines; WS WSM 882 Samoa;
SM SMR 674 San Marino; ST STP 678 Sao Tome and Principe; SA SAU 682 Saudi Arabia; SN SEN 686 Senegal; RS SRB 688 Serbia;
SC SYC 690 Seychelles; SL SLE 694 Sierra Leone; SG SGP 702 Singapore; SX SXM 534 Sint Maarten (Dutch part); SK SVK 703 Slovakia;
SI SVN 705 Slovenia; SB SLB 090 Solomon Islands; SO SOM 706 Somalia; ZA ZAF 710 South Africa;
GS SGS 239 South Georgia and the South Sandwich Islands; SS SSD 728 South Sudan; ES ESP 724 Spain; LK LKA 144 Sri Lanka;
SD SDN 729 Sudan (the); SR SUR 740 Suriname; SJ SJM 744 Svalbard and Jan Mayen; SE SWE 752 Sweden; CH CHE 756 Switzerland;
SY SYR 760 Syrian Arab Republic; TW TWN 158 Taiwan (Province of China); TJ TJK 762 Tajikistan; TZ TZA 834 Tanzania, the United Republic of;
TH THA 764 Thailand; TL TLS 626 Timor-Leste; TG TGO 768 Togo; TK TKL 772 Tokelau; TO TON 776 Tonga; TT TTO 780 Trinidad and Tobago;
TN TUN 788 Tunisia; TM TKM 795 Turkmenistan; TC TCA 796 Turks and Caicos Islands (the); TV TUV 798 Tuvalu; TR TUR 792 Türkiye;
UG UGA 800 Uganda; UA UKR 804 Ukraine; AE ARE 784 United Arab Emirates (the);
GB GBR 826 United Kingdom of Great Britain and Northern Ireland (the); US USA 840 United States of America (the);
UM UMI 581 United States Minor Outlying Islands (the); UY URY 858 Uruguay; UZ UZB 860 Uzbekistan; VU VUT 548 Vanuatu;
VE VEN 862 Venezuela (Bolivarian Republic of); VN VNM 704 Viet Nam; VG VGB 092 Virgin Islands (British); VI VIR 850 Virgin Islands (U.S.);
WF WLF 876 Wallis and Futuna; EH ESH 732 Western Sahara; YE YEM 887 Yemen; ZM ZMB 894 Zambia; ZW ZWE 716 Zimbabwe; AX ALA 248 Åland Islands`

// everydayCountries are names that the list does not have, by the code of two letters.
const everydayCountries = `
AG Antigua & Barbuda; AX Aland Islands; BA Bosnia & Herzegovina; BL St. Barthélemy; BL Saint Barthelemy; BN Brunei; BO Bolivia;
BQ Caribbean Netherlands; CD Democratic Republic of the Congo; CD The Democratic Republic of the Congo; CD DR Congo; CG Congo;
CG Republic of the Congo; CI Cote d'Ivoire; CI Côte d’Ivoire; CI Ivory Coast; CV Cape Verde; CW Curacao; CZ Czech Republic;
FK Falkland Islands; FK Falkland Islands (Malvinas); FM Micronesia; FM Federated States of Micronesia; GB United Kingdom; GB Great Britain;
GM The Gambia; HK Hong Kong; IR Iran; IR Islamic Republic of Iran; KN St. Kitts & Nevis; KP North Korea; KP Democratic People’s Republic of Korea;
KR South Korea; KR Republic of Korea; LA Laos; LC St. Lucia; LY Libya; MD Moldova; MD Republic of Moldova; MF Saint Martin; MK Macedonia; MM Burma;
MO Macau; NL Netherlands; NL The Netherlands; NL the  netherlands; NL Kingdom of the Netherlands; PN Pitcairn Islands; PS Palestine;
PS State of Palestine; RE Reunion; RU Russia; SH Saint Helena; ST São Tomé and Príncipe; SX Sint Maarten; SY Syria; SZ Swaziland; TL East Timor;
TR Turkey; TR Turkiye; TW Taiwan; TZ Tanzania; TZ United Republic of Tanzania; US United States; US the United States; US UNITED  STATES   OF AMERICA;
VA Vatican City; VA Vatican; VE Venezuela; VE Bolivarian Republic of Venezuela; VG British Virgin Islands; VI U.S. Virgin Islands; VN Vietnam`

// country is a country as a client may send it, and its code.
type country struct {
	form any
	code string
}

// qualification is what ISO 3166-1 writes after a name, in one of two ways.
var qualification = regexp.MustCompile(` \(([^()]+)\)$`)

// everyForm are all countries in all forms.
func everyForm(t *testing.T) (all []country) {
	codes := map[string]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(isoCountries), ";") {
		parts := strings.SplitN(strings.TrimSpace(line), " ", 4)
		two, three, code, name := parts[0], parts[1], parts[2], parts[3]
		number, err := strconv.Atoi(code)
		require.NoError(t, err)
		codes[two] = code
		plain := strings.ReplaceAll(strings.TrimSuffix(name, " (the)"), "(the ", "(")
		for _, form := range []any{
			number, strconv.Itoa(number), code, two, strings.ToLower(two), three, strings.ToLower(three),
			name, qualification.ReplaceAllString(name, ", $1"), plain, qualification.ReplaceAllString(plain, ", $1"), strings.ToUpper(plain), "the " + plain,
		} {
			all = append(all, country{form, code})
		}
	}
	require.Len(t, codes, 249)
	for line := range strings.SplitSeq(strings.TrimSpace(everydayCountries), ";") {
		two, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		require.Contains(t, codes, two)
		all = append(all, country{name, codes[two]})
	}
	return all
}

// TestEveryCountry: of ISO 3166-1, by each of its codes and by its names; the short size draws
// three forms of each country.
func TestEveryCountry(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@example.org")[0]
	for part := range slices.Chunk(drawn(t, everyForm(t), it.Size(3, 20)), 100) {
		updates := make([]object, len(part))
		for i, c := range part {
			updates[i] = it.Updating(id, object{"address_country": c.form})
		}
		o := p.Bulk(updates...)
		for i, c := range part {
			require.Equal(t, c.code, o.Data(t, i)["address_country"], "%v", c.form)
		}
		require.Equal(t, part[len(part)-1].code, p.Get(200, id)["address_country"])
	}
}

// drawn returns so many forms of each country, drawn by the seed of the test.
func drawn(t *testing.T, all []country, forms int) (few []country) {
	t.Helper()
	r := it.Source(it.Seed(t), 0)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	taken := map[string]int{}
	for _, c := range all {
		if taken[c.code]++; taken[c.code] <= forms {
			few = append(few, c)
		}
	}
	return few
}

// TestWhatIsNoCountry: neither what looks like a name, nor codes that ISO 3166-1 has
// withdrawn, reserved or left to users.
func TestWhatIsNoCountry(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@example.org")[0]
	var updates []object
	for form := range strings.SplitSeq(`.de|de.|D E|D-E|Ger-many|Ger many|Ger.many|Germany.|Germ(the)any|Germanya|German|deutschland|GER|SUI|Alemania|Россия|`+
		`Dutch|England|Korea|Virgin Islands|Virgin Islands of the United States|Republic|the|(the)|, the|the the Gambia|Moldova Republic of|Moldova (Republic of|`+
		`USSR|Soviet Union|Yugoslavia|Czechoslovakia|East Germany|GDR|Zaire|Netherlands Antilles|Serbia and Montenegro|Kosovo|`+
		`DD|DDR|BU|BUR|FX|FXX|TP|TMP|AN|ANT|YU|YUG|CS|SCG|SU|SUN|ZR|ZAR|278|530|890|891|810|XK|XKX|900|UK|EL|EU|EUR|UN|AC|AP|ZZ|ZZZ|AA|`+
		`+4|+276|0276|0004|2 76|276.0|2.76e2|0x114|２７６`, "|") {
		updates = append(updates, it.Updating(id, object{"address_country": form}))
	}
	for part := range slices.Chunk(updates, 100) {
		o := p.Bulk(part...)
		for i := range part {
			require.Contains(t, o.PlainError(t, i), "address_country", "%v", part[i])
		}
	}
	for _, form := range []string{".de", "Ger-many", "deutschland", "USSR", "DD", "BU", "FX", "TP"} {
		it.RequireInvalid(t, p.Put(400, id, object{"address_country": form}), "address_country")
	}
	require.Nil(t, p.Get(200, id)["address_country"])
}

func TestCountriesAreTakenInManyForms(t *testing.T) {
	p := NewContacts(t)
	id := p.WithAddresses("ada@example.org")[0]
	for _, german := range []string{
		`276`, `"276"`, `"DE"`, `"de"`, `"DEU"`, `"deu"`, `"Germany"`, `"GERMANY"`, `"germany"`, `" Germany "`, `276.0`, `2.76e2`,
	} {
		require.Nil(t, p.Put(200, id, object{"address_country": nil})["address_country"])
		body := `{"address_country":` + german + `}`
		require.Equal(t, "276", p.Put(200, id, body)["address_country"], german)
		require.Equal(t, "276", p.Get(200, id)["address_country"])
		o := p.Bulk(it.Updating(id, object{"address_country": nil}), it.Updating(id, object{"address_country": json.RawMessage(german)}))
		require.Equal(t, "276", o.Data(t, 1)["address_country"], german)
	}
	for form, code := range map[any]string{4: "004", "4": "004", "04": "004", "af": "004", " 004\t": "004"} {
		require.Equal(t, code, p.Put(200, id, object{"address_country": form})["address_country"], form)
	}
	for _, unknown := range []string{
		`"Atlantis"`, `"XX"`, `"XK"`, `"XKX"`, `"YUG"`, `"AN"`, `"999"`, `999`, `0`, `"0"`, `-276`, `"-276"`, `276.5`, `1e300`, `99999999999999999999`,
		`" "`, `"None"`, `"Unknown"`, `"International"`, `"EU"`, `true`, `["DE"]`, `{}`, `"` + strings.Repeat("x", 10000) + `"`,
	} {
		it.RequireInvalid(t, p.Put(400, id, `{"address_country":`+unknown+`}`), "address_country")
		it.RequireInvalid(t, p.Create(400, `{"email":"new@example.org","address_country":`+unknown+`}`), "address_country")
		p.Bulk(it.Updating(id, object{"address_country": json.RawMessage(unknown)})).PlainError(t, 0)
	}
	require.Equal(t, 1, p.SearchOrganization(object{}).Pagination.TotalResults)
}
