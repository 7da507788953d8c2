package store

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// A file that another program has open, and shares with nobody, is a lock that is held.
func TestAFileThatIsOpenElsewhereIsWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		t.Fatal(err)
	}
	open, err := windows.CreateFile(name, windows.GENERIC_READ, 0, nil, windows.CREATE_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // longer than system.Retry tries
	defer cancel()
	if _, err := Lock(ctx, path, 0o600); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	windows.CloseHandle(open)
	unlock, err := Lock(t.Context(), path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
