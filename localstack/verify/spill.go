package verify

import (
	"bufio"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
)

// parts is how many files a table is kept in, by organization.
const parts = 64

// spill keeps items on disk. They are encrypted under a key that is in memory alone: a
// process that is killed leaves nothing that can be read.
type spill struct {
	dir     string
	block   cipher.Block
	files   [parts]*os.File
	buffers [parts]*bufio.Writer
	encoder [parts]*gob.Encoder
}

func newSpill() (*spill, error) {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	s := &spill{block: block}
	if s.dir, err = os.MkdirTemp("", "lectern-verify-"); err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	for part := range parts {
		if s.files[part], err = os.Create(filepath.Join(s.dir, strconv.Itoa(part))); err != nil {
			return nil, errors.Join(fmt.Errorf("verify: %w", err), s.close())
		}
		s.buffers[part] = bufio.NewWriterSize(cipher.StreamWriter{S: s.stream(part), W: s.files[part]}, 64<<10)
		s.encoder[part] = gob.NewEncoder(s.buffers[part])
	}
	return s, nil
}

// stream is the cipher of a part: a counter that begins elsewhere for each.
func (s *spill) stream(part int) cipher.Stream {
	begin := binary.BigEndian.AppendUint64(nil, uint64(part)) //nolint:gosec // it is from 0 to 63
	return cipher.NewCTR(s.block, append(begin, make([]byte, aes.BlockSize-len(begin))...))
}

// put keeps an item of an organization.
func (s *spill) put(org int64, item Item) error {
	if err := s.encoder[org%parts].Encode(item); err != nil {
		return fmt.Errorf("verify: keep an item: %w", err)
	}
	return nil
}

// read gives all items of a part, after the last one was put.
func (s *spill) read(part int, give func(Item)) error {
	file := s.files[part]
	if err := s.buffers[part].Flush(); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	decoder := gob.NewDecoder(bufio.NewReaderSize(cipher.StreamReader{S: s.stream(part), R: file}, 64<<10))
	for {
		var item Item
		switch err := decoder.Decode(&item); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("verify: read an item again: %w", err)
		}
		give(item)
	}
}

// close removes everything.
func (s *spill) close() error {
	for _, file := range s.files {
		if file != nil {
			_ = file.Close() // It is removed.
		}
	}
	return os.RemoveAll(s.dir)
}
