package store

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire"
)

func someSet() Pins {
	return Pins{
		{mcpwire.Prompt, "fs_greet"}:               NewPin("fs", "legacy", []byte(`{"name":"greet"}`)),
		{mcpwire.Tool, "fs_write"}:                 NewPin("fs", "legacy", []byte(`{"description":"Writes <b>\u2028é","name":"write"}`)),
		{mcpwire.Tool, "fs_read"}:                  NewPin("fs", "legacy", []byte(`{"name":"read"}`)),
		{mcpwire.Template, "fs_file:///{path}"}:    NewPin("fs", "legacy", []byte(`{"uriTemplate":"file:///{path}"}`)),
		{mcpwire.Resource, "b_file:///é\"<\u2028"}: NewPin("b (server 2)", "legacy", []byte(`{"uri":"file:///a"}`)),
		{mcpwire.Tool, "b_large"}:                  NewPin("b (server 2)", "legacy", []byte(`{"name":"`+strings.Repeat("x", maxDefinition)+`"}`)),
	}
}

func TestTheFileHasOneSortedLineAnItem(t *testing.T) {
	lines := strings.Split(string(someSet().render()), "\n")
	for i, want := range []string{
		`{"toolman_lock":1}`,
		`{"kind":"tool","name":"b_large","server":"b (server 2)","era":"legacy","refId":"sha256:`,
		`{"kind":"tool","name":"fs_read","server":"fs","era":"legacy","refId":"` + mcpwire.RefID([]byte(`{"name":"read"}`)) + `","definition":{"name":"read"}}`,
		`{"kind":"tool","name":"fs_write","server":"fs","era":"legacy","refId":`,
		`{"kind":"resource","name":"b_file:///`,
		`{"kind":"resource template","name":"fs_file:///{path}","server":"fs","era":"legacy","refId":`,
		`{"kind":"prompt","name":"fs_greet","server":"fs","era":"legacy","refId":`,
		``,
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d: got %.200s, want %s", i+1, lines[i], want)
		}
	}
	if len(lines[1]) > 200 {
		t.Errorf("a definition over the limit is kept: %d bytes", len(lines[1]))
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	want := someSet()
	for _, text := range []string{string(want.render()), strings.ReplaceAll(string(want.render()), "\n", "\r\n")} {
		got, err := parsePins("tools.lock", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if !maps.EqualFunc(got, want, samePin) {
			t.Errorf("got  %s\nwant %s", got.render(), want.render())
		}
	}
}

func samePin(a, b Pin) bool {
	return a.Server == b.Server && a.Era == b.Era && a.RefID == b.RefID && string(a.Definition) == string(b.Definition)
}

func TestFilesThatAreNotUnderstood(t *testing.T) {
	const hash = "sha256:e5d7b2adb8fb9f9187638229b0a2cf241c5f155867cd31c82cbb20c642e62554"
	const good = `{"kind":"tool","name":"n","server":"s","era":"legacy","refId":"` + hash + `","definition":{"name":"n"}}` + "\n"
	const head = lockHeader + "\n"
	if _, err := parsePins("tools.lock", []byte(head+good)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "", "tools.lock:1: it is empty"},
		{"another file", "[[servers]]\n", "tools.lock:1: this is not a lock file"},
		{"a later version", `{"toolman_lock":2,"items":[]}` + "\n", "tools.lock:1: this toolman reads version 1"},
		{"more in the header", `{"toolman_lock":1,"strict":true}` + "\n", "tools.lock:1: this toolman reads version 1"},
		{"a line cut off", head + good[:40], "tools.lock:2: this is not an item"},
		{"an empty line", head + "\n" + good, "tools.lock:2: this is not an item"},
		{"a conflict", head + "<<<<<<< ours\n" + good, "tools.lock:2: a merge has left a conflict"},
		{"an item twice", head + good + good, `tools.lock:3: tool "n" has a line already`},
		{"an unknown member", head + strings.Replace(good, `"server"`, `"later":1,"server"`, 1), "tools.lock:2: this line is not as toolman lock writes it"},
		{"a member twice", head + strings.Replace(good, `"name"`, `"name":"m","name"`, 1), "not as toolman lock writes it"},
		{"another spelling", head + strings.Replace(good, `:`, `: `, 1), "not as toolman lock writes it"},
		{"an unknown kind", head + strings.Replace(good, `tool`, `tune`, 1), "not as toolman lock writes it"},
		{"a definition that was changed", head + strings.Replace(good, `{"name":"n"}`, `{"name":"m"}`, 1), "tools.lock:2: refId is not the hash of this definition"},
		{"a definition that is none", head + strings.Replace(good, `{"name":"n"}`, `[]`, 1), "refId is not the hash"},
		{"an era that is none", head + strings.Replace(good, `legacy`, `auto`, 1), "tools.lock:2: era is neither legacy nor modern"},
		{"no era", head + strings.Replace(good, `"era":"legacy",`, ``, 1), "not as toolman lock writes it"},
		{"a hash that is none", head + `{"kind":"tool","name":"n","server":"s","era":"legacy","refId":"sha256:0"}` + "\n", "refId is not a SHA-256 hash"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parsePins("tools.lock", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want …%s…", err, tt.want)
			}
		})
	}
}

func TestUpdateDoesNotDestroyWhatItDoesNotUnderstand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.lock")
	const later = "{\"toolman_lock\":2}\n{\"precious\":true}\n"
	if err := os.WriteFile(path, []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	err := UpdatePins(t.Context(), path, func(Pins) (Pins, error) { return Pins{}, nil })
	if _, ok := errors.AsType[*cli.Error](err); !ok {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != later {
		t.Errorf("the file is now %q, %v", got, err)
	}
}

func TestUpdateAndLoad(t *testing.T) {
	path := LockPath(filepath.Join(t.TempDir(), "tools.toml"))
	if filepath.Base(path) != "tools.lock" {
		t.Errorf("the lock file of tools.toml is %s", path)
	}
	if _, err := LoadPins(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v of a file that does not exist", err)
	}
	for i, want := range []Pins{someSet(), {}} {
		err := UpdatePins(context.Background(), path, func(old Pins) (Pins, error) {
			if (old == nil) != (i == 0) {
				t.Errorf("update %d is given %v", i, old)
			}
			return want, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := LoadPins(path); err != nil || !maps.EqualFunc(got, want, samePin) {
			t.Errorf("got %s, %v", got.render(), err)
		}
	}
}

// What is taken is what would have been written, and nothing else is taken.
func FuzzParsePins(f *testing.F) {
	f.Add(someSet().render())
	f.Add([]byte(lockHeader + "\r\n"))
	f.Add([]byte(lockHeader + "\n" + `{"kind":"tool","name":"n","server":"s","era":"legacy","refId":"sha256:e5d7b2adb8fb9f9187638229b0a2cf241c5f155867cd31c82cbb20c642e62554","definition":{"name":"n"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		set, err := parsePins("tools.lock", text)
		if err != nil {
			if _, ok := errors.AsType[*cli.Error](err); !ok {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		for k, p := range set {
			if p.Definition != nil && mcpwire.RefID(p.Definition) != p.RefID {
				t.Errorf("%s has another definition than its refId says", k)
			}
		}
		again, err := parsePins("tools.lock", set.render())
		if err != nil || !maps.EqualFunc(again, set, samePin) {
			t.Errorf("it does not read what it writes: %v\n%s", err, set.render())
		}
		if strings.Count(string(text), "\n") < len(set) {
			t.Errorf("%d items from %d lines", len(set), strings.Count(string(text), "\n"))
		}
	})
}
