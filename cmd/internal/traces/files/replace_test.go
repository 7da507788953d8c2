package files_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/traces/files"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("SKIPPED on this system: no symbolic links: %v", err)
	}
	full := errors.New("the disk is full")
	if err := files.Replace(link, func(out io.Writer) error { io.WriteString(out, "half"); return full }); !errors.Is(err, full) {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "old" {
		t.Errorf("after a failure the file has %q", text)
	}
	if err := files.Replace(link, func(out io.Writer) error { _, err := io.WriteString(out, "new"); return err }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the file has %q", text)
	}
	if all, _ := os.ReadDir(dir); len(all) != 2 {
		t.Errorf("there are %d files, not 2: a temporary one is left", len(all))
	}
	missing := filepath.Join(dir, "no", "a")
	err = files.Replace(missing, nil)
	if err == nil || !strings.HasPrefix(err.Error(), missing+" cannot be written: ") || strings.Contains(err.Error(), ".toolman-") {
		t.Errorf("in a directory that is missing: %v", err)
	}
	if err := files.Replace(os.DevNull, func(io.Writer) error { return nil }); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s is %v, %v", os.DevNull, info, err)
	}
}
