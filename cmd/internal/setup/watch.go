package setup

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// watchEvery is how often a Watch reads its files.
const watchEvery = time.Second

// A Watch reports changes of the content of files.
//
// It reads the files each second and does not use events of the system: they miss a file that is
// replaced behind links, as Kubernetes does, and one on a network.
type Watch map[string][sha256.Size]byte

// NewWatch returns a Watch on the files, which need not exist. Call it before you read them: it
// reports changes since then.
func NewWatch(paths ...string) Watch {
	w := Watch{}
	for _, path := range paths {
		text, _ := os.ReadFile(path)
		w[path] = sha256.Sum256(text)
	}
	return w
}

// Run calls changed each time the content of a file differs from before, until ctx ends. A file
// that cannot be read, as between two versions of it, has not changed.
func (w Watch) Run(ctx context.Context, changed func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for path, last := range w {
			text, err := os.ReadFile(path)
			if now := sha256.Sum256(text); err == nil && now != last {
				w[path] = now
				changed()
			}
		}
	}
}
