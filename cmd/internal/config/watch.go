package config

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// watchEvery is how often a watched file is looked at.
const watchEvery = time.Second

// A Watch notices when the content of a file changes.
//
// It reads the file each second instead of asking the system for events: those miss a file
// that is swapped behind links, as Kubernetes does it, and one on a network.
type Watch struct {
	path string
	last [sha256.Size]byte
}

// NewWatch returns a Watch on the file at path, to be made before the file is read for use: a change
// since then counts. The file need not exist.
func NewWatch(path string) *Watch {
	w := &Watch{path: path}
	w.last, _ = contentOf(path)
	return w
}

// Run calls changed each time the file has another content than before, until ctx ends. A file
// that cannot be read, as between two versions of it, has not changed.
func (w *Watch) Run(ctx context.Context, changed func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := contentOf(w.path); err == nil && now != w.last {
			w.last = now
			changed()
		}
	}
}

func contentOf(path string) (sum [sha256.Size]byte, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return sum, err
	}
	return sha256.Sum256(text), nil
}
