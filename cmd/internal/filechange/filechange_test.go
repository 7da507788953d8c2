package filechange

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolman/fixtures/files"
)

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
	}
}

func TestApply(t *testing.T) {
	dir := t.TempDir()
	old, link, made := filepath.Join(dir, "old"), filepath.Join(dir, "link"), filepath.Join(dir, "a", "b", "new")
	files.Write(t, old, "1", 0o640)
	if err := os.Symlink("old", link); err != nil {
		t.Skip("SKIPPED here: links cannot be made")
	}
	before := files.Tree(t, dir)
	some := []Change{{Path: link, Before: []byte("1"), After: []byte("2")}, {Path: made, After: []byte("x")}, {Path: filepath.Join(dir, "none")}}
	// The last one fails when the others are done: its folder is a file by then.
	if err := Apply(append(some, Change{Path: filepath.Join(made, "below"), After: []byte("y")})...); err == nil {
		t.Fatal("a file was made below a file")
	}
	os.Chtimes(old, time.Time{}, time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)) // a file that was written back is new
	if after := files.Tree(t, dir); after != before {
		t.Errorf("after an error:\n%s\nbefore:\n%s", after, before)
	}
	if err := Apply(some...); err != nil {
		t.Fatal(err)
	}
	holds(t, old, "2")
	holds(t, made, "x")
	if info, err := os.Lstat(link); err != nil || info.Mode().Type() != os.ModeSymlink {
		t.Errorf("the link is gone: %v %v", info, err)
	}
	if info, err := os.Stat(old); runtime.GOOS != "windows" && (err != nil || info.Mode() != 0o640) {
		t.Errorf("the mode is %v, %v", info, err)
	}
}

func TestAllOrNone(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	files.Write(t, first, "1", 0o600)
	ok := Change{Path: first, Before: []byte("1"), After: []byte("2")}
	other := filepath.Join(dir, "other")
	for _, tt := range []struct {
		name   string
		make   func()
		change Change
		want   string
	}{
		{"changed since", func() { files.Write(t, other, "b", 0o600) }, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "was changed by another program"},
		{"there now", func() { files.Write(t, other, "b", 0o600) }, Change{Path: other, After: []byte("c")}, "is there now"},
		{"gone", func() {}, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "is gone"},
		{"read-only", func() { files.Write(t, other, "a", 0o400) }, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "is read-only"},
		{"folder", func() { os.Mkdir(other, 0o700) }, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "is not a regular file"},
		{"below a file", func() { files.Write(t, other, "a", 0o600) }, Change{Path: filepath.Join(other, "x"), After: []byte("c")}, "cannot be changed"},
	} {
		tt.make()
		err := Apply(ok, tt.change)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "nothing is changed") {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		holds(t, first, "1")
		os.Remove(other)
	}
}

func TestAFileThatChangedSinceIsNotUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	files.Write(t, path, "2", 0o600)
	done := applied{changes: []Change{{Path: path, After: []byte("1")}}}
	if err := done.undo(); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("got %v", err)
	}
	holds(t, path, "2")
}

// TestTarget follows links to folders, also above folders that do not exist yet.
func TestTarget(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files.Write(t, filepath.Join(dir, "real", "f"), "", 0o600)
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Skip("SKIPPED here: links cannot be made")
	}
	for path, want := range map[string]string{"link/f": "real/f", "link/g": "real/g", "link/a/b/g": "real/a/b/g", "none/g": "none/g"} {
		got, err := Change{Path: filepath.Join(dir, path)}.Target()
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, %v, want %s", path, got, err, want)
		}
	}
}
