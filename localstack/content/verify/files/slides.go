package files

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"lectern/localstack/content/verify/raw"
	"lectern/shared/session"
	"lectern/shared/slide"
)

const (
	// drawn is longer than it takes from a change to the drawing, also of the last session of a large event.
	drawn = time.Hour
	// full is about the size of a record that may have no room for a slide: the largest has 150 KB.
	full = 148 << 10
)

// AddSlides adds the setup of holding slides, or a part of a picture.
func (i *Items) AddSlides(item raw.Item) {
	if item.SK == "-" {
		set, err := slide.DecodeConfig(stored(item))
		if err != nil {
			i.problem("the holding slides cannot be read")
			return
		}
		i.slides = set
		return
	}
	var part struct {
		Content []byte `json:"content"`
	}
	if err := json.Unmarshal([]byte(item.Data), &part); err != nil {
		i.problem("the part %s of a picture cannot be read", item.SK)
		return
	}
	i.parts[item.SK] = part.Content
}

// Slides returns the setup of holding slides; off without an item.
func (i *Items) Slides() *slide.Config {
	if i.slides == nil {
		return &slide.Config{}
	}
	return i.slides
}

// CheckPictures compares the parts with the pictures of the holding slides.
func (i *Items) CheckPictures() {
	set := i.Slides()
	for name, picture := range map[string]*slide.Picture{"background": set.Background, "logo": set.Logo} {
		if sum := i.sum(name); picture == nil && sum != "" || picture != nil && picture.Sum != sum {
			i.problem("the parts of the %s of the holding slides are of another picture", name)
		}
	}
}

// checkSlides compares the sessions with slides with the accepted sessions. A session of the last hour may wait
// for the drawing, and a session without room has no slide. The texts of a slide are not compared.
func (i *Items) checkSlides(sessions map[string]*session.Body, now time.Time) {
	set := i.Slides()
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		b := sessions[id]
		if now.Sub(b.UpdatedAt.Time) < drawn || now.Sub(set.UpdatedAt.Time) < drawn {
			continue
		}
		wanted, has := set.On && slide.Wanted(b), b.IsSlide(session.SlideID(id))
		if wanted && !has && b.Bytes() < full {
			i.problem("session %s has no holding slide", id)
		}
		if has && !wanted {
			i.problem("session %s has a holding slide and should have none", id)
		}
	}
}

// sum returns the SHA-256 of the parts of a picture; empty without parts.
func (i *Items) sum(name string) string {
	sum, some := sha256.New(), false
	for _, key := range slices.Sorted(maps.Keys(i.parts)) {
		if strings.HasPrefix(key, "P#"+name+"#") {
			sum.Write(i.parts[key])
			some = true
		}
	}
	if !some {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}
