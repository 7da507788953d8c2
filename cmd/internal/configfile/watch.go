package configfile

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// watchEvery is how often a Watch reads its file.
const watchEvery = time.Second

// A Watch reports changes of a file's content.
//
// It reads the file each second and does not use events of the system: they miss a file that is
// replaced behind links, as Kubernetes does, and one on a network.
type Watch struct {
	path string
	last [sha256.Size]byte
}

// NewWatch returns a Watch on the file at path, which need not exist. Call it before you read the
// file: it reports changes since then.
func NewWatch(path string) *Watch {
	w := &Watch{path: path}
	w.last, _ = contentOf(path)
	return w
}

// Run calls changed each time the content differs from before, until ctx ends. A file that cannot
// be read, as between two versions of it, has not changed.
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
