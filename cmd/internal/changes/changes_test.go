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

	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/filechange"
	"toolman/fixtures/files"
)

// home makes a home directory, in which the store is, and returns a path in it.
func home(t *testing.T) (*Store, func(string) string) {
	dir := filepath.Join(t.TempDir(), "home [1]") // which is a pattern for filepath.Glob
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
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

var spot = edit.Spot{Format: edit.JSON, Path: []string{"mcpServers"}}

func entry(command string) []source.Member {
	return []source.Member{{Key: "command", Node: source.Node{Value: command}}}
}

// add is the change that adds an entry to a file.
func add(t *testing.T, path, name, command string) Change {
	t.Helper()
	c := Change{Change: filechange.Change{Path: path}, What: "a client", Owners: []string{"one"}}
	var err error
	if c.Before, err = filechange.Read(path, MaxBytes); err != nil {
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
	files.Write(t, path("a.json"), "{}", 0o640)
	files.Write(t, path("dotfiles/b.json"), "\xef\xbb\xbf{\r\n} // c", 0o600)
	if err := os.Symlink(path("dotfiles/b.json"), path("b.json")); err != nil {
		t.Skipf("SKIPPED on %s: no symbolic links: %v", runtime.GOOS, err)
	}
	if err := os.Symlink(path("dotfiles"), path("linked")); err != nil {
		t.Fatal(err)
	}
	files.Write(t, path("empty.json"), "", 0o644)
	before := files.Tree(t, path("."))
	apply(t, s, add(t, path("a.json"), "x", "x"), add(t, path("b.json"), "x", "x"), add(t, path("empty.json"), "x", "x"),
		add(t, path("new/dir/c.json"), "x", "x"), add(t, path("linked/new/dir/d.json"), "x", "x"))
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
	apply(t, s, add(t, path("a.json"), "y", "y"), add(t, path("linked/new/dir/d.json"), "y", "y")) // a second change
	if got := undoAll(t, s); len(got) != 5 {
		t.Errorf("outcomes: %v", got)
	}
	if after := files.Tree(t, path(".")); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
	}
}

func TestUndoOfFilesThatHaveChangedSince(t *testing.T) {
	s, path := home(t)
	files.Write(t, path("a.json"), "{\n  \"mcpServers\": {\n    \"old\": {\"command\": \"old\"},\n    \"mine\": {\"command\": \"mine\"}\n  }\n}\n", 0o644)
	c := add(t, path("a.json"), "toolman", "toolman")
	after, _, p := spot.Remove(c.After, "old", edit.Mark{})
	if p != nil {
		t.Fatal(p)
	}
	c.After, c.Edits = after, append(c.Edits, Edit{Spot: spot, Name: "old"})
	own := Change{Change: filechange.Change{Path: path("tools.toml"), After: []byte("a = 1\n")}, What: "tools.toml"}
	apply(t, s, c, own, add(t, path("new.json"), "toolman", "toolman"), add(t, path("gone.json"), "toolman", "toolman"))

	text := strings.Replace(string(after), "{", "{\n  \"theme\": \"dark\",", 1)
	files.Write(t, path("a.json"), text, 0o644)
	files.Write(t, path("tools.toml"), "a = 2\n", 0o644)
	files.Write(t, path("new.json"), `{"mcpServers":{"toolman":{"command":"toolman"}}}`, 0o644) // a client has written it again
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
	files.Write(t, path("a.json"), "{}\n", 0o644)
	apply(t, s, add(t, path("a.json"), "x", "x"))
	text, _ := os.ReadFile(path("a.json"))
	files.Write(t, path("a.json"), strings.Replace(string(text), "{", "{\n  \"b\": 1,", 1), 0o644)
	apply(t, s, add(t, path("a.json"), "x", "changed"))
	if got := undoAll(t, s); got[0] != Restored {
		t.Errorf("outcomes: %v", got)
	}
	if got, _ := os.ReadFile(path("a.json")); string(got) != "{\n  \"b\": 1\n}\n" {
		t.Errorf("got %q", got)
	}
}

// TestUndoAfterACrash ends a second change when its records are written and its files are not.
func TestUndoAfterACrash(t *testing.T) {
	s, path := home(t)
	files.Write(t, path("a.json"), "{}", 0o644)
	before := files.Tree(t, path("."))
	own := Change{Change: filechange.Change{Path: path("new/tools.toml"), After: []byte("a = 1\n")}, What: "tools.toml"}
	apply(t, s, add(t, path("a.json"), "x", "x"), own)
	own.Before, own.After = own.After, []byte("a = 2\n")
	for _, c := range []Change{add(t, path("a.json"), "x", "y"), own, add(t, path("c.json"), "x", "x")} {
		r, err := s.newRecord(c)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.save(r); err != nil {
			t.Fatal(err)
		}
	}
	files.Write(t, path(".toolman-a.json-1"), "{", 0o600) // which was to be a.json, or a record
	files.Write(t, filepath.Join(s.dir, ".toolman-x.json-1"), "{", 0o600)
	if got := fmt.Sprint(undoAll(t, s)); got != "[restored gone removed]" {
		t.Errorf("outcomes: %v", got)
	}
	if after := files.Tree(t, path(".")); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
	}

	// A crash before the first record leaves the folders and what they are known by.
	made, err := s.make()
	if err == nil {
		err = s.noteDirs(made)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Clean(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := files.Tree(t, path(".")); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
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
		{"read-only", "is read-only", func(t *testing.T, path func(string) string) { files.Write(t, path("b.json"), "{}", 0o444) }},
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
			files.Write(t, path("b.json"), "{}", 0o666)
			if err := os.Chown(path("b.json"), 12345, -1); err != nil {
				t.Fatal(err)
			}
		}},
		{"changed in the meantime", filechange.ErrChanged.Error(), func(t *testing.T, path func(string) string) { files.Write(t, path("b.json"), "{ }", 0o644) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, path := home(t)
			files.Write(t, path("a.json"), "{}", 0o644)
			all := []Change{add(t, path("a.json"), "x", "x"), {Change: filechange.Change{Path: path("b.json"), Before: []byte("{}"), After: []byte("{1}")}, What: "b"}}
			test.make(t, path)
			before := files.Tree(t, path("."))
			err := s.Apply(t.Context(), all)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path("b.json")) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if after := files.Tree(t, path(".")); after != before {
				t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

// TestAFailureTakesBackWhatWasDone fails at the second of two files, whose directory cannot be made.
func TestAFailureTakesBackWhatWasDone(t *testing.T) {
	s, path := home(t)
	files.Write(t, path("a.json"), "{}", 0o644)
	all := []Change{add(t, path("a.json"), "x", "x"), add(t, path("c.json"), "x", "x"), {Change: filechange.Change{Path: path("c.json/b.json"), After: []byte("{}")}, What: "b"}}
	before := files.Tree(t, path("."))
	if err := s.Apply(t.Context(), all); err == nil {
		t.Fatal("it was applied")
	}
	after := files.Tree(t, path("."))
	strip := func(s string) string { // the time of a file that was written back differs
		return strings.Join(strings.Split(s, " +0000 UTC "), "")
	}
	if strings.Count(after, "\n") != strings.Count(before, "\n") || !strings.Contains(strip(after), `"{}"`) {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
}

func TestAppliesAtTheSameTime(t *testing.T) {
	s, path := home(t)
	files.Write(t, path("a.json"), "{}", 0o644)
	before := files.Tree(t, path("."))
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for {
				err := s.Apply(context.Background(), []Change{add(t, path("a.json"), fmt.Sprint("x", i), "x")})
				if err == nil {
					return
				}
				if !errors.Is(err, filechange.ErrChanged) && !strings.Contains(err.Error(), "another toolman changes") { // for 10 s
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
	if after := files.Tree(t, path(".")); after != before {
		t.Errorf("after undo:\n%s\nbefore:\n%s", after, before)
	}
}
