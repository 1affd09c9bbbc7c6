package speech

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The limits of a fragment. A fragment ends with a sentence, a change of the speaker, or a limit.
const (
	maxRunes   = 1000
	maxSeconds = 60
)

// Fragment is a part of the speech.
type Fragment struct {
	Speaker, Text, Language string
	Start, End              float64
}

// output is the output of a job, as Amazon Transcribe writes it.
type output struct {
	Results struct {
		Language string `json:"language_code"`
		Labels   struct {
			Segments []struct {
				Items []struct {
					Start   string `json:"start_time"`
					Speaker string `json:"speaker_label"`
				} `json:"items"`
			} `json:"segments"`
		} `json:"speaker_labels"`
		Items []item `json:"items"`
	} `json:"results"`
}

// item is a word, or a punctuation mark without times.
type item struct {
	Start        string `json:"start_time"`
	End          string `json:"end_time"`
	Speaker      string `json:"speaker_label"`
	Alternatives []struct {
		Content string `json:"content"`
	} `json:"alternatives"`
}

// times returns the start and the end of a word in seconds.
func (i item) times() (start, end float64, err error) {
	start, startErr := strconv.ParseFloat(i.Start, 64)
	end, endErr := strconv.ParseFloat(i.End, 64)
	if startErr != nil || endErr != nil || start < 0 || end < start {
		return 0, 0, fmt.Errorf("speech: the word from %q to %q has no times", i.Start, i.End)
	}
	return start, end, nil
}

// Cut returns the fragments of an output, in the order of the speech. The same output gives the same
// fragments each time.
func Cut(text []byte) ([]Fragment, error) {
	var o output
	if err := json.Unmarshal(text, &o); err != nil {
		return nil, fmt.Errorf("speech: decode an output: %w", err)
	}
	c := cutter{language: o.Results.Language, joined: joins(o.Results.Language)}
	speakers := map[string]string{}
	for _, segment := range o.Results.Labels.Segments {
		for _, i := range segment.Items {
			speakers[i.Start] = i.Speaker
		}
	}
	for _, i := range o.Results.Items {
		if i.Speaker == "" {
			i.Speaker = speakers[i.Start]
		}
		if err := c.add(i); err != nil {
			return nil, err
		}
	}
	c.end()
	return c.all, nil
}

// joins reports whether the words of a language stand without spaces.
func joins(language string) bool {
	code, _, _ := strings.Cut(language, "-")
	return slices.Contains([]string{"zh", "ja", "th"}, code)
}

// cutter cuts items into fragments.
type cutter struct {
	language string
	// joined reports whether no space stands between words.
	joined bool
	all    []Fragment
	// open is the fragment that the next item may continue; it has no text at first.
	open  Fragment
	runes int
	// ended reports whether a sentence has ended.
	ended bool
}

// add adds an item to the open fragment, or ends the fragment and begins the next.
func (c *cutter) add(i item) error {
	if len(i.Alternatives) == 0 || i.Alternatives[0].Content == "" {
		return nil
	}
	word := i.Alternatives[0].Content
	if i.Start == "" {
		c.mark(word)
		return nil
	}
	start, end, err := i.times()
	if err != nil {
		return err
	}
	if c.ended || i.Speaker != c.open.Speaker || c.runes+len([]rune(word)) >= maxRunes || end-c.open.Start > maxSeconds {
		c.end()
	}
	if c.open.Text == "" {
		c.open = Fragment{Speaker: i.Speaker, Language: c.language, Start: start}
	} else if !c.joined {
		word = " " + word
	}
	c.write(word)
	c.open.End = end
	return nil
}

// mark adds a punctuation mark to the open fragment. A mark before the first word is left out.
func (c *cutter) mark(text string) {
	if c.open.Text == "" {
		return
	}
	c.write(text)
	c.ended = strings.ContainsAny(text, ".?!。？！।؟")
}

// write adds text to the open fragment.
func (c *cutter) write(text string) {
	c.open.Text += text
	c.runes += len([]rune(text))
}

// end ends the open fragment.
func (c *cutter) end() {
	if c.open.Text != "" {
		c.all = append(c.all, c.open)
	}
	c.open, c.runes, c.ended = Fragment{}, 0, false
}
