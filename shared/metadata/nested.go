package metadata

import "lectern/shared/wire"

// The shapes of metadata in a session (spec.md section 2.6).

// NestedTag is a tag of a session.
type NestedTag struct {
	ID        string    `json:"id" format:"uuid"`
	Name      string    `json:"name"`
	CreatedAt wire.Time `json:"created_at"`
	UpdatedAt wire.Time `json:"updated_at"`
}

// NestedLevel is the level of a session.
type NestedLevel struct {
	NestedTag
	Order int `json:"order"`
}

// NestedLanguage is the language of a session.
type NestedLanguage struct {
	NestedLevel
	EventID int64 `json:"event_id"`
}

// NestedTrack is the track of a session.
type NestedTrack struct {
	NestedLanguage
	Color *string `json:"color" doc:"As #rrggbb."`
}

// NestedRoom is the room of a session.
type NestedRoom struct {
	NestedLevel
	Capacity *int `json:"capacity"`
}

// NestedFormat is the format of a session.
type NestedFormat struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// Tag shows the entry as the tag of a session.
func (e *Entry) Tag() *NestedTag {
	return &NestedTag{ID: e.ID, Name: e.Name, CreatedAt: e.CreatedAt, UpdatedAt: e.UpdatedAt}
}

// Level shows the entry as the level of a session.
func (e *Entry) Level() *NestedLevel { return &NestedLevel{NestedTag: *e.Tag(), Order: e.Order} }

// Language shows the entry as the language of a session.
func (e *Entry) Language() *NestedLanguage {
	return &NestedLanguage{NestedLevel: *e.Level(), EventID: e.EventID}
}

// Track shows the entry as the track of a session.
func (e *Entry) Track() *NestedTrack {
	return &NestedTrack{NestedLanguage: *e.Language(), Color: e.Color}
}

// Room shows the entry as the room of a session.
func (e *Entry) Room() *NestedRoom {
	return &NestedRoom{NestedLevel: *e.Level(), Capacity: e.Capacity}
}

// Format shows the entry as the format of a session.
func (e *Entry) Format() *NestedFormat { return &NestedFormat{ID: e.ID, Name: e.Name} }
