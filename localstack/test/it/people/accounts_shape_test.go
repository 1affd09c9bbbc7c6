package people_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lectern/localstack/test/it"
)

// accountTexts are the standard fields of an account with a value each, under
// their read names and in their order.
var accountTexts = [][2]string{
	{"name", "Acme & Söhne"}, {"description", "<p>All & <b>everything</b></p>"},
	{"logo_image_url", "https://example.org/logo.png"}, {"banner_image_url", "https://example.org/banner.png"},
	{"phone", "+49 30 1234567"}, {"address_line_1", "Street 1"}, {"address_line_2", "Yard"}, {"address_city", "Berlin"},
	{"address_state", "BE"}, {"address_postal_code", "10115"}, {"address_coutnry", "276"},
	{"website_url", "https://example.org/?a=1&b=2"}, {"facebook_url", "https://facebook.example/a"},
	{"instagram_url", "https://instagram.example/a"}, {"linkedin_url", "https://linkedin.example/a"},
	{"snapchat_username", "acme.snap"}, {"tiktok_username", "acme.tik"}, {"twitter_url", "https://twitter.example/a"},
}

// accountKeys are the properties of an account as it is read, in order.
var accountKeys = func() []string {
	keys := []string{"id", "friendly_id", "friendly_id_raw"}
	for _, text := range accountTexts {
		keys = append(keys, text[0])
	}
	return append(keys, "created_at", "updated_at", "custom_fields", "contacts", "admin_url")
}()

// everyText is a body with every standard field.
func everyText() object {
	body := object{}
	for _, text := range accountTexts {
		body[text[0]] = text[1]
	}
	return body
}

func TestAccountShowsEveryField(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		answer := s.call(200, http.MethodPost, "/create", everyText())
		made := entity(answer.JSON(t))
		require.Equal(t, accountKeys, keysInOrder(t, answer.Body))
		require.NoError(t, uuid.Validate(made.ID()))
		require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, made["created_at"])
		want := it.Merged(everyText(), object{
			"id": made.ID(), "friendly_id": "ACCT-1", "friendly_id_raw": 1.0, "created_at": made["created_at"], "updated_at": made["created_at"],
			"custom_fields": []any{}, "contacts": []any{}, "admin_url": nil,
		})
		require.Equal(t, entity(want), made)
		read := s.call(200, http.MethodGet, "/"+made.ID(), nil)
		require.Equal(t, string(answer.Body), string(read.Body), "a GET shows what the create answered")
		require.Equal(t, []entity{made}, s.search(object{}).Results)
		require.Equal(t, made, without(s.bulk(it.Updating(made.ID(), object{"name": made["name"], "updated_at": made["updated_at"]})).Data(t, 0), made))
	})
}

// without is the record with the updated_at of another one.
func without(r entity, other entity) entity {
	return it.Merged(r, object{"updated_at": other["updated_at"]})
}

func TestAccountKeysFollowTheSpecification(t *testing.T) {
	documented := []string{
		"id", "friendly_id", "friendly_id_raw", "name", "description", "logo_image_url", "address_city", "address_state",
		"address_coutnry", "website_url", "created_at", "updated_at", "custom_fields", "translated_fields", "contacts", "admin_url",
	}
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		keys := keysInOrder(t, s.call(200, http.MethodGet, "/"+id+"?expand=translated_fields", nil).Body)
		require.Equal(t, documented, slices.DeleteFunc(keys, func(name string) bool { return !slices.Contains(documented, name) }))
		gone := keysInOrder(t, s.call(200, http.MethodDelete, "/"+id, nil).Body)
		require.Equal(t, append(slices.Clone(accountKeys), "deleted_at"), gone)
	})
}

func TestAccountOfANameAlone(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		made := s.create(200, object{"name": "Bare"})
		require.ElementsMatch(t, accountKeys, made.Keys())
		for _, text := range accountTexts[1:] {
			require.Nil(t, made[text[0]], text[0])
		}
		require.NotContains(t, made, "address_country")
		require.NotContains(t, made, "translated_fields")
	})
}

func TestAccountTextsAreWrittenOneByOneAndCleared(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		want := s.create(200, object{"name": "A"})
		id := want.ID()
		single := func(body object) entity { return s.put(200, id, body) }
		inBulk := func(body object) entity { return s.bulk(it.Updating(id, body)).Data(t, 0) }
		for i, text := range accountTexts {
			write, erase := single, inBulk
			if i%2 == 0 {
				write, erase = inBulk, single
			}
			changed := write(object{text[0]: text[1]})
			require.Greater(t, changed["updated_at"], want["updated_at"])
			maps.Copy(want, entity{text[0]: text[1], "updated_at": changed["updated_at"]})
			require.Equal(t, want, changed, text[0])
			require.Equal(t, want, s.get(200, id))
			require.Equal(t, []entity{want}, s.search(object{}).Results)
			if text[0] == "name" {
				continue
			}
			changed = erase(object{text[0]: nil})
			maps.Copy(want, entity{text[0]: nil, "updated_at": changed["updated_at"]})
			require.Equal(t, want, changed, "null clears "+text[0])
		}
		made := s.bulk(it.Creating(everyText())).Data(t, 0)
		for _, text := range accountTexts {
			require.Equal(t, text[1], made[text[0]])
		}
	})
}

