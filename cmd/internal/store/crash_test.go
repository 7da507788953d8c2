package store

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

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
	if err := Update(t.Context(), path, limit, put(old)); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		w := start(t, "STORE_TEST_WRITE", path)
		awaitPartial(t, path+".tmp")
		w.Process.Kill()
		w.Wait()
		text, err := Read(path, limit)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != 4<<20 || len(bytes.Trim(text, string(text[:1]))) > 0 {
			t.Fatalf("the file is not whole: %d bytes, %.20q…", len(text), text)
		}
	}
	if err := Update(t.Context(), path, limit, put("after")); err != nil {
		t.Fatal(err)
	}
	onlyFile(t, path, "after")
}

// awaitPartial waits until a file is being written.
func awaitPartial(t *testing.T, path string) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(100 * time.Microsecond) {
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is written")
		}
	}
}
