package clients

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolman/fixtures/files"

	"toolman/cmd/internal/cli"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestPaths compares all paths with those in testdata, which were checked against the clients'
// documentation.
func TestPaths(t *testing.T) {
	var b strings.Builder
	for _, place := range []struct {
		title string
		Place
		env map[string]string
	}{
		{"linux", Place{OS: "linux", Home: "/home/u", Project: "/p", Dir: "/p/sub"}, nil},
		{"darwin", Place{OS: "darwin", Home: "/Users/u", Project: "/p", Dir: "/p"}, nil},
		{"windows", Place{OS: "windows", Home: "C:/Users/u", Project: "C:/p", Dir: "C:/p"}, map[string]string{"APPDATA": "C:/Users/u/Roaming", "LOCALAPPDATA": "C:/Users/u/Local"}},
		{"linux with variables", Place{OS: "linux", Home: "/home/u"}, map[string]string{
			"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x", "COPILOT_HOME": "/co", "XDG_CONFIG_HOME": "/xdg", "CLINE_DIR": "/cl"}},
	} {
		place.Getenv = func(name string) string { return place.env[name] }
		fmt.Fprintf(&b, "# %s\n", place.title)
		for _, c := range All() {
			for _, f := range c.Files(place.Place) {
				fmt.Fprintf(&b, "%-14s %-7s %-4s %s %s\n", c.ID, f.Scope, f.Format, filepath.ToSlash(f.Path), strings.Join(f.Keys, "."))
			}
		}
	}
	path := filepath.Join("testdata", "paths.txt")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != strings.ReplaceAll(string(want), "\r\n", "\n") {
		t.Errorf("the paths differ from %s (go test -update rewrites it):\n%s", path, got)
	}
}

func TestByName(t *testing.T) {
	for name, want := range map[string]string{"claude-code": "claude-code", "Claude Code": "claude-code", "VSCODE": "vscode", "copilot": "copilot-cli", "gemini-cli": "gemini"} {
		if c, err := ByName(name); err != nil || c.ID != want {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	_, err := ByName("codx")
	if err == nil || !strings.HasPrefix(cli.Hint(err), "did you mean codex?") || cli.Code(err) != cli.ExitUsage {
		t.Errorf("codx: %v, hint %q", err, cli.Hint(err))
	}
}

func TestProjectOf(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{"repo/.git", "repo/a/b", "plain/x"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for dir, want := range map[string]string{"repo/a/b": "repo", "repo": "repo", "plain/x": "plain/x", ".": ""} {
		if want != "" {
			want = filepath.Join(home, want)
		}
		if got := At(home, filepath.Join(home, dir)).Project; got != want {
			t.Errorf("%s: project %q, want %q", dir, got, want)
		}
	}
	if err := os.Mkdir(filepath.Join(home, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := At(home, home).Project; got != "" {
		t.Errorf("a repository in the home directory is project %q", got)
	}
	if got, want := At(home, filepath.Join(home, "plain", "x")).Project, filepath.Join(home, "plain", "x"); got != want {
		t.Errorf("below a repository in the home directory: project %q, want %q", got, want)
	}
}

// TestFilesBelowAPattern has a project whose name is a pattern for filepath.Glob.
func TestFilesBelowAPattern(t *testing.T) {
	home := t.TempDir()
	project := filepath.Join(home, "a [1]")
	path := filepath.Join(project, ".continue", "mcpServers", "x.json")
	files.Write(t, path, "{}", 0o644)
	c, err := ByName("continue")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(c.Files(At(home, project)), func(f File) bool { return f.Path == path }) {
		t.Error("the file was not found")
	}
}

// OpenCode 2 has its servers one level below those of OpenCode 1, in the same file.
func TestOpenCodeOfBothVersions(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".config", "opencode", "opencode.json")
	c, err := ByName("opencode")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, text, keys, entries, enabled string }{
		{"1", `{"mcp": {"a": {"type": "local", "command": ["a"]}}}`, "mcp", "a", "[enabled timeout]"},
		{"1, with a server of that name", `{"mcp": {"servers": {"type": "local", "command": ["a"]}}}`, "mcp", "servers", "[enabled timeout]"},
		{"2", `{"mcp": {"timeout": {}, "servers": {"a": {"type": "local", "command": ["a"]}, "b": {"type": "remote", "url": "https://b"}}}}`, "mcp.servers", "a b", "[]"},
		{"2, without servers", `{"mcp": {"servers": {}}}`, "mcp.servers", "", "[]"},
		{"not JSON", `{"mcp": `, "mcp", "", "[enabled timeout]"},
	} {
		files.Write(t, path, tt.text, 0o644)
		f, err := c.Target(Place{OS: "linux", Home: home}, User)
		if err != nil || strings.Join(f.Keys, ".") != tt.keys {
			t.Errorf("%s: %q, %v", tt.name, f.Keys, err)
		}
		var names, keys []string
		entries, _ := f.Read() // the last case fails
		for _, e := range entries {
			names = append(names, e.Name)
		}
		for _, m := range f.Entry(Toolman{Name: "toolman", Command: "toolman"}) {
			if m.Key == "enabled" || m.Key == "timeout" {
				keys = append(keys, m.Key)
			}
		}
		if strings.Join(names, " ") != tt.entries || fmt.Sprint(keys) != tt.enabled {
			t.Errorf("%s: the servers are %q, and toolman's entry has %q", tt.name, names, keys)
		}
	}
}

func TestDetected(t *testing.T) {
	home := t.TempDir()
	bin := filepath.Join(home, "bin")
	files.Write(t, filepath.Join(home, ".cursor", "x"), "", 0o644)
	files.Write(t, filepath.Join(home, ".copilot", "mcp-config.json"), "{}", 0o644)
	files.Write(t, filepath.Join(bin, "codex"), "#!/bin/sh\n", 0o644)
	if err := os.Chmod(filepath.Join(bin, "codex"), 0o755); err != nil {
		t.Fatal(err)
	}
	files.Write(t, filepath.Join(bin, "gemini"), "not executable", 0o644)
	p := Place{OS: "linux", Home: home, Getenv: func(name string) string {
		if name == "PATH" {
			return bin
		}
		return ""
	}}
	var found []string
	for _, c := range All() {
		if c.Detected(p) {
			found = append(found, c.ID)
		}
	}
	if want := []string{"cursor", "copilot-cli", "codex"}; !slices.Equal(found, want) {
		t.Errorf("detected %v, want %v", found, want)
	}
}
