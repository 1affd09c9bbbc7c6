package slide

import (
	"bytes"
	"image"
	_ "image/jpeg" // A picture may be a JPEG.
	_ "image/png"  // A picture may be a PNG.

	"lectern/shared/apierr"
)

const (
	// maxBackground and maxLogo are the sizes of the largest pictures in bytes. Both together fit into a
	// transaction of the table in base64.
	maxBackground = 2 << 20
	maxLogo       = 512 << 10
	// maxPixels is the number of pixels of the largest picture: twice those of a slide.
	maxPixels = 4 << 20
	// maxSide is the longest side of a picture: to scale a longer one takes hundreds of megabytes.
	maxSide = 8 << 10
)

// Picture describes a picture on the slides of an event.
type Picture struct {
	// Sum is the SHA-256 of the bytes: another picture has another sum.
	Sum    string `json:"sha256"`
	Type   string `json:"type"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int    `json:"size_bytes"`
}

// newPicture checks a picture. The size in pixels is looked at before the picture is decoded, so that a small
// file cannot take much memory. A picture that cannot be decoded to its end is refused.
func newPicture(field string, content []byte, most int) (*Picture, error) {
	if len(content) > most {
		return nil, apierr.Invalid(field, "%s must not be larger than %d bytes.", field, most)
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, apierr.Invalid(field, "%s must be a PNG or a JPEG in base64.", field)
	}
	if size.Width < 1 || size.Height < 1 || size.Width > maxPixels/size.Height {
		return nil, apierr.Invalid(field, "%s must not have more than %d pixels.", field, maxPixels)
	}
	if max(size.Width, size.Height) > maxSide {
		return nil, apierr.Invalid(field, "No side of %s must have more than %d pixels.", field, maxSide)
	}
	if _, _, err := image.Decode(bytes.NewReader(content)); err != nil {
		return nil, apierr.Invalid(field, "%s cannot be decoded: the picture is not complete.", field)
	}
	return &Picture{sumOf(content), "image/" + format, size.Width, size.Height, len(content)}, nil
}
