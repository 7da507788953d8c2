package installcmd

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolman/cmd/internal/clients"
	"toolman/fixtures/files"
)

func TestProgramAt(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED on windows: paths and links differ")
	}
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		files.Write(t, path, name, 0o644)
		return path
	}
	link := func(name, to string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cellar := file("Cellar/toolman/1.0/bin/toolman")
	brew := link("brew/bin/toolman", cellar)
	binary := file("lib/node_modules/toolman/node_modules/toolman-linux-x64/toolman")
	script := link("npm/bin/toolman", file("lib/node_modules/toolman/bin/toolman.js"))
	other := file("other/toolman")
	venv := file("venv/bin/toolman")
	for _, test := range []struct {
		name, path, found string
		want              Program
	}{
		{"in PATH", other, other, Program{Command: "toolman", Path: other}},
		{"not in PATH", other, "", Program{Command: other, Path: other}},
		{"another in PATH", cellar, other, Program{Command: cellar, Path: cellar}},
		{"behind a link that upgrades keep", cellar, brew, Program{Command: "toolman", Path: brew}},
		{"npm install -g", binary, script, Program{Command: "toolman", Path: script}},
		{"npx", "/home/u/.npm/_npx/0123/node_modules/toolman-linux-x64/bin/toolman", other, Program{Command: "npx", Args: []string{"-y", "toolman"}}},
		{"uvx", "/home/u/.cache/uv/archive-v0/0123/bin/toolman", other, Program{Command: "uvx", Args: []string{"toolman"}}},
		{"a virtual environment", venv, venv, Program{Command: venv, Path: venv}},
	} {
		look := func(string) (string, error) {
			if test.found == "" {
				return "", errors.New("not found")
			}
			return test.found, nil
		}
		got := programAt(test.path, look, func(string) string { return filepath.Join(dir, "venv") })
		if got.Command != test.want.Command || got.Path != test.want.Path || strings.Join(got.Args, " ") != strings.Join(test.want.Args, " ") {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
	desktop, err := clients.ByName("claude-desktop")
	if err != nil {
		t.Fatal(err)
	}
	if got := (Program{Command: "toolman", Path: brew}).For(desktop, "--config", "x"); got.Command != brew {
		t.Errorf("for a client without the shell's PATH: %+v", got)
	}
}
