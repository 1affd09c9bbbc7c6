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
	"hash/fnv"
	"io"
	"os"
)

// parts is how many files a table is kept in, by organization.
const parts = 64

// spill keeps items on disk, in files that have no name any more and go with the process.
// They are encrypted under a key that is in memory alone.
type spill struct {
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
	for part := range parts {
		if s.files[part], err = nameless(); err != nil {
			s.close()
			return nil, fmt.Errorf("verify: %w", err)
		}
		s.buffers[part] = bufio.NewWriterSize(cipher.StreamWriter{S: s.stream(part), W: s.files[part]}, 64<<10)
		s.encoder[part] = gob.NewEncoder(s.buffers[part])
	}
	return s, nil
}

// nameless is a new file without a name.
func nameless() (*os.File, error) {
	file, err := os.CreateTemp("", "lectern-verify-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// partOf is the part that an organization is kept in. Ids of organizations are given from
// one running number with others, so that they may all have the same remainder.
func partOf(org int64) int {
	h := fnv.New32a()
	fmt.Fprint(h, org)
	return int(h.Sum32() % parts)
}

// stream is the cipher of a part: a counter that begins elsewhere for each.
func (s *spill) stream(part int) cipher.Stream {
	begin := binary.BigEndian.AppendUint64(nil, uint64(part)) //nolint:gosec // it is from 0 to 63
	return cipher.NewCTR(s.block, append(begin, make([]byte, aes.BlockSize-len(begin))...))
}

// put keeps an item of an organization.
func (s *spill) put(org int64, item Item) error {
	if err := s.encoder[partOf(org)].Encode(item); err != nil {
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

// close lets go of everything.
func (s *spill) close() {
	for _, file := range s.files {
		if file != nil {
			_ = file.Close() // It is removed.
		}
	}
}
