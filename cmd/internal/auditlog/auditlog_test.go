package auditlog

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/router/audit"
)

func record(at int, name string) string {
	return fmt.Sprintf(`{"time":"2026-11-01T00:00:%02dZ","method":"tools/call","kind":"tool","name":%q,"duration_ms":1,"new_member":{}}`, at, name)
}

func TestRotatedFilesAreReadInOrder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	if _, err := Files(path); err == nil {
		t.Error("no file is no error")
	}
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(record(1, "first") + "\n"))
	z.Close()
	now := time.Now()
	for i, f := range []struct{ name, text string }{
		{"audit.jsonl.2.gz", zipped.String()},
		{"audit.jsonl.1", record(2, "second") + "\n" + record(3, "third")[:40] + "\n\n"},
		{"audit.jsonl-20261101", record(4, strings.Repeat("x", maxLine)) + "\n" + record(5, "fifth") + "\n[]\n"},
		{"audit.jsonl", `{"time":"2026-11-01T00:00:06Z","dropped":3,"duration_ms":0}` + "\n" + record(7, "last")},
		{"audit.jsonl.bak", record(8, "not of it")},
		{"other.jsonl.1", record(8, "not of it")},
	} {
		file := filepath.Join(dir, f.name)
		if err := os.WriteFile(file, []byte(f.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, now, now.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	files, err := Files(path)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	read := func(since time.Time) Summary {
		names = nil
		s, err := Read(files, since, func(l *audit.Line) { names = append(names, l.Name) })
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := read(time.Time{})
	if got := strings.Join(names, " "); got != "first second fifth  last" {
		t.Errorf("read %q", got)
	}
	if s.Lines != 5 || s.Unreadable != 3 || s.Dropped != 3 || s.First.Second() != 1 || s.Last.Second() != 7 {
		t.Errorf("got %+v", s)
	}
	if s := read(time.Date(2026, 11, 1, 0, 0, 5, 0, time.UTC)); s.Lines != 3 || strings.Join(names, " ") != "fifth  last" {
		t.Errorf("since: %+v, %q", s, names)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if files, err := Files(path); err != nil || len(files) != 3 {
		t.Errorf("without the log itself: %q, %v", files, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "audit.jsonl.3.gz"), []byte("no gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, _ = Files(path)
	if _, err := Read(files, time.Time{}, func(*audit.Line) {}); err == nil || !strings.Contains(err.Error(), "audit.jsonl.3.gz") {
		t.Errorf("got %v", err)
	}
}
