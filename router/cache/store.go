package cache

import (
	"container/list"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of a Store.
const (
	MaxResults = 4096     // how many results it holds
	MaxBytes   = 64 << 20 // how long they may be together
	MaxResult  = 1 << 20  // how long one may be
)

// A Store holds results. When it is full, it drops those that were not used for longest.
type Store struct {
	mu     sync.Mutex
	byKey  map[key]*list.Element // guarded by mu: of latest
	latest *list.List            // guarded by mu: of *result, the latest used first
	bytes  int                   // guarded by mu: length of all frames
	epochs map[string]*epoch     // guarded by mu: by the name of the server

	connections atomic.Uint64
}

// An epoch is a time between two changes of what a server may answer. The results of earlier ones
// are not found again.
type epoch = atomic.Uint64

// A result is the server's message with a result.
type result struct {
	key     key
	frame   []byte
	expires time.Time
}

// NewStore returns an empty Store.
func NewStore() *Store {
	return &Store{byKey: map[key]*list.Element{}, latest: list.New(), epochs: map[string]*epoch{}}
}

// get returns the frame of a result, or nil.
func (s *Store) get(k key) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.byKey[k]
	if at == nil {
		return nil
	}
	r := at.Value.(*result)
	if !time.Now().Before(r.expires) {
		s.removeLocked(at)
		return nil
	}
	s.latest.MoveToFront(at)
	return r.frame
}

// put stores a frame for a while. It keeps the frame.
func (s *Store) put(k key, frame []byte, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.byKey[k]; at != nil {
		s.removeLocked(at)
	}
	s.byKey[k] = s.latest.PushFront(&result{k, frame, time.Now().Add(ttl)})
	s.bytes += len(frame)
	for s.bytes > MaxBytes || s.latest.Len() > MaxResults {
		s.removeLocked(s.latest.Back())
	}
}

func (s *Store) removeLocked(at *list.Element) {
	r := s.latest.Remove(at).(*result)
	delete(s.byKey, r.key)
	s.bytes -= len(r.frame)
}

// epochOf returns the epoch of a server, which its connections share.
func (s *Store) epochOf(server string) *epoch {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.epochs[server]
	if e == nil {
		e = new(epoch)
		s.epochs[server] = e
	}
	return e
}
