package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
)

// home makes a home directory, in which the store is, and returns a path in it.
func home(t *testing.T) (*Store, func(string) string) {
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // macOS has its temporary directory behind a link
	}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	s, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	return s, func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
}

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
	old := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// tree returns all below a directory: names, modes, times of files, links and contents.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %v", rel, info.Mode())
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime().UTC(), text)
		case d.Type() == fs.ModeSymlink:
			to, _ := os.Readlink(path)
			b.WriteString(" -> " + to)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var spot = edit.Spot{Format: edit.JSON, Path: []string{"mcpServers"}}

func entry(command string) []source.Member {
	return []source.Member{{Key: "command", Node: source.Node{Value: command}}}
}

// add is the change that adds an entry to a file.
func add(t *testing.T, path, name, command string) Change {
	t.Helper()
	c := Change{Path: path, What: "a client", Owners: []string{"one"}, Existed: true}
	var err error
	if c.Before, err = os.ReadFile(path); errors.Is(err, fs.ErrNotExist) {
		c.Existed = false
	} else if err != nil {
		t.Fatal(err)
	}
	after, mark, p := spot.Set(c.Before, name, entry(command))
	if p != nil {
		t.Fatal(p)
	}
	c.After, c.Edits = after, []Edit{{Spot: spot, Name: name, Set: true, Mark: mark}}
	return c
}

func apply(t *testing.T, s *Store, all ...Change) {
	t.Helper()
	if err := s.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

func undoAll(t *testing.T, s *Store) (outcomes []Outcome) {
	t.Helper()
	records, err := s.Records()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		u, err := s.Undo(t.Context(), r, "", false)
		if err != nil {
			t.Fatal(err)
		}
		outcomes = append(outcomes, u.Outcome)
	}
	return outcomes
}

func TestUndoRestoresBytesAndMetadata(t *testing.T) {
	s, path := home(t)
	write(t, path("a.json"), "{}", 0o640)
	write(t, path("dotfiles/b.json"), "\xef\xbb\xbf{\r\n} // c", 0o600)
	if err := os.Symlink(path("dotfiles/b.json"), path("b.json")); err != nil {
		t.Skipf("SKIPPED on %s: no symbolic links: %v", runtime.GOOS, err)
	}
	if err := os.Symlink(path("dotfiles"), path("linked")); err != nil {
		t.Fatal(err)
	}
	write(t, path("empty.json"), "", 0o644)
	before := tree(t, path("."))
	apply(t, s, add(t, path("a.json"), "x", "x"), add(t, path("b.json"), "x", "x"), add(t, path("empty.json"), "x", "x"),
		add(t, path("new/dir/c.json"), "x", "x"), add(t, path("linked/new/d.json"), "x", "x"))
	if info, err := os.Lstat(path("b.json")); err != nil || info.Mode().Type() != fs.ModeSymlink {
		t.Errorf("the link: %v, %v", info, err)
	}
	if info, err := os.Stat(path("a.json")); err != nil || info.Mode().Perm() != 0o640 && runtime.GOOS != "windows" {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(path("new/dir/c.json")); err != nil || info.Mode().Perm() != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the mode of a new file is %v, %v", info.Mode(), err)
	}
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 && runtime.GOOS != "windows" {
		t.Errorf("the mode of the store is %v, %v", info.Mode(), err)
	}
	apply(t, s, add(t, path("a.json"), "y", "y")) // a second change, of the first one
	if got := undoAll(t, s); len(got) != 5 {
		t.Errorf("outcomes: %v", got)
	}
	if after := tree(t, path(".")); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
	}
}

func TestUndoOfFilesThatHaveChangedSince(t *testing.T) {
	s, path := home(t)
	write(t, path("a.json"), "{\n  \"mcpServers\": {\n    \"old\": {\"command\": \"old\"},\n    \"mine\": {\"command\": \"mine\"}\n  }\n}\n", 0o644)
	c := add(t, path("a.json"), "toolman", "toolman")
	after, _, p := spot.Remove(c.After, "old", edit.Mark{})
	if p != nil {
		t.Fatal(p)
	}
	c.After, c.Edits = after, append(c.Edits, Edit{Spot: spot, Name: "old"})
	own := Change{Path: path("tools.toml"), What: "tools.toml", After: []byte("a = 1\n")}
	apply(t, s, c, own, add(t, path("new.json"), "toolman", "toolman"), add(t, path("gone.json"), "toolman", "toolman"))

	text := strings.Replace(string(after), "{", "{\n  \"theme\": \"dark\",", 1)
	write(t, path("a.json"), text, 0o644)
	write(t, path("tools.toml"), "a = 2\n", 0o644)
	write(t, path("new.json"), `{"mcpServers":{"toolman":{"command":"toolman"}}}`, 0o644) // a client has written it again
	if err := os.Remove(path("gone.json")); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(undoAll(t, s)); got != "[edited gone removed kept]" {
		t.Errorf("outcomes: %v", got)
	}
	got, err := os.ReadFile(path("a.json"))
	want := "{\n  \"theme\": \"dark\",\n  \"mcpServers\": {\n    \"mine\": {\"command\": \"mine\"},\n    \"old\": {\n      \"command\": \"old\"\n    }\n  }\n}\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if got, _ := os.ReadFile(path("tools.toml")); string(got) != "a = 2\n" {
		t.Errorf("tools.toml: %s", got)
	}
	if _, err := os.Stat(path("new.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("new.json is still there: %v", err)
	}
}

