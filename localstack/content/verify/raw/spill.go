package raw

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

// Files is the number of files of a spill. All items of an organization are in the same file.
const Files = 64

// Spill keeps items on disk. The files have no names, so that the system removes the files when
// the process ends. The content is encrypted, and the key is only in memory.
type Spill struct {
	block   cipher.Block
	files   [Files]*os.File
	buffers [Files]*bufio.Writer
	encoder [Files]*gob.Encoder
}

// NewSpill creates the files.
func NewSpill() (*Spill, error) {
	key := make([]byte, 32)
	rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	s := &Spill{block: block}
	for i := range Files {
		if s.files[i], err = createNameless(); err != nil {
			s.Close()
			return nil, fmt.Errorf("verify: %w", err)
		}
		s.buffers[i] = bufio.NewWriterSize(cipher.StreamWriter{S: s.stream(i), W: s.files[i]}, 64<<10)
		s.encoder[i] = gob.NewEncoder(s.buffers[i])
	}
	return s, nil
}

// createNameless creates a file and removes the name.
func createNameless() (*os.File, error) {
	file, err := os.CreateTemp("", "lectern-verify-*")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// fileOf returns the file of an organization. Organizations and other records share a running
// number, so all ids of organizations may have the same remainder.
func fileOf(org int64) int {
	h := fnv.New32a()
	fmt.Fprint(h, org)
	return int(h.Sum32() % Files)
}

// stream returns the cipher of a file. Each file begins at another counter, so that no two files use
// the same key stream.
func (s *Spill) stream(file int) cipher.Stream {
	begin := binary.BigEndian.AppendUint64(nil, uint64(file)) //nolint:gosec // file is from 0 to 63
	return cipher.NewCTR(s.block, append(begin, make([]byte, aes.BlockSize-len(begin))...))
}

// Put writes an item of an organization.
func (s *Spill) Put(org int64, item Item) error {
	if err := s.encoder[fileOf(org)].Encode(item); err != nil {
		return fmt.Errorf("verify: keep an item: %w", err)
	}
	return nil
}

// Read calls add with each item of a file. No Put may follow.
func (s *Spill) Read(index int, add func(Item)) error {
	file := s.files[index]
	if err := s.buffers[index].Flush(); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("verify: %w", err)
	}
	decoder := gob.NewDecoder(bufio.NewReaderSize(cipher.StreamReader{S: s.stream(index), R: file}, 64<<10))
	for {
		var item Item
		switch err := decoder.Decode(&item); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("verify: read an item again: %w", err)
		}
		add(item)
	}
}

// Close closes the files and frees the disk.
func (s *Spill) Close() {
	for _, file := range s.files {
		if file != nil {
			_ = file.Close() // The name is removed already.
		}
	}
}
