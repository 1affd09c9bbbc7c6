package webhook

// Kinds are the published kinds of change that an endpoint can take (gaps.md section 10).
var Kinds = []string{
	"contact.created", "contact.updated", "contact.deleted", "contact.event.associated", "contact.event.disassociated",
	"session.created", "session.updated", "session.deleted", "session.speaker.attached", "session.speaker.detached",
	"exhibitor.created", "exhibitor.updated", "exhibitor.deleted", "exhibitor.event.associated", "exhibitor.event.disassociated",
	"sponsor.created", "sponsor.updated", "sponsor.deleted", "sponsor.event.associated", "sponsor.event.disassociated",
}

// Ping is the kind of the delivery that tests an endpoint. No endpoint can select it.
const Ping = "webhook.ping"
