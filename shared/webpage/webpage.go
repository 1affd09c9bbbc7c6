// Package webpage has the pages of the sign-in and of connections: templates without scripts, and one stylesheet. Package api
// sends a page without a change.
//
// Read webpage.go, scopes.go, the templates.
package webpage

import (
	"bytes"
	"embed"
	"html/template"
	"net/http"
	"net/url"
	"strings"
)

//go:embed templates/*.html
var files embed.FS

//go:embed style.css
var style []byte

// Style returns the stylesheet, at PathStyle.
func Style() []byte { return style }

// PathStyle is the path of the stylesheet.
const PathStyle = "/oauth/style.css"

var templates = template.Must(template.ParseFS(files, "templates/*.html"))

// Page is a page, or the way to another address.
type Page struct {
	Status int
	// Name is the name of the template.
	Name  string
	Title string
	// Base is the path of the region's address.
	Base string
	// Person has signed in; nil for nobody.
	Person *Person
	// Data is for the template.
	Data any
	// To is the next address of the browser. Without Name, the browser goes there at once, without a page.
	To string
	// FormTo is the address to which the answer of a form may send the browser, beside the region.
	FormTo string
	// Cookies are set.
	Cookies []*http.Cookie
}

// Person is a person after the sign-in, with the text that each form repeats.
type Person struct{ Name, Email, FormToken string }

// Write returns the page with its headers.
func (p *Page) Write(h http.Header) (status int, body []byte) {
	for _, c := range p.Cookies {
		h.Add("Set-Cookie", c.String())
	}
	if p.Name == "" {
		h.Set("Location", p.To)
		return p.Status, nil
	}
	if p.To != "" {
		h.Set("Refresh", "0; url="+p.To)
	}
	// The request of a form must name the origin of the page. Under no-referrer, browsers name none.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.policy())
	h.Set("X-Frame-Options", "DENY")
	h.Del("Access-Control-Allow-Origin")
	var text bytes.Buffer
	if err := templates.ExecuteTemplate(&text, p.Name, p); err != nil {
		panic("webpage: " + err.Error()) // The pipeline answers 500, and logs it.
	}
	return p.Status, text.Bytes()
}

// policy allows the stylesheet, and forms of the region whose answers lead to FormTo.
func (p *Page) policy() string {
	return "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'" + originOf(p.FormTo)
}

// originOf returns the origin of an address, for a policy. A policy has no word for an address of IPv6, and an address of an installed
// application is its scheme alone.
func originOf(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "":
		return ""
	case u.Host == "" || strings.Contains(u.Host, "["):
		return " " + u.Scheme + ":"
	}
	return " " + u.Scheme + "://" + u.Host
}
