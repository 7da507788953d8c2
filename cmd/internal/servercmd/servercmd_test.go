package servercmd

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/fixtures/files"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/setup"
)

// run runs a command line in the working directory.
func run(f *setup.Flags, args ...string) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	root := &cobra.Command{Use: "toolman", SilenceErrors: true, SilenceUsage: true}
	root.AddCommand(New(f)...)
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&errs)
	err = root.Execute()
	return out.String(), errs.String(), err
}

func inEmptyFolder(t *testing.T) string {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("APPDATA", filepath.Join(dir, "home", ".config"))
	for _, name := range []string{"XDG_CONFIG_HOME", "TOOLMAN_CONFIG", "TOOLMAN_CONFIG_JSON", "CLAUDE_PROJECT_DIR"} {
		t.Setenv(name, "")
	}
	return dir
}

func TestAddAndRemove(t *testing.T) {
	dir := inEmptyFolder(t)
	f := &setup.Flags{}
	out, _, err := run(f, "add", "fs", "--dry-run", "--env", "TOKEN", "--", "npx", "-y", "pkg", "a b")
	if err != nil || !strings.Contains(out, "+args = [\"-y\", \"pkg\", \"a b\"]\n+env = { TOKEN = \"${TOKEN}\" }\n") || strings.Contains(out, "$schema") {
		t.Errorf("dry run: %v\n%s", err, out)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("the dry run made %v", left)
	}
	for range 2 { // again is no change
		if _, _, err := run(f, "add", "fs", "--env", "TOKEN", "--", "npx", "-y", "pkg", "a b"); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := run(f, "add", "web", "https://example.com/mcp", "--header", "Authorization: Bearer ${TOKEN}"); err != nil {
		t.Fatal(err)
	}
	got := files.Read(t, "tools.toml")
	if strings.Count(got, "[[servers]]") != 2 || !strings.HasSuffix(got, "url = \"https://example.com/mcp\"\nheaders = { Authorization = \"Bearer ${TOKEN}\" }\n") {
		t.Errorf("got\n%s", got)
	}
	if schema := files.Read(t, ".toolman/tools.schema.json"); !strings.Contains(schema, "draft-07") {
		t.Errorf("the schema is\n%s", schema)
	}
	if _, _, err := run(f, "add", "fs", "--", "other"); err == nil || !strings.Contains(cli.Hint(err), "--replace") {
		t.Errorf("got %v", err)
	}
	if _, _, err := run(f, "add", "fs", "--replace", "--", "other"); err != nil || !strings.Contains(files.Read(t, "tools.toml"), "command = \"other\"\nargs = []\n\n[[servers]]\nnamespace = \"web\"") {
		t.Errorf("replace: %v\n%s", err, files.Read(t, "tools.toml"))
	}
	for _, name := range []string{"fs", "web"} {
		if _, _, err := run(f, "remove", name); err != nil {
			t.Fatal(err)
		}
	}
	if got := files.Read(t, "tools.toml"); strings.Contains(got, "servers]]") || !strings.HasPrefix(got, "#:schema .toolman/tools.schema.json\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestTheFileInUseIsEdited(t *testing.T) {
	dir := inEmptyFolder(t)
	user := filepath.Join(dir, "home", ".config", "toolman", "tools.toml")
	if err := os.MkdirAll(filepath.Dir(user), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(user, []byte("# mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(&setup.Flags{}, "add", "a", "--", "x"); err != nil || !strings.HasPrefix(files.Read(t, user), "# mine\n\n[[servers]]\n") {
		t.Errorf("%v\n%s", err, files.Read(t, user))
	}
	if _, _, err := run(&setup.Flags{Config: "other.toml"}, "add", "a", "--", "x"); err != nil || !strings.Contains(files.Read(t, "other.toml"), "namespace = \"a\"") {
		t.Error(err)
	}
	t.Setenv("TOOLMAN_CONFIG_JSON", "{}")
	if _, _, err := run(&setup.Flags{}, "add", "a", "--", "x"); err == nil || !strings.Contains(err.Error(), "in no file") {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreNotWrittenUnasked(t *testing.T) {
	inEmptyFolder(t)
	const token = "ghp_0123456789abcdef0123"
	for _, args := range [][]string{
		{"add", "a", "--env", "API_KEY=hunter2", "--", "x"},
		{"add", "a", "--env", "X=" + token, "--", "x"},
		{"add", "a", "--", "x", token},
		{"add", "a", "--", "x", "--api-key=hunter2"},
		{"add", "a", "--", "x", "--api-key", "hunter2"},
		{"add", "a", "https://h/mcp", "--header", "Authorization=Bearer hunter2"},
		{"add", "a", "https://u:hunter2@h/mcp"},
	} {
		_, _, err := run(&setup.Flags{}, args...)
		if err == nil || cli.Code(err) != cli.ExitUsage || !strings.Contains(err.Error(), "looks like a secret") || strings.Contains(err.Error()+cli.Hint(err), "hunter2") || strings.Contains(err.Error(), token) {
			t.Errorf("%q: got %v", args, err)
		}
		if _, err := os.Stat("tools.toml"); err == nil {
			t.Fatalf("%q wrote a file", args)
		}
	}
	_, stderr, err := run(&setup.Flags{}, "add", "a", "--clear-text", "--env", "API_KEY=hunter2", "--", "x")
	if err != nil || !strings.Contains(stderr, "warning: the value of API_KEY looks like a secret") || !strings.Contains(files.Read(t, "tools.toml"), "hunter2") {
		t.Errorf("%v\n%s", err, stderr)
	}
}

func TestWrongAdditions(t *testing.T) {
	inEmptyFolder(t)
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"add", "a"}, "takes a name"},
		{[]string{"add", "a", "npx"}, "takes a name"},
		{[]string{"add", "a", "npx", "-y"}, "shorthand"},
		{[]string{"add", "a b", "--", "x"}, "cannot be the name"},
		{[]string{"add", "a", "--", "x", "${input:y}"}, "known to clients only"},
		{[]string{"add", "a", "--", ""}, "neither command"},
		{[]string{"add", "a", "ftp://h"}, "url is no URL"},
		{[]string{"add", "a", "--header", "A=b", "--", "x"}, "--header is for"},
		{[]string{"add", "a", "--env", "A=b", "https://h"}, "--env and --cwd are for"},
		{[]string{"remove", "a"}, "there is no tools.toml"},
	} {
		if _, _, err := run(&setup.Flags{}, tt.args...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: got %v, want %s", tt.args, err, tt.want)
		}
	}
	if err := os.WriteFile("tools.toml", []byte("[[servers]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(&setup.Flags{}, "add", "a", "--", "x"); err == nil || !strings.Contains(err.Error(), "tools.toml:") || files.Read(t, "tools.toml") != "[[servers]\n" {
		t.Errorf("got %v", err)
	}
}
