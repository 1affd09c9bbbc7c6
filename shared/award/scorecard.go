package award

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"lectern/shared/apierr"
)

// Points is a number with two decimals, kept in hundredths so that totals are exact. In JSON it is a number.
type Points int64

// MarshalJSON writes the number with as few decimals as it has.
func (p Points) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(p)/100, 'f', -1, 64), nil
}

// UnmarshalJSON reads a number and rounds it to two decimals.
func (p *Points) UnmarshalJSON(data []byte) error {
	var number float64
	err := json.Unmarshal(data, &number)
	*p = Points(math.Round(number * 100))
	return err
}

// Schema returns the schema of a number.
func (Points) Schema(huma.Registry) *huma.Schema { return &huma.Schema{Type: huma.TypeNumber} }

// Question is a question of a scorecard. A separator is a headline.
type Question struct {
	ID       string   `json:"id,omitempty" format:"uuid" doc:"The question's id; made for a new question."`
	Question string   `json:"question" maxLength:"500" pattern:"\\S" doc:"The text."`
	Type     string   `json:"type" enum:"scale_3,scale_5,scale_10,numeric,dropdown,text,file,separator" doc:"How the question is answered: a whole number from 1, a number from min to max, an option, text, or the address of a file. The last three give no points."`
	Min      *Points  `json:"min,omitempty" minimum:"0" maximum:"1000000" doc:"The least number."`
	Max      *Points  `json:"max,omitempty" minimum:"0" maximum:"1000000" doc:"The greatest number."`
	Weight   *Points  `json:"weight,omitempty" minimum:"0" maximum:"100" doc:"The factor of the points; 1 by default."`
	Options  []Option `json:"options,omitempty" maxItems:"50" doc:"The options of a dropdown."`
}

// Option is an option of a dropdown.
type Option struct {
	Label  string `json:"label" maxLength:"255" pattern:"\\S" doc:"The option."`
	Points Points `json:"points" minimum:"0" maximum:"1000000" doc:"The points of the option."`
}

// scales has the greatest number of the types that count from 1.
var scales = map[string]Points{"scale_3": 3_00, "scale_5": 5_00, "scale_10": 10_00}

// The types of questions with rules of their own.
const (
	numeric   = "numeric"
	dropdown  = "dropdown"
	text      = "text"
	file      = "file"
	separator = "separator"
)

// scored reports whether an answer gives points.
func (q Question) scored() bool { return q.Type != text && q.Type != file && q.Type != separator }

// maxLabels bounds the longest labels of all dropdowns together, in bytes of JSON: a review has one label of each.
const maxLabels = 4_000

// scorecardOf returns the questions with ids, bounds and weights.
func scorecardOf(sent []Question) ([]Question, error) {
	ids, labels := map[string]bool{}, 0
	all := slices.Clone(sent)
	for i := range all {
		q, at := &all[i], fmt.Sprintf("scorecard[%d]", i)
		if q.ID == "" {
			q.ID = uuid.NewString()
		}
		if ids[q.ID] {
			return nil, apierr.Invalid(at+".id", "%s.id is the id of another question.", at)
		}
		ids[q.ID] = true
		if err := q.complete(at); err != nil {
			return nil, err
		}
		if labels += q.longestLabel(); labels > maxLabels {
			return nil, apierr.Invalid(at+".options",
				"The longest labels of all dropdowns together must not be longer than %d bytes of JSON.", maxLabels)
		}
	}
	return append([]Question{}, all...), nil
}

// longestLabel returns the bytes of the longest label; 0 for a question without options.
func (q *Question) longestLabel() (most int) {
	for _, o := range q.Options {
		most = max(most, bytesOf(o.Label))
	}
	return most
}

func (q *Question) complete(at string) error {
	most, scale := scales[q.Type]
	switch least := Points(1_00); {
	case scale:
		q.Min, q.Max = &least, &most
	case q.Type != numeric:
		q.Min, q.Max = nil, nil
	case q.Min == nil:
		return apierr.Invalid(at+".min", "A numeric question needs min.")
	case q.Max == nil || *q.Max <= *q.Min:
		return apierr.Invalid(at+".max", "A numeric question needs a max that is greater than min.")
	}
	if q.Type != dropdown {
		q.Options = nil
	} else if err := checkOptions(at, q.Options); err != nil {
		return err
	}
	if one := Points(1_00); !q.scored() {
		q.Weight = nil
	} else if q.Weight == nil {
		q.Weight = &one
	}
	return nil
}

// checkOptions refuses a dropdown without options or with the same label twice.
func checkOptions(at string, options []Option) error {
	labels := map[string]bool{}
	for i, o := range options {
		if labels[o.Label] {
			return apierr.Invalid(fmt.Sprintf("%s.options[%d].label", at, i), "The label %q is there twice.", o.Label)
		}
		labels[o.Label] = true
	}
	if len(options) == 0 {
		return apierr.Invalid(at+".options", "A dropdown needs options.")
	}
	return nil
}