// TestASecondChangeAfterOthersHaveWritten keeps what others have written in between as the original.
func TestASecondChangeAfterOthersHaveWritten(t *testing.T) {
	s, path := home(t)
	write(t, path("a.json"), "{}\n", 0o644)
	apply(t, s, add(t, path("a.json"), "x", "x"))
	text, _ := os.ReadFile(path("a.json"))
	write(t, path("a.json"), strings.Replace(string(text), "{", "{\n  \"b\": 1,", 1), 0o644)
	apply(t, s, add(t, path("a.json"), "x", "changed"))
	if got := undoAll(t, s); got[0] != Restored {
		t.Errorf("outcomes: %v", got)
	}
	if got, _ := os.ReadFile(path("a.json")); string(got) != "{\n  \"b\": 1\n}\n" {
		t.Errorf("got %q", got)
	}
}

func TestOwners(t *testing.T) {
	s, path := home(t)
	c := add(t, path("a.json"), "x", "x")
	c.Owners = []string{"one", "two"}
	apply(t, s, c)
	undo := func(owner string) Outcome {
		records, err := s.Records()
		if err != nil || len(records) != 1 {
			t.Fatal(records, err)
		}
		u, err := s.Undo(t.Context(), records[0], owner, false)
		if err != nil {
			t.Fatal(err)
		}
		return u.Outcome
	}
	if got := undo("one"); got != Shared {
		t.Errorf("the first owner: %v", got)
	}
	if got := undo("two"); got != Removed {
		t.Errorf("the last owner: %v", got)
	}
}

// TestRefused has all files as they were after an error.
func TestRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		make       func(t *testing.T, path func(string) string)
	}{
		{"read-only", "is read-only", func(t *testing.T, path func(string) string) { write(t, path("b.json"), "{}", 0o444) }},
		{"a directory", "is not a regular file", func(t *testing.T, path func(string) string) {
			if err := os.Mkdir(path("b.json"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		{"a link to nothing", "is a link to a file that does not exist", func(t *testing.T, path func(string) string) {
			if err := os.Symlink(path("nowhere"), path("b.json")); err != nil {
				t.Skipf("SKIPPED on %s: no symbolic links: %v", runtime.GOOS, err)
			}
		}},
		{"another user's", "belongs to user 12345, and toolman runs as user", func(t *testing.T, path func(string) string) {
			if os.Geteuid() != 0 {
				t.Skipf("SKIPPED on %s: only root can give files away", runtime.GOOS)
			}
			write(t, path("b.json"), "{}", 0o666)
			if err := os.Chown(path("b.json"), 12345, -1); err != nil {
				t.Fatal(err)
			}
		}},
		{"changed in the meantime", filechange.ErrChanged.Error(), func(t *testing.T, path func(string) string) { write(t, path("b.json"), "{ }", 0o644) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, path := home(t)
			write(t, path("a.json"), "{}", 0o644)
			all := []Change{add(t, path("a.json"), "x", "x"), {Path: path("b.json"), What: "b", Existed: true, Before: []byte("{}"), After: []byte("{1}")}}
			test.make(t, path)
			before := tree(t, path("."))
			err := s.Apply(t.Context(), all)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path("b.json")) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if after := tree(t, path(".")); after != before {
				t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// TestAFailureTakesBackWhatWasDone fails at the second of two files, whose directory cannot be made.
func TestAFailureTakesBackWhatWasDone(t *testing.T) {
	s, path := home(t)
	write(t, path("a.json"), "{}", 0o644)
	all := []Change{add(t, path("a.json"), "x", "x"), add(t, path("c.json"), "x", "x"), {Path: path("c.json/b.json"), What: "b", After: []byte("{}")}}
	before := tree(t, path("."))
	if err := s.Apply(t.Context(), all); err == nil {
		t.Fatal("it was applied")
	}
	after := tree(t, path("."))
	strip := func(s string) string { // the time of a file that was written back differs
		return strings.Join(strings.Split(s, " +0000 UTC "), "")
	}
	if strings.Count(after, "\n") != strings.Count(before, "\n") || !strings.Contains(strip(after), `"{}"`) {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
}

func TestAppliesAtTheSameTime(t *testing.T) {
	s, path := home(t)
	write(t, path("a.json"), "{}", 0o644)
	before := tree(t, path("."))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for {
				err := s.Apply(context.Background(), []Change{add(t, path("a.json"), fmt.Sprint("x", i), "x")})
				if err == nil {
					return
				}
				if !errors.Is(err, filechange.ErrChanged) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(path("a.json"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		if _, found, p := spot.Get(text, fmt.Sprint("x", i)); !found || p != nil {
			t.Errorf("entry %d is lost: %v\n%s", i, p, text)
		}
	}
	undoAll(t, s)
	if after := tree(t, path(".")); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
	}
}
