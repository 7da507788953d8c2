package shared

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"toolman/cmd/internal/store"
	"toolman/router/httpd/cluster/engine"
	"toolman/router/toolset"
)

// Documents are the documents of a cluster. An engine.Engine has them.
type Documents interface {
	Document(ctx context.Context, name string) (text []byte, version int64, err error)
	SetDocument(ctx context.Context, name string, text []byte, version int64) (ok bool, err error)
}

const (
	document  = "toolsets" // its name
	syncEvery = time.Second
	readTime  = time.Second // for an answer when toolsets are read
	maxTries  = 20          // to replace a document that others replace, too
)

// A Shelf is the toolset.Shelf of a replica. It is safe for use by many goroutines.
type Shelf struct {
	documents Documents
	file      store.Toolsets
	warn      func(error)

	// guarded by mu, which is held while the engine is asked
	mu         sync.Mutex
	text       []byte // as in the file; nil: nothing is known yet
	generation string
	version    int64
	silent     time.Time // when the engine last did not answer in time
	copied     bool      // the file is a copy
	warned     string    // the last problem with the file
}

// New returns a Shelf with a file for its copy. warn is called when the file cannot be used.
func New(d Documents, file store.Toolsets, warn func(error)) *Shelf {
	return &Shelf{documents: d, file: file, warn: warn}
}

// Run keeps the file as it is in the cluster until ctx ends.
func (s *Shelf) Run(ctx context.Context) {
	tick := time.NewTicker(syncEvery)
	defer tick.Stop()
	for {
		s.mu.Lock()
		s.syncLocked(ctx) // if it fails, the next one may not
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Load implements [toolset.Shelf]. If the engine does not answer, it returns the last known
// toolsets.
func (s *Shelf) Load() (map[string]toolset.Set, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.silent) > syncEvery {
		if err := s.syncLocked(context.Background()); err != nil && !errors.Is(err, toolset.ErrUnavailable) {
			return nil, err
		}
	}
	if s.text == nil {
		return s.file.Load()
	}
	return s.file.Parse(s.text)
}

// Update implements [toolset.Shelf].
func (s *Shelf) Update(ctx context.Context, change func(map[string]toolset.Set) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range maxTries {
		if err := s.syncLocked(ctx); err != nil {
			return err
		}
		text, err := s.file.Changed(s.text, change)
		if err != nil {
			return err
		}
		ok, err := s.setLocked(ctx, cmp.Or(s.generation, rand.Text()), text, s.version)
		if err != nil {
			return err
		}
		if ok {
			s.copyLocked()
			return nil
		}
	}
	return fmt.Errorf("%w: other replicas change them all the time", toolset.ErrUnavailable)
}

// syncLocked gets the document, or makes it.
func (s *Shelf) syncLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	for {
		value, version, err := s.documents.Document(ctx, document)
		if err != nil {
			return s.failLocked(ctx, err)
		}
		head, text, _ := bytes.Cut(value, []byte("\n"))
		generation := string(head)
		switch {
		case version == 0:
			if s.text == nil {
				if s.text, err = s.ownLocked(); err != nil || s.text == nil {
					return err
				}
			}
			generation = rand.Text()
		case generation != s.generation || version > s.version:
			s.generation, s.text, s.version = generation, text, version
			s.copyLocked()
			return nil
		case version == s.version:
			return nil
		}
		if ok, err := s.setLocked(ctx, generation, s.text, version); ok || err != nil {
			return err
		}
		s.generation = "" // another replica was faster: what it has set counts
	}
}

// ownLocked returns the content of the file, if it can be used.
func (s *Shelf) ownLocked() ([]byte, error) {
	text, err := s.file.Text()
	if err == nil {
		_, err = s.file.Parse(text)
	}
	if err != nil {
		s.warnLocked(err)
		return nil, err
	}
	s.copied = text != nil
	return text, nil
}

// setLocked replaces a version of the document.
func (s *Shelf) setLocked(ctx context.Context, generation string, text []byte, version int64) (ok bool, err error) {
	value := append([]byte(generation+"\n"), text...)
	if len(value) > engine.MaxDocument {
		err := fmt.Errorf("the saved toolsets have %d bytes, and replicas can share %d", len(text), engine.MaxDocument)
		s.warnLocked(err)
		return false, err
	}
	ok, err = s.documents.SetDocument(ctx, document, value, version)
	if err != nil {
		return false, s.failLocked(ctx, err)
	}
	if ok {
		s.generation, s.text, s.version = generation, text, version+1
	}
	return ok, nil
}

// failLocked notes an error of the engine.
func (s *Shelf) failLocked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		s.silent = time.Now()
	}
	return fmt.Errorf("%w: %w", toolset.ErrUnavailable, err)
}

// copyLocked writes the file. The first time it keeps what was there.
func (s *Shelf) copyLocked() {
	if err := s.file.Copy(s.text, !s.copied); err != nil {
		s.warnLocked(fmt.Errorf("the copy of the cluster's toolsets cannot be written: %w", err))
		return
	}
	s.copied = true
}

func (s *Shelf) warnLocked(err error) {
	if text := err.Error(); text != s.warned {
		s.warned = text
		s.warn(err)
	}
}