func TestAccountsIgnoreWhatIsComputedOrUnknown(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		computed := object{
			"id": uuid.NewString(), "friendly_id": "ACCT-99", "friendly_id_raw": 99, "created_at": "x", "admin_url": "x", "nothing": 1,
			"translated_fields": 1, "deleted_at": 1,
		}
		made := s.create(200, it.Merged(computed, object{"name": "A"}))
		require.NotEqual(t, computed["id"], made.ID())
		require.Equal(t, "ACCT-1", made["friendly_id"])
		changed := s.put(200, made.ID(), computed)
		require.Equal(t, made, without(changed, made))
	})
}

func TestAccountCountryIsShownAsThreeDigits(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		for _, name := range []string{"address_country", "address_coutnry"} {
			for _, sent := range []any{276, "276", "DE", "de", "DEU", "Germany", "germany"} {
				s.put(200, id, object{name: nil})
				require.Equal(t, "276", s.put(200, id, object{name: sent})["address_coutnry"], "%v", sent)
				require.Equal(t, "276", s.create(200, object{"name": "B", name: sent})["address_coutnry"])
			}
			for _, short := range []any{8, "8", "008", "Albania"} {
				require.Equal(t, "008", s.put(200, id, object{name: short})["address_coutnry"], "%v", short)
			}
			for _, wrong := range []any{"Atlantis", 0, 999999, "XX", "27", -276} {
				it.RequireInvalid(t, s.put(400, id, object{name: wrong}), name)
				it.RequireInvalid(t, s.create(400, object{"name": "B", name: wrong}), name)
				s.bulk(it.Updating(id, object{name: wrong})).Failed(t, 0, "VALIDATION_ERROR", name)
			}
			for _, wrong := range []any{true, 1.5, []string{"DE"}, object{}} {
				it.RequireInvalid(t, s.put(400, id, object{name: wrong}), name)
			}
			require.Equal(t, "008", s.get(200, id)["address_coutnry"])
		}
	})
}

func TestAccountCountryIsTakenUnderBothNames(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		same := object{"address_country": "DE", "address_coutnry": "DE"}
		require.Equal(t, "276", s.put(200, id, same)["address_coutnry"])
		differ := object{"address_country": "DE", "address_coutnry": "FR"}
		it.RequireInvalid(t, s.put(400, id, differ), "address_coutnry")
		it.RequireInvalid(t, s.put(400, id, object{"address_country": "DE", "address_coutnry": nil}), "address_coutnry")
		it.RequireInvalid(t, s.create(400, it.Merged(differ, object{"name": "B"})), "address_coutnry")
		s.bulk(it.Updating(id, differ)).Failed(t, 0, "VALIDATION_ERROR", "address_coutnry")
		require.Equal(t, "276", s.get(200, id)["address_coutnry"])
		require.Nil(t, s.put(200, id, object{"address_country": nil, "address_coutnry": nil})["address_coutnry"])
	})
}

func TestAccountTextsUpToTheirLimits(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		id := s.named("A")[0]
		limits := map[string]int{"description": 64 << 10}
		for _, text := range accountTexts {
			if strings.HasPrefix(text[0], "address_cou") || text[0] == "phone" {
				continue
			}
			most := limits[text[0]]
			if most == 0 {
				most = 255
			}
			fits := "https://example.org/"
			fits += strings.Repeat("x", most-len(fits))
			require.Equal(t, fits, s.put(200, id, object{text[0]: fits})[text[0]])
			it.RequireInvalid(t, s.put(400, id, object{text[0]: fits + "x"}), text[0])
			it.RequireInvalid(t, s.create(400, it.Merged(object{"name": "B"}, object{text[0]: fits + "x"})), text[0])
		}
		require.Equal(t, 1, s.search(object{}).Pagination.TotalResults)
	})
}

func TestWrongAccountTexts(t *testing.T) {
	inBothRoles(t, func(t *testing.T, s *accountClient) {
		kept := s.create(200, everyText())
		wrong := map[string][]any{"phone": {"phone", "+"}}
		for _, name := range []string{"logo_image_url", "banner_image_url"} {
			wrong[name] = []any{"http://example.org/a.png", "ftp://example.org/a.png", "a.png", "https://", "javascript:alert(1)"}
		}
		for _, text := range accountTexts {
			wrong[text[0]] = append(wrong[text[0]], true, 1.5, []string{"x"}, object{})
			if text[0] != "address_coutnry" {
				wrong[text[0]] = append(wrong[text[0]], 5)
			}
		}
		for name, values := range wrong {
			for _, value := range values {
				it.RequireInvalid(t, s.put(400, kept.ID(), object{name: value}), name)
				it.RequireInvalid(t, s.create(400, it.Merged(object{"name": "B"}, object{name: value})), name)
				s.bulk(it.Updating(kept.ID(), object{name: value})).Failed(t, 0, "VALIDATION_ERROR", name)
			}
		}
		require.Equal(t, []entity{kept}, s.search(object{}).Results)
	})
}
