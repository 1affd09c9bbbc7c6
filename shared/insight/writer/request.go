package writer

import (
	"strings"

	"lectern/shared/query"
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

// Request asks for a query. The document of the API bounds the lengths.
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
