package events

import (
	"slices"

	"lectern/shared/bus"
	"lectern/shared/media"
	"lectern/shared/speech"
)

// Options are the options of a deployment that its functions know.
type Options struct {
	// Transcriber turns media into transcriptions, Slides draws the holding slides of sessions. Each has a worker
	// with a queue, whose polling costs money without a request.
	Transcriber, Slides bool
	// Scanner looks for malware in uploads. It has no worker.
	Scanner bool
}

// Every has every option.
var Every = Options{Transcriber: true, Slides: true, Scanner: true}

// Has reports whether all options of another value are on.
func (o Options) Has(all Options) bool {
	return (o.Transcriber || !all.Transcriber) && (o.Slides || !all.Slides) && (o.Scanner || !all.Scanner)
}

// With returns the workers and the rules of a region with options.
func With(o Options) ([]Worker, []Rule) {
	workers, rules := slices.Clone(Workers), slices.Clone(Rules)
	if o.Transcriber {
		workers, rules = append(workers, transcriber), append(rules, transcriptions...)
	}
	if o.Slides {
		workers, rules = append(workers, slides), append(rules, drawings)
	}
	return workers, rules
}

// transcriber is the worker of Options.Transcriber. The output of a long job takes memory, and 20,000
// fragments take minutes.
var transcriber = Worker{Name: Transcriber, Memory: 512, Seconds: 300, Source: Queue, From: Media, Messages: 1, Instances: 5, Chains: true}

// transcriptions are the rules of Options.Transcriber.
var transcriptions = []Rule{
	{Name: Media, Queue: Media, Pattern: published(media.KindCompleted)},
	// AWS tells of the jobs of the whole account; the worker leaves out those of others.
	{Name: Jobs, OfAWS: true, Queue: Media, Pattern: Pattern{
		"source": []string{speech.Source}, "detail-type": []string{speech.JobChanged},
		"detail": Pattern{"TranscriptionJobStatus": []string{speech.JobCompleted, speech.JobFailed}},
	}},
}

// slides is the worker of Options.Slides. A drawing takes a processor for about a second. An instance ends
// before the second round of an erasure.
var slides = Worker{Name: Slides, Memory: 1024, Seconds: 120, Source: Queue, From: Drawings, Messages: 10, Instances: 5, Chains: true}

// drawings is the rule of Options.Slides: the kinds of changes of what a holding slide shows.
var drawings = Rule{Name: Drawings, Queue: Drawings, Pattern: published(
	"session.created", "session.updated", "session.deleted",
	"contact.updated", "contact.deleted", "contact.event.associated", "contact.event.disassociated", bus.EventChanged,
)}
