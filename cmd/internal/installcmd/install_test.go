package installcmd

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/clients"
	"toolman/cmd/internal/clients/edit"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/setup"
	"toolman/cmd/internal/store/catalogs"
	"toolman/fixtures/files"
	"toolman/router/recall"
)

var update = flag.Bool("update", false, "rewrite testdata")

// here is the directory of this package; the tests are in others.
var here, _ = os.Getwd()

// machine makes an empty home directory and a project with a tools.toml, in which the test then is.
func machine(t *testing.T) (home, project string) {
	t.Helper()
	home, project = files.Home(t)
	files.Write(t, filepath.Join(project, "tools.toml"), "[[servers]]\nnamespace = \"a\"\ncommand = \"a\"\nenv = { GITHUB_TOKEN = \"${GITHUB_TOKEN}\", REGION = \"${AWS_REGION:-x}\", H = \"${HOME}\" }\n", 0o644)
	return home, project
}

// run runs one of the commands and returns what it writes.
func run(t *testing.T, args ...string) (out, errOut string, err error) {
	t.Helper()
	root := &cobra.Command{Use: "toolman", SilenceErrors: true, SilenceUsage: true}
	f := &setup.Flags{}
	root.PersistentFlags().StringVar(&f.Config, "config", "", "")
	root.AddCommand(Commands(f)...)
	var stdout, stderr bytes.Buffer
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(args)
	err = root.ExecuteContext(context.Background())
	return stdout.String(), stderr.String(), err
}

func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	out, _, err := run(t, args...)
	if err != nil {
		t.Fatalf("toolman %s: %v; %s", strings.Join(args, " "), err, cli.Hint(err))
	}
	return out
}

// corpus returns texts that a client's file can have.
func corpus(f clients.File) map[string]string {
	key := f.Keys[len(f.Keys)-1]
	switch {
	case f.Format == edit.TOML:
		return map[string]string{
			"empty":           "",
			"comment":         "# my settings\n",
			"settings":        "model = \"x\" # mine\n\n[tui]\nnotifications = true",
			"servers":         "# servers\n[mcp_servers.git]\ncommand = \"uvx\"\nargs = [\n  \"mcp-server-git\", # git\n]\n[mcp_servers.git.env]\nA = '[mcp_servers.toolman]'\n\n[projects.\"/p\"]\ntrust_level = \"trusted\"\n\n\n",
			"keys":            "[mcp_servers]\ngit = { command = \"uvx\" }\n",
			"multi-line text": "text = \"\"\"\n[mcp_servers.toolman]\ncommand = 1\n\"\"\"\n",
		}
	case f.Format == edit.YAML && f.List:
		return map[string]string{
			"settings": "name: My\nversion: 1.0.0\nschema: v1\nmodels: []\n",
			"servers":  "name: My\nmcpServers:\n  # git\n  - name: git\n    command: uvx\n    args: [mcp-server-git]\n\n# end\nmodels:\n  - name: x\n",
			"flush":    "mcpServers:\n- name: git\n  command: uvx\n- uses: a/b",
			"none":     "mcpServers: []\nname: My\n",
		}
	case f.Format == edit.YAML:
		return map[string]string{
			"empty":    "",
			"comment":  "# mine\n",
			"settings": "GOOSE_MODEL: x # mine\n",
			"servers":  "extensions:\n  developer:\n    bundled: true\n    enabled: true\n    name: developer\n    type: builtin\n  # git\n  git:\n    args:\n    - mcp-server-git\n    cmd: uvx\n    description: |\n      many\n\n      lines\n    enabled: true\n    name: git\n    type: stdio\nGOOSE_MODEL: x",
			"none":     "extensions: {}\nGOOSE_MODEL: x\n",
			"null":     "GOOSE_MODEL: x\nextensions:\n",
		}
	}
	deep := strings.Repeat(`{"a":[`, 50) + "1" + strings.Repeat("]}", 50)
	servers := "{\n  // servers\n  \"KEY\": {\n    \"git\": {\n      \"command\": \"uvx\", /* git */\n      \"args\": [\"mcp-server-git\"]\n    } // last\n  },\n  \"unknown\": {\"x\": [1, 2.50, null, \"\\u00e9 // \\\"\"]}\n}\n"
	with := func(s string) string { return strings.ReplaceAll(s, "KEY", key) }
	return map[string]string{
		"empty":                    "",
		"empty object":             "{}",
		"blank object":             "{\n\n}\n",
		"only a comment":           "// settings",
		"settings":                 "{\"theme\": \"dark\"}",
		"no servers":               with("{\n    \"KEY\": {}\n}"),
		"servers":                  with(servers),
		"tabs":                     strings.ReplaceAll(with(servers), "  ", "\t"),
		"CRLF":                     strings.ReplaceAll(with(servers), "\n", "\r\n"),
		"byte order mark":          "\xef\xbb\xbf" + with(servers),
		"trailing commas":          with("{\n  \"KEY\": {\n    \"git\": {\"command\": \"uvx\",},\n  },\n}"),
		"one line":                 with(`{"KEY":{"git":{"command":"uvx"}},"unknown":true}`),
		"deep":                     with("{\n  \"x\": " + deep + ",\n  \"KEY\": {}\n}\n"),
		"duplicates of no concern": with("{\n  \"a\": 1,\n  \"a\": 2,\n  \"KEY\": {}\n}\n"),
	}
}

