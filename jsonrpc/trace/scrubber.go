package trace

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// A Scrubber takes secrets out of text that is not a trace but may hold what peers have said: log lines, reports. It may be used
// from any goroutine.
type Scrubber struct {
	mu      sync.Mutex
	secrets secrets  // guarded by mu
	scrub   scrubber // guarded by mu
}

// NewScrubber makes a Scrubber that goes by the rules of a Writer with these secrets.
func NewScrubber(values []string) *Scrubber {
	return &Scrubber{secrets: secrets{lasting: slices.Clone(values)}, scrub: scrubber{patterns: newPatterns(values)}}
}

// Add adds values that must not appear from now on.
func (s *Scrubber) Add(values ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.secrets.add(values) {
		s.scrub = scrubber{patterns: s.secrets.patterns()}
	}
}

// Lend adds values that must not appear until back is called, once.
func (s *Scrubber) Lend(values ...string) (back func()) {
	lend := func(do func([]string)) {
		s.mu.Lock()
		defer s.mu.Unlock()
		do(values)
		s.scrub = scrubber{patterns: s.secrets.patterns()}
	}
	lend(s.secrets.lend)
	return func() { lend(s.secrets.takeBack) }
}

// cutMark stands where package spawn has cut a line of standard error.
const cutMark = "…"

// Text is text without secrets. What could be the start of one goes, too, where a line was cut.
func (s *Scrubber) Text(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	whole, _ := s.scrub.text([]byte(text), false)
	parts := strings.SplitAfter(string(whole), cutMark)
	for i, part := range parts {
		if rest, cut := strings.CutSuffix(part, cutMark); cut {
			kept, _ := s.scrub.text([]byte(rest), true)
			parts[i] = string(kept) + cutMark
		}
	}
	return strings.Join(parts, "")
}

// Values is text in which each secret is replaced by its length: "[redacted: 8 bytes]". Unlike Text, it
// hides nothing because of the key that it stands under.
func (s *Scrubber) Values(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.scrub.values([]byte(text)))
}

// JSON is p, which is valid JSON, without secrets; the caller's to keep.
func (s *Scrubber) JSON(p []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, _ := s.scrub.json(p)
	return bytes.Clone(out)
}
