package importer

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/toolsfile"
)

// files writes files of clients into a home directory and a project, and returns those that exist.
func files(t *testing.T, texts map[string]string) (clients.Place, []clients.File) {
	t.Helper()
	root := t.TempDir()
	place := clients.Place{OS: runtime.GOOS, Home: filepath.Join(root, "home"), Project: filepath.Join(root, "project"), Dir: filepath.Join(root, "project"), Getenv: func(string) string { return "" }}
	for name, text := range texts {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var all []clients.File
	for _, c := range clients.All() {
		for _, f := range c.Files(place) {
			if f.Exists() {
				all = append(all, f)
			}
		}
	}
	return place, all
}

// summary returns the servers of a plan as namespace=clients, with a star if tools.toml has them.
func summary(p *Plan) string {
	var all []string
	for _, s := range p.Servers {
		one := s.Namespace + "=" + s.From()
		if s.Known {
			one += "*"
		}
		all = append(all, one)
	}
	return strings.Join(all, "; ")
}

const (
	claude = `{"mcpServers":{
  "fs":{"command":"npx","args":["-y","fs","."]},
  "my server":{"command":"one","env":{"API_KEY":"first-secret"}},
  "toolman":{"command":"/opt/toolman","args":["--config","x"]},
  "ws":{"type":"ws","url":"wss://h"}}}`
	cursor = `{"mcpServers":{
  "files":{"command":"npx","args":["-y","fs","."]},
  "my server":{"command":"two","env":{"API_KEY":"second-secret"}},
  "off":{"command":"x","disabled":true},
  "taken":{"command":"four","env":{"OTHER_KEY":"third-secret"}},
  "by-env":{"command":"three","env":{"OTHER_KEY":"${env:OTHER_KEY}"}}}}`
)

func TestCollect(t *testing.T) {
	place, all := files(t, map[string]string{"home/.claude.json": claude, "home/.cursor/mcp.json": cursor, "home/.codex/config.toml": "[[broken\n"})
	target := toolsfile.File{Path: filepath.Join(place.Home, "tools.toml")}
	p, err := Collect(Options{Place: place}, target, all)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := summary(p), "fs=Claude Code and Cursor; my_server=Claude Code; my_server_cursor=Cursor; taken=Cursor; by-env=Cursor"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if got := strings.Join(p.SecretNames(), " "); got != "API_KEY MY_SERVER_API_KEY TAKEN_OTHER_KEY" {
		t.Errorf("secrets: %s", got)
	}
	if len(p.Toolman) != 1 || len(p.Problems) != 1 || !strings.Contains(p.Problems[0].Error(), "config.toml:") {
		t.Errorf("toolman %v, problems %v", p.Toolman, p.Problems)
	}
	var skipped []string
	for _, s := range p.Skipped {
		skipped = append(skipped, s.String())
	}
	if got := strings.Join(skipped, "\n"); !strings.Contains(got, "off of Cursor (") || !strings.Contains(got, "mcp.json:4): it is disabled there") || !strings.Contains(got, "ws of Claude Code") || len(skipped) != 2 {
		t.Errorf("left out:\n%s", got)
	}
	text, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"# From Claude Code and Cursor.\n[[servers]]\nnamespace = \"fs\"\n", "#:schema ", `env = { API_KEY = "${MY_SERVER_API_KEY}" }`, `# active_toolsets = ["fs_*", "my_server_*"]`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "-secret") {
		t.Errorf("a secret is in\n%s", text)
	}

	// A second time, tools.toml has them all.
	target.Text = text
	if p, err = Collect(Options{Place: place}, target, all); err != nil {
		t.Fatal(err)
	}
	if got, want := summary(p), "fs=Claude Code and Cursor*; my_server=Claude Code*; my_server_cursor=Cursor*; taken=Cursor*; by-env=Cursor*"; got != want {
		t.Errorf("again: got %s\nwant %s", got, want)
	}
	if again, err := p.Text(); err != nil || string(again) != string(text) {
		t.Errorf("again: %v\n%s", err, again)
	}
}

// TestServersThatToolmanRefuses leaves them out alone: with one of them, tools.toml could not be used.
func TestServersThatToolmanRefuses(t *testing.T) {
	place, all := files(t, map[string]string{"home/.claude.json": `{"mcpServers":{
  "blank":{"command":" "},
  "env":{"command":"x","env":{"A=B":"1"}},
  "header":{"type":"http","url":"https://h/mcp","headers":{"a b":"1"}},
  "line":{"type":"http","url":"https://h/mcp","headers":{"A":"1\n2"}},
  "url":{"type":"http","url":"https://a b/%zz"},
  "good":{"command":"x","cwd":"${X"}}}`})
	p, err := Collect(Options{Place: place}, toolsfile.File{Path: filepath.Join(place.Home, "tools.toml")}, all)
	if err != nil || summary(p) != "good=Claude Code" || len(p.Skipped) != 5 {
		t.Errorf("%v: %s, without %v", err, summary(p), p.Skipped)
	}
}

func TestSecretsInFiles(t *testing.T) {
	place, all := files(t, map[string]string{"home/.claude.json": claude, "home/.cursor/mcp.json": cursor, "home/.config/toolman/secrets/API_KEY": "another"})
	dir := SecretsFolder(filepath.Join(place.Home, ".config", "toolman"))
	p, err := Collect(Options{Place: place, Secrets: dir}, toolsfile.File{Path: filepath.Join(place.Home, "tools.toml")}, all)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.Text()
	if err != nil || !strings.Contains(string(text), `env = { API_KEY = "${file:~/.config/toolman/secrets/API_KEY_2}" }`) {
		t.Errorf("%v\n%s", err, text)
	}
	changes, err := p.SecretFiles()
	if err != nil || len(changes) != 3 || changes[0].Path != filepath.Join(dir, "API_KEY_2") || string(changes[0].After) != "first-secret" || changes[0].Mode != 0o600 {
		t.Errorf("%v %+v", err, changes)
	}
	if one := WithVariable(p.Servers[1].Server, p.Servers[1].Secrets[0]); one.Env[0].Value != "${API_KEY}" || strings.Contains(p.Servers[1].Env[0].Value, "${API_KEY}") {
		t.Errorf("got %+v of %+v", one, p.Servers[1].Server)
	}
}

func TestProjectFiles(t *testing.T) {
	place, all := files(t, map[string]string{
		"project/.mcp.json":        `{"mcpServers":{"a":{"command":"node","args":["./a.js"]}}}`, // of Claude Code and Copilot CLI
		"project/.vscode/mcp.json": `{"servers":{"b":{"command":"b","args":["${workspaceFolder}"],"env":{"K":"${input:k}"}}}}`,
	})
	p, err := Collect(Options{Place: place}, toolsfile.File{Path: filepath.Join(place.Project, "tools.toml")}, all)
	if err != nil || summary(p) != "a=Claude Code; b=VS Code" {
		t.Fatalf("%v %s", err, summary(p))
	}
	if a, b := p.Servers[0], p.Servers[1]; a.Cwd != "." || b.Args[0] != place.Project || len(b.Inputs) != 1 || b.Inputs[0].Text != "${input:k}" {
		t.Errorf("got %+v %+v", a, b)
	}
	p.Leave(p.Servers[0], "it does not start")
	if summary(p) != "b=VS Code" || len(p.Skipped) != 1 {
		t.Errorf("got %s, %v", summary(p), p.Skipped)
	}
}
