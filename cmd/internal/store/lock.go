package store

import (
	"context"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// retry is the time between attempts to get a lock that another process holds.
const retry = 10 * time.Millisecond

// lock creates a file and locks it; unlock removes the file. The system releases the lock of a
// process that ends.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		l := flock.New(path, flock.SetPermissions(0o644))
		if _, err := l.TryLockContext(ctx, retry); err != nil {
			return nil, err
		}
		if current(l, path) {
			return func() {
				os.Remove(path) // while it is locked, so that no process locks a file that is gone
				l.Unlock()
			}, nil
		}
		l.Unlock()
	}
}

// current reports whether the locked file is still the one at path.
func current(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}
