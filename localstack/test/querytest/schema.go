// Package querytest has a small schema with random records, random queries, and an evaluator that compares each row with each
// condition: the oracle of the query language.
package querytest

import (
	"fmt"
	"math/rand/v2"

	"lectern/shared/query"
)

// Schema has talks on stages with people, one relation of each kind.
var Schema = &query.Schema{Entities: []*query.Entity{
	{
		Name: "talks", Singular: "talk", Aliases: []string{"lectures"}, Key: []string{"id"},
		Columns: []*query.Column{
			{Name: "id", Type: query.String}, {Name: "title", Type: query.String}, {Name: "minutes", Type: query.Float},
			{Name: "open", Type: query.Bool}, {Name: "starts_at", Type: query.Time}, {Name: "day", Type: query.Date},
			{Name: "custom.level", Type: query.String}, {Name: "stage_id", Type: query.String},
		},
		Relations: []query.Relation{{To: "stages", Column: "stage_id", ToColumn: "id"}, {To: "people", Through: "talk_people"}},
	},
	{
		Name: "stages", Singular: "stage", Key: []string{"id"},
		Columns: []*query.Column{{Name: "id", Type: query.String}, {Name: "name", Type: query.String}, {Name: "seats", Type: query.Float}},
	},
	{
		Name: "people", Singular: "person", Key: []string{"id"},
		Columns: []*query.Column{
			{Name: "id", Type: query.String}, {Name: "name", Type: query.String}, {Name: "email", Type: query.String, PII: true},
		},
	},
}}

// Record has the values of a record by column: texts, float64, bool and nil.
type Record map[string]any

// Data are records by entity, and pairs of their numbers by relation.
type Data struct {
	Records map[string][]Record
	Pairs   map[string][][2]int
}

// Draw returns random records with few different values.
func Draw(r *rand.Rand) Data {
	d := Data{Records: map[string][]Record{}, Pairs: map[string][][2]int{}}
	for _, e := range Schema.Entities {
		for i := range 1 + r.IntN(8) {
			record := Record{}
			for _, c := range e.Columns {
				record[c.Name] = value(r, c)
			}
			record["id"] = fmt.Sprintf("%s-%d", e.Singular, i)
			d.Records[e.Name] = append(d.Records[e.Name], record)
		}
	}
	for talk, record := range d.Records["talks"] {
		record["stage_id"] = one(r, nil, any("stage-0"), "stage-1", "stage-9")
		for person := range d.Records["people"] {
			if r.IntN(3) == 0 {
				d.Pairs["talk_people"] = append(d.Pairs["talk_people"], [2]int{talk, person})
			}
		}
	}
	return d
}

func one[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// texts are values of text columns: with capitals, quotes, wildcards and letters of several bytes.
var texts = []string{"", "Go", "go", "GO%", "a_b", "O'Neil", "Zürich", "zÜRICH", "x", `"`, "日本"}

// value returns a random value of a column.
func value(r *rand.Rand, c *query.Column) any {
	if r.IntN(5) == 0 {
		return nil
	}
	switch c.Type {
	case query.Float:
		return one(r, -1.0, 0, 0.5, 20, 45)
	case query.Bool:
		return r.IntN(2) == 0
	case query.Time:
		return one(r, "2027-05-10T09:00:00.000Z", "2027-05-10T00:00:00.000Z", "2027-05-11T09:00:00.000Z")
	case query.Date:
		return one(r, "2027-05-10", "2027-05-11")
	default:
		return one(r, texts...)
	}
}
