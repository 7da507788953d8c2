package filechange

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: got %q, %v, want %q", path, got, err, want)
	}
}

func TestApplyAndUndo(t *testing.T) {
	dir := t.TempDir()
	old, link, made := filepath.Join(dir, "old"), filepath.Join(dir, "link"), filepath.Join(dir, "a", "b", "new")
	write(t, old, "1", 0o640)
	if err := os.Symlink("old", link); err != nil {
		t.Skip("SKIPPED here: links cannot be made")
	}
	a, err := Apply(Change{Path: link, Before: []byte("1"), After: []byte("2")}, Change{Path: made, After: []byte("x")}, Change{Path: filepath.Join(dir, "none")})
	if err != nil {
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
	if len(a.Dirs) != 2 {
		t.Errorf("made %v", a.Dirs)
	}
	if err := a.Undo(); err != nil {
		t.Fatal(err)
	}
	holds(t, old, "1")
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("left: %v %v", left, err)
	}
}

func TestAllOrNone(t *testing.T) {
	dir := t.TempDir()
	first := filepath.Join(dir, "first")
	write(t, first, "1", 0o600)
	ok := Change{Path: first, Before: []byte("1"), After: []byte("2")}
	other := filepath.Join(dir, "other")
	for _, tt := range []struct {
		name   string
		make   func()
		change Change
		want   string
	}{
		{"changed since", func() { write(t, other, "b", 0o600) }, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "was changed by another program"},
		{"there now", func() { write(t, other, "b", 0o600) }, Change{Path: other, After: []byte("c")}, "is there now"},
		{"gone", func() {}, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "is gone"},
		{"read-only", func() { write(t, other, "a", 0o400) }, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "is read-only"},
		{"folder", func() { os.Mkdir(other, 0o700) }, Change{Path: other, Before: []byte("a"), After: []byte("c")}, "is not a regular file"},
		{"below a file", func() { write(t, other, "a", 0o600) }, Change{Path: filepath.Join(other, "x"), After: []byte("c")}, "cannot be changed"},
	} {
		tt.make()
		_, err := Apply(ok, tt.change)
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "nothing is changed") {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		holds(t, first, "1")
		os.Remove(other)
	}
}

func TestAFileThatChangedSinceIsNotUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	a, err := Apply(Change{Path: path, After: []byte("1")})
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, "2", 0o600)
	if err := a.Undo(); err == nil || !strings.Contains(err.Error(), "changed by another program") {
		t.Errorf("got %v", err)
	}
	holds(t, path, "2")
}
