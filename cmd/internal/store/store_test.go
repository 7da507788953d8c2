package store

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"toolman/cmd/internal/config/source"
	"toolman/fixtures/mcptest"
)

const limit = 8 << 20

func TestMain(m *testing.M) {
	if path := os.Getenv("STORE_TEST_WRITE"); path != "" {
		writeForEver(path)
	}
	if path := os.Getenv("STORE_TEST_COUNT"); path != "" {
		os.Exit(count(path, 25))
	}
	os.Exit(m.Run())
}

func put(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

// onlyFile asserts what the file holds and that nothing is left beside it.
func onlyFile(t *testing.T, path, want string) {
	t.Helper()
	got, err := source.Read(path, limit)
	if err != nil || string(got) != want {
		t.Errorf("got %.100q and %v, want %.100q", got, err, want)
	}
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(beside) != 1 {
		t.Errorf("in the folder: %v, %v", beside, err)
	}
}

func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	err := update(t.Context(), path, limit, func(old []byte) ([]byte, error) {
		if old != nil {
			t.Errorf("a file that does not exist holds %q", old)
		}
		return []byte{}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = update(t.Context(), path, limit, func(old []byte) ([]byte, error) {
		if old == nil || len(old) > 0 {
			t.Errorf("an empty file is given as %#v", old)
		}
		return []byte("new"), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, "new")
}

func TestAnUpdateThatFailsLeavesTheFileAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := update(t.Context(), path, limit, put("old")); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("not understood")
	if err := update(t.Context(), path, limit, func([]byte) ([]byte, error) { return nil, refused }); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	if err := update(t.Context(), path, 2, put("x")); err == nil {
		t.Error("a file over the limit was read")
	}
	if err := update(t.Context(), path, 3, put("long")); err == nil {
		t.Error("a file over the limit was written")
	}
	onlyFile(t, path, "old")
}

func TestUpdateKeepsPermissionsAndLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "file"), filepath.Join(t.TempDir(), "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	if err := update(t.Context(), link, limit, put("new")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, "new")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link is %v, %v", info, err)
	}
}

func TestUpdateWaitsForTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	unlock, err := Lock(t.Context(), path+".lock", 0o644)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := update(ended, path, limit, put("early")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v while another has the lock", err)
	}
	done := make(chan error)
	go func() { done <- update(t.Context(), path, limit, put("late")) }()
	unlock()
	if err := <-done; err != nil {
		t.Error(err)
	}
	onlyFile(t, path, "late")
}

func TestConcurrentUpdatesAllCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if code := count(path, 25); code != 0 {
				t.Error("an update failed")
			}
		})
	}
	wg.Wait()
	onlyFile(t, path, "100")
}

// count adds one to the number in the file, n times.
func count(path string, n int) (code int) {
	for range n {
		err := update(context.Background(), path, limit, func(old []byte) ([]byte, error) {
			was := 0
			if old != nil {
				var err error
				if was, err = strconv.Atoi(string(old)); err != nil {
					return nil, err
				}
			}
			return strconv.AppendInt(nil, int64(was+1), 10), nil
		})
		if err != nil {
			return 1
		}
	}
	return 0
}

// writeForEver writes files of one letter each.
func writeForEver(path string) {
	for letter := byte('a'); ; letter = 'a' + (letter+1-'a')%26 {
		if err := update(context.Background(), path, limit, put(string(bytes.Repeat([]byte{letter}, 4<<20)))); err != nil {
			os.Exit(1)
		}
	}
}

// start runs this test binary as a writer of the file.
func start(t *testing.T, variable, path string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), variable+"="+path)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func TestConcurrentProcessesAllCount(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	var writers []*exec.Cmd
	for range 4 {
		writers = append(writers, start(t, "STORE_TEST_COUNT", path))
	}
	for _, w := range writers {
		if err := w.Wait(); err != nil {
			t.Error(err)
		}
	}
	onlyFile(t, path, "100")
}

// A writer that is killed while it writes leaves the whole file of before, and nothing
// that keeps others from writing.
func TestAWriterKilledMidWriteLeavesAWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	old := string(bytes.Repeat([]byte{'-'}, 4<<20))
	if err := update(t.Context(), path, limit, put(old)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		w := start(t, "STORE_TEST_WRITE", path)
		awaitPartial(t, path+".tmp")
		w.Process.Kill()
		w.Wait()
		text, err := source.Read(path, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != 4<<20 || len(bytes.Trim(text, string(text[:1]))) > 0 {
			t.Fatalf("the file is not whole: %d bytes, %.20q…", len(text), text)
		}
	}
	if err := update(t.Context(), path, limit, put("after")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, "after")
}

// awaitPartial waits until a file is being written.
func awaitPartial(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(mcptest.Patience); ; time.Sleep(100 * time.Microsecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is written")
		}
	}
}
