package child

import (
	"strings"
	"sync"
)

// outputSize is the number of bytes of a process's messages to keep for errors.
const outputSize = 4096

// Output keeps the first messages of a process.
type Output struct {
	word  string
	mu    sync.Mutex
	text  strings.Builder
	ready chan struct{}
	once  sync.Once
}

// NewOutput returns an empty Output that waits for a text.
func NewOutput(word string) *Output { return &Output{word: word, ready: make(chan struct{})} }

// Ready returns a channel that is closed once the messages contain the text.
func (o *Output) Ready() <-chan struct{} { return o.ready }

// Write keeps the first outputSize bytes.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.text.Len() < outputSize {
		o.text.Write(p)
		if strings.Contains(o.text.String(), o.word) {
			o.once.Do(func() { close(o.ready) })
		}
	}
	return len(p), nil
}

// String returns the kept messages.
func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(o.text.String())
}
