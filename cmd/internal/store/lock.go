package store

import (
	"context"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// retry is how often a lock that another has is tried again.
const retry = 10 * time.Millisecond

// lock takes the lock of a file that is made for it and removed with it. The system lets
// go of the lock of a program that dies.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		l := flock.New(path, flock.SetPermissions(0o644))
		if _, err := l.TryLockContext(ctx, retry); err != nil {
			return nil, err
		}
		if current(l, path) {
			return func() {
				os.Remove(path) // while it is held, so that nobody has the lock of a file that is gone
				l.Unlock()
			}, nil
		}
		l.Unlock()
	}
}

// current reports whether the file that was locked is still the one that others lock.
func current(l *flock.Flock, path string) bool {
	held, err := l.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(held, now)
}
