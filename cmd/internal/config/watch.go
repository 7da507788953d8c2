package config

import (
	"context"
	"crypto/sha256"
	"os"
	"time"
)

// watchEvery is how often a watched file is looked at.
const watchEvery = time.Second

// Watch calls changed each time the file at path has another content than before, until
// ctx ends. A file that cannot be read, as between two versions of it, has not changed.
//
// It reads the file each second instead of asking the system for events: those miss a file
// that is swapped behind links, as Kubernetes does it, and one on a network.
func Watch(ctx context.Context, path string, changed func()) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last, _ := contentOf(path)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if now, err := contentOf(path); err == nil && now != last {
			last = now
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
