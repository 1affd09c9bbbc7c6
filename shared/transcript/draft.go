package transcript

import (
	"fmt"

	"lectern/shared/apierr"
	"lectern/shared/wire"
)

const (
	// maxText is the length of a text in bytes, and maxBytes that of a transcription in JSON.
	maxText  = 64 << 10
	maxBytes = 100 << 10
)

// Draft has the properties of a transcription that a client may write.
type Draft struct {
	Type          wire.Opt[Type]    `json:"type,omitzero" create:"required" enum:"fragment,summary,insight,translation" nullable:"false" doc:"The type. It cannot be changed afterwards."`
	Transcription wire.Opt[string]  `json:"transcription,omitzero" nullable:"false" maxLength:"65536" doc:"The text, at most 64 KB."`
	Speaker       wire.Opt[string]  `json:"speaker,omitzero" maxLength:"255" doc:"The speaker."`
	IsPartial     wire.Opt[bool]    `json:"is_partial,omitzero" nullable:"false" doc:"Whether the text is a first version that another fragment replaces. Lists and content leave such a text out."`
	Provider      wire.Opt[string]  `json:"provider,omitzero" maxLength:"64" doc:"The source of the text."`
	LanguageCode  wire.Opt[string]  `json:"language_code,omitzero" maxLength:"35" pattern:"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$" patternDescription:"a language code such as en or pt-BR" doc:"The language of the text."`
	StartTime     wire.Opt[float64] `json:"start_time,omitzero" minimum:"0" maximum:"10000000" doc:"The start in seconds from the start of the recording."`
	EndTime       wire.Opt[float64] `json:"end_time,omitzero" minimum:"0" maximum:"10000000" doc:"The end in seconds, not before the start."`
	SourceID      wire.Opt[string]  `json:"source_transcription_id,omitzero" format:"uuid" doc:"The transcription that a translation translates, of the same session and of another type. A translation needs it; the other types have none."`
}

// check returns the 400 of a draft that no session could take.
func (d *Draft) check() error {
	if len(d.Transcription.Value) > maxText {
		return apierr.Invalid("transcription", "transcription must not be longer than %d bytes.", maxText)
	}
	return nil
}

// apply writes the draft into a transcription, and returns the 400 of a property that breaks a
// rule. Type is empty in a new transcription.
func (d *Draft) apply(t *Transcription) error {
	if t.Type != "" && d.Type.Sent && d.Type.Value != t.Type {
		return apierr.Invalid("type", "type cannot be changed.")
	}
	d.Type.Into(&t.Type)
	d.Transcription.Into(&t.Transcription)
	d.Speaker.IntoPointer(&t.Speaker)
	d.IsPartial.Into(&t.IsPartial)
	d.Provider.IntoPointer(&t.Provider)
	d.LanguageCode.IntoPointer(&t.LanguageCode)
	d.StartTime.IntoPointer(&t.StartTime)
	d.EndTime.IntoPointer(&t.EndTime)
	d.SourceID.IntoPointer(&t.SourceID)
	return t.check()
}

// check returns the 400 of a transcription that breaks a rule.
func (t *Transcription) check() error {
	switch {
	case t.Type == Translation && t.SourceID == nil:
		return apierr.Invalid(fieldSource, "A translation needs %s.", fieldSource)
	case t.Type != Translation && t.SourceID != nil:
		return apierr.Invalid(fieldSource, "Only a translation has a %s.", fieldSource)
	case t.EndTime != nil && t.StartTime == nil:
		return apierr.Invalid("start_time", "start_time must be set where end_time is.")
	case t.EndTime != nil && *t.EndTime < *t.StartTime:
		return apierr.Invalid("end_time", "end_time must not be before start_time.")
	case t.bytes() > maxBytes:
		return apierr.Invalid("transcription", "transcription must not be longer than %d bytes of JSON.", maxBytes)
	}
	return nil
}

// fieldSource names the property of a translation's source.
const fieldSource = "source_transcription_id"

// checkSource returns the 400 of a translation whose source is not there or a translation.
func checkSource(source *Transcription) error {
	if source == nil {
		return apierr.Invalid(fieldSource, "%s must be a transcription of the session.", fieldSource)
	}
	if source.Type == Translation {
		return apierr.Invalid(fieldSource, "%s must not be a translation.", fieldSource)
	}
	return nil
}

// hasTranslations returns the 409 of the deletion of a source.
func hasTranslations(number int) error {
	message := fmt.Sprintf("The transcription has %d translations. Delete these first.", number)
	return apierr.Conflict("HAS_TRANSLATIONS", message).With("count", number)
}
