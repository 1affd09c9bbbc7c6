package demo

import (
	"context"
	"fmt"
	"html"
	"strings"
)

// The first accounts are sponsors, the last are exhibitors; accounts between the two numbers
// are both.
const (
	sponsorsTo     = 15
	exhibitorsFrom = 9
)

// accountKinds lists the roles of accounts, each with the role that an existing account may
// have.
var accountKinds = []struct{ kind, other string }{{"sponsors", "exhibitors"}, {"exhibitors", "sponsors"}}

// holders returns the indexes of the accounts in a role.
func (p plan) holders(kind string) (all []int) {
	for n := range p.Accounts {
		if kind == "sponsors" && n < sponsorsTo || kind == "exhibitors" && n >= exhibitorsFrom {
			all = append(all, n)
		}
	}
	return all
}

// account returns the body to create the n-th account.
func (p plan) account(n int) map[string]any {
	name, about := p.Accounts[n][0], p.Accounts[n][1]
	site := strings.ToLower(strings.ReplaceAll(name, " ", "-")) + ".example"
	body := map[string]any{
		"name": name, "description": "<p>" + html.EscapeString(about) + "</p>", "website_url": "https://" + site,
		"address_country": p.People.Countries[n%len(p.People.Countries)],
		"custom_fields":   map[string]any{p.ids["fields"]["Booth"]: fmt.Sprintf("%c%d", 'A'+n/9, n%9+1)},
	}
	if n%3 == 0 {
		return body
	}
	var contacts []map[string]any
	for i := range 1 + n%3 {
		// The employees; the first is the primary contact.
		contacts = append(contacts, map[string]any{"email": p.People.email(n + i*len(p.Accounts)), "is_primary": i == 0})
	}
	body["contacts"] = contacts
	return body
}

// ensureAccounts creates the missing sponsors and exhibitors, returns the number of each, and
// stores all ids in the plan.
func (c client) ensureAccounts(ctx context.Context, p plan) (made map[string]int, err error) {
	for _, role := range accountKinds {
		if p.ids[role.kind], err = c.accounts(ctx, role.kind); err != nil {
			return nil, err
		}
	}
	made = map[string]int{}
	for _, role := range accountKinds {
		have := p.ids[role.kind]
		var missing []map[string]any
		var names []string
		for _, n := range p.holders(role.kind) {
			name := p.Accounts[n][0]
			if have[name] != "" {
				continue
			}
			body := p.account(n)
			if id := p.ids[role.other][name]; id != "" {
				body = map[string]any{"account_id": id}
			}
			missing, names = append(missing, body), append(names, name)
		}
		made[role.kind] = len(missing)
		if err := c.create(ctx, role.kind, missing, func(i int, id string) { have[names[i]] = id }); err != nil {
			return made, err
		}
	}
	return made, nil
}

// accounts returns the ids of the accounts in a role, by name.
func (c client) accounts(ctx context.Context, kind string) (map[string]string, error) {
	type account struct{ ID, Name string }
	ids := map[string]string{}
	err := pages(ctx, c, c.path("/"+kind), map[string]any{}, func(a account) bool {
		ids[a.Name] = a.ID
		return true
	})
	return ids, err
}