// writable are the clients with a file in a scope.
func writable(t *testing.T, scope clients.Scope) (files []clients.File) {
	t.Helper()
	place, err := clients.Here()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range clients.All() {
		if f, err := c.Target(place, scope); err == nil {
			files = append(files, f)
		}
	}
	return files
}

// TestRoundTrips registers toolman in every client, whatever its file holds, and undoes it.
func TestRoundTrips(t *testing.T) {
	home, project := machine(t)
	for _, scope := range []clients.Scope{clients.User, clients.Project} {
		targets := writable(t, scope)
		if least := map[clients.Scope]int{clients.User: 21, clients.Project: 16}[scope]; len(targets) < least {
			t.Errorf("only %d clients have a %s file", len(targets), scope)
		}
		for _, f := range targets {
			for name, text := range corpus(f) {
				t.Run(fmt.Sprintf("%s/%s/%s", f.Client.ID, scope, name), func(t *testing.T) {
					files.Write(t, f.Path, text, 0o644)
					t.Cleanup(func() { os.Remove(f.Path) })
					before := files.Tree(t, home, project)
					mustRun(t, "install", f.Client.ID, "--scope", string(scope))
					entries, err := f.Read()
					if err != nil {
						t.Fatal(err)
					}
					n := 0
					for _, e := range entries {
						if e.Name == "toolman" && e.Config() == filepath.Join(project, "tools.toml") {
							n++
						}
					}
					if n != 1 {
						t.Fatalf("toolman is %d times in %+v", n, entries)
					}
					written := files.Tree(t, home, project)
					if out := mustRun(t, "install", f.Client.ID, "--scope", string(scope)); !strings.Contains(out, "is registered already in") {
						t.Errorf("a second time: %s", out)
					}
					if again := files.Tree(t, home, project); again != written {
						t.Errorf("a second install changes something:\n%s\nfrom\n%s", again, written)
					}
					if out := mustRun(t, "uninstall", f.Client.ID); !strings.Contains(out, "is as it was before") {
						t.Errorf("uninstall: %s", out)
					}
					if after := files.Tree(t, home, project); after != before {
						t.Errorf("after uninstall:\n%s\nbefore:\n%s", after, before)
					}
				})
			}
		}
	}
}

