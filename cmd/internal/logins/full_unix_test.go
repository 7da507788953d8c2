//go:build unix

package logins

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

// writeToFullDisk updates a file where there is no place for it.
func writeToFullDisk(f *File) error {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 100, Max: 100}); err != nil {
		return err
	}
	err := f.Update(context.Background(), func(*Record) error { return errors.New("it is changed all the same") })
	if err == nil || !errors.Is(err, syscall.EFBIG) {
		return fmt.Errorf("got %w", err)
	}
	return nil
}

// A refresh token must not be used when there is no place for the next one.
func TestOnAFullDiskNothingBegins(t *testing.T) {
	dir := folder(t)
	f := dir.File(linear)
	update(t, f, set("a"))
	if out, err := program(t, fullIn, dir).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	if got := token(t, f); got != "a" || left(t, dir) != filepath.Base(f.Path()) {
		t.Errorf("got %s, in the folder: %s", got, left(t, dir))
	}
}
