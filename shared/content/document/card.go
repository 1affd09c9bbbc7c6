package document

import (
	"image"
	"image/color"

	"lectern/shared/typeset"
)

// The size of a card in pixels, as social networks show cards, and its measures.
const (
	cardWidth  = 1200
	cardHeight = 630
	cardMargin = 72
	cardEdge   = 16
	cardLine   = 1.3
)

// Colors of a card.
var (
	ground = color.RGBA{0xff, 0xff, 0xff, 0xff}
	edge   = color.RGBA{0x1f, 0x4e, 0x79, 0xff}
	ink    = color.RGBA{0x1a, 0x1a, 0x1a, 0xff}
	pale   = color.RGBA{0x59, 0x59, 0x59, 0xff}
)

// Card is a picture of a session.
type Card struct {
	Title string
	// About is the line below the title, and Text the beginning of a summary.
	About, Text string
}

// cardPart is a text of a card, with its most lines.
type cardPart struct {
	text  string
	style typeset.Style
	most  int
	color color.Color
}

// PNG returns the card as a PNG file. It shows as much of the texts as there is room for.
func (c *Card) PNG() ([]byte, error) {
	p, setter := typeset.NewPicture(cardWidth, cardHeight, ground), typeset.NewSetter()
	p.Fill(image.Rect(0, 0, cardEdge, cardHeight), edge)
	y := float64(cardMargin)
	for _, part := range []cardPart{
		{c.Title, typeset.Style{Size: 54, Bold: true}, 3, ink},
		{c.About, typeset.Style{Size: 26}, 1, pale},
		{c.Text, typeset.Style{Size: 30}, 6, ink},
	} {
		lines, err := setter.Lines(Excerpt(part.text, cardCharacters), part.style, cardWidth-2*cardMargin)
		if err != nil {
			return nil, err
		}
		for i, line := range lines {
			if y += line.Size * cardLine; i == part.most || y > cardHeight-cardMargin/2 {
				break
			}
			x := float64(cardMargin)
			if line.RightToLeft {
				x = cardWidth - cardMargin - line.Width
			}
			p.Line(line, x, y, part.color)
		}
		y += cardEdge
	}
	return p.PNG()
}

// cardCharacters is the number of characters of a text for which a card has room.
const cardCharacters = 400

// Excerpt returns the beginning of a text: at most so many characters, cut at a space where there is
// one, with an ellipsis.
func Excerpt(text string, most int) string {
	runes := []rune(text)
	if len(runes) <= most {
		return text
	}
	end := most
	for end > most/2 && runes[end] != ' ' && runes[end] != '\n' {
		end--
	}
	if end == most/2 {
		end = most
	}
	return string(runes[:end]) + "…"
}
