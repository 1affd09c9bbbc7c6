// Package lru implements a cache in memory that evicts the least recently used values.
package lru

import (
	"container/list"
	"sync"
)

// Cache is a map with a limit in bytes. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	mu        sync.Mutex
	used, max int64
	// recent has *entry[K, V] values, the most recently used value in front.
	recent list.List
	at     map[K]*list.Element
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int64
}

// New returns an empty cache of at most maxBytes.
func New[K comparable, V any](maxBytes int64) *Cache[K, V] {
	return &Cache[K, V]{max: maxBytes, at: map[K]*list.Element{}}
}

// Get returns the value under key, if the cache still has a value there.
func (l *Cache[K, V]) Get(key K) (value V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.at[key]
	if !ok {
		return value, false
	}
	l.recent.MoveToFront(e)
	return e.Value.(*entry[K, V]).value, true
}

// Put stores value under key, then evicts others until at most max bytes are used. The
// value just put stays, even alone over max.
func (l *Cache[K, V]) Put(key K, value V, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(key, value, size)
}

// PutBack does the same as Put for a value that GetOrPut returned, unless the cache has
// another value under key now. V is a pointer.
func (l *Cache[K, V]) PutBack(key K, value V, size int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.at[key]; ok && any(e.Value.(*entry[K, V]).value) != any(value) {
		return
	}
	l.set(key, value, size)
}

// GetOrPut returns the value under key. Without a value, it puts and returns a new value of
// size bytes.
func (l *Cache[K, V]) GetOrPut(key K, size int64, create func() V) V {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.at[key]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*entry[K, V]).value
	}
	value := create()
	l.set(key, value, size)
	return value
}

// set stores value under key, then evicts others until at most max bytes are used.
func (l *Cache[K, V]) set(key K, value V, size int64) {
	if e, ok := l.at[key]; ok {
		l.evict(e)
	}
	l.at[key] = l.recent.PushFront(&entry[K, V]{key, value, size})
	l.used += size
	for l.used > l.max && l.recent.Len() > 1 {
		l.evict(l.recent.Back())
	}
}

func (l *Cache[K, V]) evict(e *list.Element) {
	k := l.recent.Remove(e).(*entry[K, V])
	delete(l.at, k.key)
	l.used -= k.size
}
