package demo

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// people has the parts of the contacts: every first name is combined with every last name, and
// no real person has any of these names.
type people struct {
	First, Last       []string
	Titles, Interests []string
	Countries         []any
}

// person returns the names of the n-th contact. Neighbours have different names, and each pair
// occurs once because len(First)+1 and len(Last) have no common factor.
func (p people) person(n int) (first, last string) {
	return p.First[n%len(p.First)], p.Last[(n+n/len(p.First))%len(p.Last)]
}

// count returns the number of contacts.
func (p people) count() int { return len(p.First) * len(p.Last) }

// email returns the address of the n-th contact, which identifies the contact in later runs.
func (p people) email(n int) string {
	first, last := p.person(n)
	return strings.ToLower(first + "." + last + "@speakers.example")
}

// contacts returns the bodies to create the contacts.
func (p plan) contacts() (bodies []map[string]any) {
	for n := range p.People.count() {
		first, last := p.People.person(n)
		employer := p.Accounts[n%len(p.Accounts)][0]
		interest := p.People.Interests[n%len(p.People.Interests)]
		bodies = append(bodies, map[string]any{
			"email": p.People.email(n), "first_name": first, "last_name": last,
			"title": p.People.Titles[n%len(p.People.Titles)], "company": employer,
			"about":           fmt.Sprintf("<p>%s works on %s.</p>", first, interest),
			"address_country": p.People.Countries[n%len(p.People.Countries)],
			"custom_fields":   map[string]any{p.ids["fields"]["Arrival"]: p.days[0].AddDate(0, 0, -n%2).Format(time.DateOnly)},
		})
	}
	return bodies
}

// ensureContacts creates the missing contacts and returns their number.
func (c client) ensureContacts(ctx context.Context, p plan) (made int, err error) {
	type contact struct{ Email string }
	have := map[string]bool{}
	err = pages(ctx, c, c.path("/contacts"), map[string]any{}, func(found contact) bool {
		have[found.Email] = true
		return true
	})
	if err != nil {
		return 0, err
	}
	var missing []map[string]any
	for _, body := range p.contacts() {
		if email, _ := body["email"].(string); !have[email] {
			missing = append(missing, body)
		}
	}
	return len(missing), c.create(ctx, "contacts", missing, func(int, string) {})
}