// TestOpenCode2 has the entry beside the servers of OpenCode 2, and out again.
func TestOpenCode2(t *testing.T) {
	home, project := machine(t)
	path := filepath.Join(project, "opencode.jsonc")
	files.Write(t, path, "{\n  \"mcp\": {\n    // mine\n    \"servers\": {\n      \"git\": {\"type\": \"local\", \"command\": [\"uvx\", \"mcp-server-git\"], \"disabled\": true},\n    },\n  },\n}\n", 0o644)
	before := files.Tree(t, home, project)
	mustRun(t, "install", "opencode", "--scope", "project")
	if got := files.Read(t, path); !strings.Contains(got, "\"disabled\": true},\n      \"toolman\": {\n        \"type\": \"local\"") || strings.Contains(got, "enabled") {
		t.Errorf("got\n%s", got)
	}
	mustRun(t, "uninstall", "opencode")
	if after := files.Tree(t, home, project); after != before {
		t.Errorf("after uninstall:\n%s\nbefore:\n%s", after, before)
	}
}

// TestUninstallAllLeavesNothing registers toolman everywhere, in files that do not exist.
func TestUninstallAllLeavesNothing(t *testing.T) {
	home, project := machine(t)
	files.Write(t, filepath.Join(home, ".claude.json"), "{\n  \"numStartups\": 1\n}\n", 0o644)
	before := files.Tree(t, home, project)
	for _, scope := range []clients.Scope{clients.User, clients.Project} {
		args := []string{"install", "--scope", string(scope)}
		for _, f := range writable(t, scope) {
			args = append(args, f.Client.ID)
		}
		mustRun(t, args...)
	}
	if files.Tree(t, home, project) == before {
		t.Fatal("nothing was written")
	}
	dry := mustRun(t, "uninstall", "--all", "--dry-run")
	if !strings.Contains(dry, "\n-    \"toolman\": {\n") || !strings.Contains(dry, "+++ "+os.DevNull) ||
		!strings.Contains(dry, ".claude.json would be as it was before\n") || !strings.Contains(dry, "would be removed: toolman has made it\n") {
		t.Errorf("dry run:\n%s", dry)
	}
	if strings.Contains(dry, "catalog cache") {
		t.Errorf("there is no catalog cache:\n%s", dry)
	}
	folder, err := catalogs.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := folder.Memory(catalogs.Server{Name: "s", Start: func() string { return "s" }}).Remember(recall.Client{Key: "k"}, &recall.Offered{}); err != nil {
		t.Fatal(err)
	}
	files.Write(t, filepath.Join(folder.Path(), ".tmp-1"), "of a toolman that was killed", 0o600)
	filled := files.Tree(t, home, project)
	if dry := mustRun(t, "uninstall", "--all", "--dry-run"); !strings.HasPrefix(dry, "the catalog cache "+folder.Path()+" would be removed\n") || files.Tree(t, home, project) != filled {
		t.Errorf("dry run:\n%s", dry)
	}
	mustRun(t, "uninstall", "codex")
	if !folder.Exists() {
		t.Error("uninstall of one client removed the catalog cache")
	}
	if out := mustRun(t, "uninstall", "--all"); !strings.HasPrefix(out, "the catalog cache "+folder.Path()+" is removed\n") {
		t.Errorf("uninstall says:\n%s", out)
	}
	if after := files.Tree(t, home, project); after != before {
		t.Errorf("after uninstall:\n%s\nbefore:\n%s", after, before)
	}
	if out := mustRun(t, "uninstall", "--all"); out != "nothing to undo\n" {
		t.Errorf("a second time: %s", out)
	}
}

