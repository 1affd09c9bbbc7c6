package party

import (
	"lectern/shared/api"
	"lectern/shared/search"
)

// Expand is whether an answer adds translated_fields.
type Expand bool

const translated = "translated_fields"

// Expanding is the part of an input that asks for more than a record has by itself.
type Expanding struct {
	Expand api.Strings `query:"expand" enum:"translated_fields" doc:"What to add to the answer."`
}

// Translated is whether translated_fields are asked for.
func (x Expanding) Translated() Expand { return Expand(x.Expand.Has(translated)) }

// SearchBody is the body of a search of people or accounts; F are its filters.
type SearchBody[F any] struct {
	Filters F                           `json:"filters,omitzero" doc:"All of them must match."`
	Sort    search.Sort[search.ByTimes] `json:"sort,omitzero"`
	Expand  api.Strings                 `json:"expand,omitempty" enum:"translated_fields" doc:"What to add to each result."`
	_       struct{}                    `json:"-" additionalProperties:"true"`
}

// Translated is whether translated_fields are asked for.
func (b *SearchBody[F]) Translated() Expand { return Expand(b.Expand.Has(translated)) }
