package writer

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"lectern/shared/apierr"
	"lectern/shared/query"
)

// The largest request, in characters and messages.
const (
	maxPrompt   = 2000
	maxMessages = 20
	maxContent  = 4000
)

// The roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is a message of a conversation.
type Message struct {
	Role    string `json:"role" enum:"user,assistant" doc:"Whose message it is."`
	Content string `json:"content" pattern:"\\S" maxLength:"4000" doc:"The text of the message."`
}

// Request asks for a query.
type Request struct {
	// Prompt has the words of a person, in any language.
	Prompt string
	// Conversation has the messages before the prompt, as the client remembers them.
	Conversation []Message
	// Schema has the entities that the query may use.
	Schema *query.Schema
	// Check accepts a query with nil, and refuses it with a *query.Error or a 4xx, whose message the model
	// gets. Any other error ends Write, which returns it.
	Check func(text string) error
}

// validate returns a 400 for a request beyond its bounds.
func (r Request) validate() error {
	if !fits(r.Prompt, maxPrompt) {
		return apierr.Invalid("prompt", "prompt must have 1 to %d characters.", maxPrompt)
	}
	const field = "conversationHistory"
	if len(r.Conversation) > maxMessages {
		return apierr.Invalid(field, "%s must have at most %d messages.", field, maxMessages)
	}
	for i, m := range r.Conversation {
		at := fmt.Sprintf("%s[%d]", field, i)
		if m.Role != RoleUser && m.Role != RoleAssistant {
			return apierr.OneOf(at+".role", RoleUser, RoleAssistant)
		}
		if !fits(m.Content, maxContent) {
			return apierr.Invalid(at+".content", "%s.content must have 1 to %d characters.", at, maxContent)
		}
	}
	return nil
}

// fits reports whether a text has a character other than spaces, and at most so many characters.
func fits(text string, most int) bool {
	return strings.TrimSpace(text) != "" && utf8.RuneCountInString(text) <= most
}

// messages returns the conversation with the prompt.
func (r Request) messages() []Message {
	return append(append(make([]Message, 0, len(r.Conversation)+1), r.Conversation...), Message{RoleUser, r.Prompt})
}

// alternate returns messages as models take them: user and assistant alternate, the user begins, and no
// message is empty. Messages of one role that follow each other become one message.
func alternate(all []Message) (messages []Message) {
	for _, m := range all {
		m.Content = strings.TrimSpace(m.Content)
		last := len(messages) - 1
		switch {
		case m.Content == "", last < 0 && m.Role == RoleAssistant:
		case last >= 0 && messages[last].Role == m.Role:
			messages[last].Content += "\n\n" + m.Content
		default:
			messages = append(messages, m)
		}
	}
	return messages
}
