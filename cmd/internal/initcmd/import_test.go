package initcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/fixtures/files"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/engine"
	"toolman/cmd/internal/installcmd"
	"toolman/cmd/internal/setup"
)

// inHome makes a home directory and a project of files, and changes into the project.
func inHome(t *testing.T, texts map[string]string) (root string) {
	t.Helper()
	home, _ := files.Home(t)
	t.Setenv("APPDATA", filepath.Join(home, ".config"))
	t.Setenv("LOCALAPPDATA", filepath.Join(home, ".cache"))
	root = filepath.Dir(home)
	for name, text := range texts {
		files.Write(t, filepath.Join(root, name), text, 0o600)
	}
	return root
}

// run runs a command line of toolman without a terminal.
func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	f := &engine.Flags{Flags: setup.Flags{Stdin: null}, Stdout: null, Stderr: null}
	var out bytes.Buffer
	root := &cobra.Command{Use: "toolman", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(append(Commands(f), installcmd.Commands(&f.Flags)...)...)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err = root.ExecuteContext(t.Context())
	return out.String(), err
}

const cursor = `{"mcpServers":{"fs":{"command":"npx","args":["-y","fs"],"env":{"API_KEY":"hunter22"}},"off":{"command":"x","disabled":true}}}`

func TestImport(t *testing.T) {
	root := inHome(t, map[string]string{"home/.cursor/mcp.json": cursor, "project/tools.toml": "# hunter22\n"})
	before := snapshot(t, root)
	out, err := run(t, "import", "cursor", "--dry-run")
	if err != nil || !strings.Contains(out, "+env = { API_KEY = \"${API_KEY}\" }\n") || !strings.Contains(out, "off of Cursor") || strings.Contains(out, "hunter22") {
		t.Errorf("dry run: %v\n%s", err, out)
	}
	if got := files.Read(t, "tools.toml"); got != "# hunter22\n" {
		t.Errorf("the dry run wrote\n%s", got)
	}
	out, err = run(t, "import", "cursor")
	got := files.Read(t, "tools.toml")
	if err != nil || !strings.HasPrefix(got, "# hunter22\n\n# From Cursor.\n[[servers]]\nnamespace = \"fs\"\n") || strings.Count(got, "hunter22") != 1 || !strings.Contains(out, "Set API_KEY where toolman is started: server fs needs it, and "+filepath.Join(root, "home/.cursor/mcp.json")+" has its value.") {
		t.Errorf("%v\n%s\n%s", err, out, got)
	}
	if out, err = run(t, "import", "cursor", "--yes"); err != nil || !strings.Contains(out, "stays as it is") || files.Read(t, "tools.toml") != got {
		t.Errorf("again: %v\n%s", err, out)
	}
	if out, err = run(t, "uninstall", "--all"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	same(t, "uninstalled", before, snapshot(t, root))
}

func TestImportSecretsIntoFiles(t *testing.T) {
	root := inHome(t, map[string]string{"home/.cursor/mcp.json": cursor})
	out, err := run(t, "import", "cursor", "--secrets", "file")
	if err != nil || strings.Contains(out, "hunter22") {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := files.Read(t, "tools.toml"); !strings.Contains(got, "${file:") || strings.Contains(got, "hunter22") {
		t.Errorf("got\n%s", got)
	}
	secret := filepath.Join(setup.ConfigFolder(os.Getenv), "secrets", "API_KEY")
	if !strings.HasPrefix(secret, root) || files.Read(t, secret) != "hunter22" {
		t.Errorf("%s holds %s", secret, files.Read(t, secret))
	}
}

func TestImportFiles(t *testing.T) {
	inHome(t, map[string]string{
		"project/some.json":    `{"mcpServers":{"a":{"command":"a","args":["${X:-1}"]}}}`,
		"project/code.json":    `{"servers":{"b":{"command":"b","args":["${env:X}"]}}}`,
		"project/config.toml":  "[mcp_servers.c]\ncommand = \"c\"\nargs = [\"${X}\"]\n",
		"project/goose.yaml":   "extensions:\n  d:\n    type: stdio\n    cmd: d\n    args: []\n    enabled: true\n",
		"project/broken.json":  `{"mcpServers":`,
		"project/nothing.json": `{}`,
	})
	if out, err := run(t, "import", "some.json", "code.json", "config.toml", "goose.yaml"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := files.Read(t, "tools.toml")
	for _, want := range []string{`args = ["${X:-1}"]`, `args = ["${X:-}"]`, `args = ["$${X}"]`, `command = "d"`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, tt := range []struct{ arg, want string }{
		{"broken.json", "broken.json:1"}, {"nothing.json", "has no servers"}, {"missing.json", "there is no file"}, {"curser", "unknown client"}, {"codex", "has no configuration"},
	} {
		if _, err := run(t, "import", tt.arg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.arg, err, tt.want)
		}
	}
	if _, err := run(t, "import", "cursor", "--secrets", "x"); cli.Code(err) != cli.ExitUsage {
		t.Errorf("got %v", err)
	}
	files.Write(t, "tools.toml", "x = [\n", 0o600)
	if _, err := run(t, "import", "some.json"); err == nil || !strings.Contains(err.Error(), "tools.toml:") || files.Read(t, "tools.toml") != "x = [\n" {
		t.Errorf("got %v", err)
	}
}