// What is kept of servers that want a login goes with everything else; a login has to be revoked.
func TestUninstallAllKeepsLogins(t *testing.T) {
	home, project := machine(t)
	t.Setenv("TOOLMAN_LOGINS", "")
	before := files.Tree(t, home, project)
	folder, err := logins.Open()
	if err != nil {
		t.Fatal(err)
	}
	asked, made := folder.File(logins.Key{URL: "https://asked.test/mcp"}), folder.File(logins.Key{URL: "https://made.test/mcp"})
	keep := func(f *logins.File, token string) {
		t.Helper()
		if err := f.Update(t.Context(), func(r *logins.Record) error {
			r.Challenge, r.AccessToken = &logins.Challenge{Scopes: []string{"read"}}, token
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	keep(asked, "")
	mustRun(t, "install", "cursor")
	mustRun(t, "uninstall", "--all")
	if after := files.Tree(t, home, project); after != before {
		t.Errorf("after uninstall:\n%s\nbefore:\n%s", after, before)
	}
	keep(asked, "")
	keep(made, "secret")
	mustRun(t, "uninstall", "--all", "--dry-run")
	if r, err := asked.Load(); err != nil || r == nil {
		t.Errorf("a dry run left %v, %v", r, err)
	}
	out := mustRun(t, "uninstall", "--all")
	r, err := made.Load()
	if left, _ := asked.Load(); left != nil || err != nil || !r.HasTokens() || !strings.Contains(out, "1 login is in "+folder.Path()+"; toolman logout --all") {
		t.Errorf("%v and %v, %v are left; uninstall says\n%s", left, r, err, out)
	}
}

// TestRefusedAndUnchanged has all files as they were, also those of the other clients.
func TestRefusedAndUnchanged(t *testing.T) {
	for _, test := range []struct{ name, client, path, text, want string }{
		{"syntax error", "cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n    \"a\": {,}\n  }\n}", "mcp.json:3: this is not JSON: invalid character ','"},
		{"cut off", "cursor", ".cursor/mcp.json", "{\n  \"mcpServers\": {\n", "mcp.json:3: this is not JSON: the text ends too early"},
		{"TOML", "codex", ".codex/config.toml", "a = 1\nb = x\n", "config.toml:2: this is not TOML"},
		{"YAML", "goose", ".config/goose/config.yaml", "a: 1\n b: 2\n", "config.yaml:2: this is not YAML"},
		{"servers twice", "cursor", ".cursor/mcp.json", "{\n\"mcpServers\": {},\n\"mcpServers\": {}\n}", "mcp.json:3: the key \"mcpServers\" has already been given"},
		{"another toolman", "cursor", ".cursor/mcp.json", "{\"mcpServers\": {\n\"toolman\": {\"command\": \"other\"}}}", "mcp.json:2: the entry toolman starts something else"},
		{"UTF-16", "cursor", ".cursor/mcp.json", "\xff\xfe{\x00}\x00", "mcp.json:1: the text is not UTF-8"},
		{"a list", "cursor", ".cursor/mcp.json", "[]", "mcp.json:1: the file is an array where an object is expected"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS != "linux" && test.client == "goose" {
				t.Skipf("SKIPPED on %s: the file is elsewhere", runtime.GOOS)
			}
			home, project := machine(t)
			files.Write(t, filepath.Join(home, filepath.FromSlash(test.path)), test.text, 0o644)
			before := files.Tree(t, home, project)
			_, _, err := run(t, "install", "claude-code", test.client)
			if err == nil || !strings.Contains(filepath.ToSlash(err.Error()), test.want) || cli.Hint(err) == "" {
				t.Errorf("got %v (hint %q), want %s", err, cli.Hint(err), test.want)
			}
			if after := files.Tree(t, home, project); after != before {
				t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
}

func TestReadOnlyFile(t *testing.T) {
	home, project := machine(t)
	path := filepath.Join(home, ".cursor", "mcp.json")
	files.Write(t, path, "{}", 0o644)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(path, 0o644) })
	before := files.Tree(t, home, project)
	if _, _, err := run(t, "install", "cursor", "claude-code"); err == nil || !strings.Contains(err.Error(), "is read-only") {
		t.Errorf("got %v", err)
	}
	if after := files.Tree(t, home, project); after != before {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
}

// TestDryRun prints a diff without secrets and changes nothing.
func TestDryRun(t *testing.T) {
	home, project := machine(t)
	files.Write(t, filepath.Join(home, ".claude.json"), `{
  "oauthAccount": {"accessToken": "tok-1234567"},
  "primaryApiKey": "key-1234567",
  "mcpServers": {
    "gh": {"command": "gh", "args": ["--api-key", "arg-1234567", "--token=arg2-123456", "sk-ant-REDACT-1234567890"], "env": {"GITHUB_TOKEN": "env-1234567", "OK": "${OTHER_TOKEN}"}, "headers": {"Authorization": "Bearer head-123456"}}
  }
}
`, 0o644)
	before := files.Tree(t, home, project)
	out, errOut, err := run(t, "install", "claude-code", "codex", "--dry-run")
	if err != nil {
		t.Fatal(err)
	}
	if after := files.Tree(t, home, project); after != before {
		t.Errorf("something was changed:\n%s\nbefore:\n%s", after, before)
	}
	for _, secret := range []string{"tok-1", "key-1", "arg-1", "arg2-1", "sk-ant", "env-1", "head-1"} {
		if strings.Contains(out, secret) {
			t.Errorf("%s is printed:\n%s", secret, out)
		}
	}
	for _, want := range []string{"+    \"toolman\": {", hidden, "${OTHER_TOKEN}", "+[mcp_servers.toolman]", "+env_vars = [\"AWS_REGION\", \"GITHUB_TOKEN\"]", "--- " + os.DevNull} {
		if !strings.Contains(out, want) {
			t.Errorf("%s is not there:\n%s", want, out)
		}
	}
	if !strings.Contains(errOut, "claude-code: toolman would be registered in "+filepath.Join(home, ".claude.json")) {
		t.Errorf("standard error: %s", errOut)
	}
}

// TestProjectBesideUser gives a project's entry a name of its own where it would hide the user's.
func TestProjectBesideUser(t *testing.T) {
	home, project := machine(t)
	files.Write(t, filepath.Join(home, "tools.toml"), "", 0o644)
	mustRun(t, "install", "claude-code", "--config", filepath.Join(home, "tools.toml"))
	if out := mustRun(t, "install", "claude-code", "--scope", "project"); !strings.Contains(out, "toolman-project registered in "+filepath.Join(project, ".mcp.json")) {
		t.Errorf("got %s", out)
	}
	mustRun(t, "uninstall", "--all")
	mustRun(t, "install", "claude-code")
	if out := mustRun(t, "install", "claude-code", "--scope", "project"); !strings.Contains(out, "claude-code: toolman registered in") {
		t.Errorf("with the same tools.toml: %s", out)
	}
}

// TestSnippets compares what each client gets with testdata, and what install writes into an empty
// file with it.
func TestSnippets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED on windows: paths are written differently")
	}
	_, project := machine(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range clients.All() {
		out, _, err := run(t, "snippet", c.ID)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "-- %s --\n%s", c.ID, out)
		if !c.Writable() {
			continue
		}
		place, err := clients.Here()
		if err != nil {
			t.Fatal(err)
		}
		f, err := c.Target(place, clients.User)
		if err != nil {
			t.Fatal(err)
		}
		mustRun(t, "install", c.ID)
		if text, err := os.ReadFile(f.Path); err != nil || f.Create == "" && string(text) != out {
			t.Errorf("%s: install writes\n%s\nsnippet prints\n%s", c.ID, text, out)
		}
	}
	got := strings.ReplaceAll(strings.ReplaceAll(b.String(), project, "/project"), self, "/bin/toolman")
	path := filepath.Join(here, "testdata", "snippets.txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the snippets differ from %s (go test -update rewrites it):\n%s", path, got)
	}
}

// TestSharedFile keeps .mcp.json for the client that still needs it.
func TestSharedFile(t *testing.T) {
	_, project := machine(t)
	mustRun(t, "install", "claude-code", "--scope", "project")
	mustRun(t, "install", "copilot-cli", "--scope", "project")
	if out := mustRun(t, "uninstall", "claude-code"); !strings.Contains(out, "stays: other clients need it") {
		t.Errorf("got %s", out)
	}
	if out := mustRun(t, "uninstall", "copilot-cli"); !strings.Contains(out, filepath.Join(project, ".mcp.json")+" is removed") {
		t.Errorf("got %s", out)
	}
}

// TestUninstallWithoutRecord takes out entries that the user has written.
func TestUninstallWithoutRecord(t *testing.T) {
	home, _ := machine(t)
	cursor, windsurf := filepath.Join(home, ".cursor", "mcp.json"), filepath.Join(home, ".codeium", "windsurf", "mcp_config.json")
	for _, path := range []string{cursor, windsurf} {
		files.Write(t, path, "{\"mcpServers\": {\"a\": {}, \"toolman\": {\"command\": \"toolman\"}}}", 0o644)
	}
	out := mustRun(t, "uninstall", "cursor", "windsurf", "codex")
	if want := "cursor: toolman is out of " + cursor + "\nwindsurf: toolman is out of " + windsurf + "\ncodex: toolman is not registered\n"; out != want {
		t.Errorf("got %s, want %s", out, want)
	}
	for _, path := range []string{cursor, windsurf} {
		if got, _ := os.ReadFile(path); string(got) != "{\"mcpServers\": {\"a\": {}}}" {
			t.Errorf("got %s", got)
		}
	}
	if out := mustRun(t, "uninstall", "--all"); out != "nothing to undo\n" {
		t.Errorf("got %s", out)
	}
}

func TestInstallsAtTheSameTime(t *testing.T) {
	home, project := machine(t)
	path := filepath.Join(home, ".claude.json")
	files.Write(t, path, "{}", 0o644)
	before := files.Tree(t, home, project)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			_, _, err := run(t, "install", "claude-code", "--name", fmt.Sprint("toolman-", i))
			for err != nil && strings.Contains(err.Error(), "another toolman changes") { // for 10 s
				_, _, err = run(t, "install", "claude-code", "--name", fmt.Sprint("toolman-", i))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text, _ := os.ReadFile(path)
	for i := range 4 {
		if !strings.Contains(string(text), fmt.Sprintf(`"toolman-%d"`, i)) {
			t.Errorf("entry %d is lost:\n%s", i, text)
		}
	}
	mustRun(t, "uninstall", "--all")
	if after := files.Tree(t, home, project); after != before {
		t.Errorf("after uninstall:\n%s\nbefore:\n%s", after, before)
	}
}

func TestWrongUse(t *testing.T) {
	machine(t)
	for _, test := range []struct {
		args string
		want string
		code int
	}{
		{"install", "cannot be called with 0 arguments", cli.ExitUsage},
		{"install codx", `unknown client "codx"`, cli.ExitUsage},
		{"install codex --scope all", `--scope is user or project, not "all"`, cli.ExitUsage},
		{"install codex --demo --config x", "--demo takes no --config", cli.ExitUsage},
		{"install codex --config nowhere.toml", "nowhere.toml: cannot be read", 2},
		{"install jetbrains", "has no file that toolman could edit", cli.ExitFailed},
		{"install windsurf --scope project", "Windsurf has no project file", cli.ExitFailed},
		{"uninstall", "uninstall takes clients, or --all", cli.ExitUsage},
		{"uninstall codex --all", "uninstall takes clients, or --all", cli.ExitUsage},
		{"snippet", "cannot be called with 0 arguments", cli.ExitUsage},
	} {
		_, _, err := run(t, strings.Fields(test.args)...)
		if err == nil || !strings.Contains(err.Error(), test.want) || cli.Code(err) != test.code {
			t.Errorf("toolman %s: %v, code %d", test.args, err, cli.Code(err))
		}
	}
}

func TestDemoAndHome(t *testing.T) {
	home, _ := machine(t)
	t.Chdir(home)
	if _, _, err := run(t, "install", "claude-code"); err == nil || !strings.Contains(err.Error(), "no tools.toml found") {
		t.Errorf("without a tools.toml: %v", err)
	}
	mustRun(t, "install", "claude-code", "--demo")
	if text, _ := os.ReadFile(filepath.Join(home, ".claude.json")); !strings.Contains(string(text), `"demo",`) {
		t.Errorf("got %s", text)
	}
	if _, _, err := run(t, "install", "claude-code", "--demo", "--scope", "project"); err == nil || !strings.Contains(err.Error(), "this is no project") {
		t.Errorf("in the home directory: %v", err)
	}
}
