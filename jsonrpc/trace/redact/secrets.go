package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Secrets are the values that must not be written. Its methods may be called from any goroutine.
type Secrets struct {
	mu       sync.Mutex
	lasting  []string // guarded by mu: each once
	lent     []string // guarded by mu: each as often as it was lent
	patterns atomic.Pointer[Patterns]
}

// NewSecrets returns Secrets with these values.
func NewSecrets(values ...string) *Secrets {
	s := &Secrets{lasting: slices.Clone(values)}
	s.patterns.Store(newPatterns(values))
	return s
}

// Patterns returns the current secrets.
func (s *Secrets) Patterns() *Patterns { return s.patterns.Load() }

// Add adds values.
func (s *Secrets) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := len(s.lasting)
	for _, v := range values {
		if !slices.Contains(s.lasting, v) {
			s.lasting = append(s.lasting, v)
		}
	}
	if len(s.lasting) > known {
		s.updateLocked()
	}
}

// Lend adds values until back is called, once. A value that is lent several times stays until it
// was given back as often.
func (s *Secrets) Lend(values ...string) (back func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lent = append(s.lent, values...)
	s.updateLocked()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for _, v := range values {
			if i := slices.Index(s.lent, v); i >= 0 {
				s.lent = slices.Delete(s.lent, i, i+1)
			}
		}
		s.updateLocked()
	}
}

func (s *Secrets) updateLocked() { s.patterns.Store(newPatterns(slices.Concat(s.lasting, s.lent))) }

// A Scrubber removes Secrets from log lines and reports. Its methods may be called from any
// goroutine.
type Scrubber struct {
	*Secrets
	mu       sync.Mutex
	redactor Redactor // guarded by mu
}

// NewScrubber returns a Scrubber of these values.
func NewScrubber(values []string) *Scrubber { return &Scrubber{Secrets: NewSecrets(values...)} }

// cutMark stands where package spawn has cut a line of standard error.
const cutMark = "…"

// Text returns text without secrets. Where a line was cut, it also removes what could be the start
// of a secret.
func (s *Scrubber) Text(text string) string {
	defer s.lock().Unlock()
	whole, _ := s.redactor.Text([]byte(text), false)
	parts := strings.SplitAfter(string(whole), cutMark)
	for i, part := range parts {
		if rest, cut := strings.CutSuffix(part, cutMark); cut {
			kept, _ := s.redactor.Text([]byte(rest), true)
			parts[i] = string(kept) + cutMark
		}
	}
	return strings.Join(parts, "")
}

// Values returns text with the length of each secret in its place: "[redacted: 8 bytes]". Unlike
// Text, it hides nothing because of its key.
func (s *Scrubber) Values(text string) string {
	defer s.lock().Unlock()
	return string(s.redactor.values([]byte(text)))
}

// JSON returns p, which is valid JSON, without secrets.
func (s *Scrubber) JSON(p []byte) []byte {
	defer s.lock().Unlock()
	out, _ := s.redactor.JSON(p)
	return bytes.Clone(out)
}

// lock locks the redactor and gives it the current secrets.
func (s *Scrubber) lock() *sync.Mutex {
	s.mu.Lock()
	s.redactor.Patterns = s.Secrets.Patterns()
	return &s.mu
}
