package transcribe

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"time"

	"lectern/shared/blob"
)

// text is the output of each job: two speakers who say that they are a stand-in.
//
//go:embed text.json
var text []byte

// writeTime limits the writing of an output.
const writeTime = 10 * time.Second

// write writes the output of a job into the bucket.
func (s *StandIn) write(key string) error {
	ctx, cancel := context.WithTimeout(context.Background(), writeTime)
	defer cancel()
	content := text
	if s.Output != nil {
		content = s.Output
	}
	store := s.Bucket.Store()
	if err := store.Delete(ctx, key); err != nil { // A job that is started again writes its output again.
		return err
	}
	signed, err := store.Put(ctx, blob.Upload{Key: key, Type: "application/json", Size: int64(len(content))}, writeTime)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, signed.Method, signed.URL, bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("transcribe: %w", err)
	}
	for name, value := range signed.Headers {
		request.Header.Set(name, value)
	}
	sent, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("transcribe: write an output: %w", err)
	}
	defer sent.Body.Close()
	if sent.StatusCode != http.StatusOK {
		return fmt.Errorf("transcribe: write an output: the bucket answers %s", sent.Status)
	}
	return nil
}
