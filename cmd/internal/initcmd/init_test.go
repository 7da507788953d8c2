package initcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"toolman/fixtures/files"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/installcmd"
	"toolman/cmd/internal/logins"
	"toolman/fixtures/authserver"
	"toolman/fixtures/fakemcp"
)

// TestMain is the test, and the servers that clients have.
func TestMain(m *testing.M) {
	fakemcp.RunIfAsked()
	os.Exit(m.Run())
}

// server returns a client's entry for a server that starts, with more keys.
func server(t *testing.T, more string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "server.exe") // and not toolman itself
	if runtime.GOOS == "windows" {                      // where links need rights
		var text []byte
		if text, err = os.ReadFile(self); err == nil {
			err = os.WriteFile(program, text, 0o700)
		}
	} else {
		err = os.Symlink(self, program)
	}
	if err != nil {
		t.Fatal(err)
	}
	spec := filepath.Join(t.TempDir(), "spec.json")
	if err := (&fakemcp.Spec{Tools: []fakemcp.Raw{fakemcp.Tool("one", "does it")}}).Save(spec); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"command":%q,"args":["fakemcp","--spec",%q]%s}`, program, spec, more)
}

// snapshot returns all files below a folder.
func snapshot(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, filepath.Join(".local", "state")) && !strings.Contains(path, ".cache") {
			all[path] = files.Read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func same(t *testing.T, what string, before, after map[string]string) {
	t.Helper()
	for path, text := range after {
		if old, ok := before[path]; !ok || old != text {
			t.Errorf("%s: %s is\n%s", what, path, text)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%s: there are %d files, want %d", what, len(after), len(before))
	}
}

func TestInit(t *testing.T) {
	root := inHome(t, map[string]string{
		"home/.claude.json":        `{"mcpServers":{"mine":` + server(t, `,"env":{"API_KEY":"hunter22"}`) + `,"gone":{"command":"no-such-program"}}}`,
		"project/.cursor/mcp.json": `{"mcpServers":{"ours":` + server(t, "") + `}}`,
		"project/.vscode/mcp.json": `{"servers":{"asks":` + server(t, `,"env":{"K":"${input:the-key}"}`) + `}}`,
	})
	before := snapshot(t, root)
	cache := filepath.Join(root, "home", ".cache")
	t.Setenv("XDG_CACHE_HOME", cache)

	out, err := run(t, "init", "--dry-run")
	if err != nil || !strings.Contains(out, "+namespace = \"mine\"") || !strings.Contains(out, `"MY_`) && strings.Contains(out, "hunter22") || strings.Contains(out, "draft-07") {
		t.Errorf("dry run: %v\n%s", err, out)
	}
	same(t, "dry run", before, snapshot(t, root))
	if cached, _ := filepath.Glob(filepath.Join(cache, "toolman", "catalog", "*")); len(cached) > 0 {
		t.Errorf("the dry run left %q in the catalog cache", cached)
	}
	if out, err = run(t, "init"); err == nil || !strings.Contains(err.Error(), "no terminal") || !strings.Contains(out, "toolman init will:") {
		t.Errorf("without a terminal: %v\n%s", err, out)
	}
	same(t, "without a terminal", before, snapshot(t, root))

	if out, err = run(t, "init", "--yes"); err != nil || strings.Contains(out, "hunter22") {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"mine    Claude Code      1", "gone of Claude Code", "no-such-program", "toolman uninstall --all"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// The first list of a client comes from the cache: init has just seen what the servers offer.
	if cached, _ := filepath.Glob(filepath.Join(cache, "toolman", "catalog", "*")); len(cached) != 2 {
		t.Errorf("the catalog cache has %q, want the files of two servers", cached)
	}
	user, project := filepath.Join(root, "home/.config/toolman/tools.toml"), filepath.Join(root, "project/tools.toml")
	if got := files.Read(t, user); !strings.Contains(got, `API_KEY = "${API_KEY}"`) || strings.Contains(got, "hunter22") || strings.Contains(got, "gone") {
		t.Errorf("the user's file:\n%s", got)
	}
	if got := files.Read(t, project); !strings.Contains(got, `namespace = "ours"`) || !strings.Contains(got, `${THE_KEY}`) {
		t.Errorf("the project's file:\n%s", got)
	}
	for path, wants := range map[string][]string{
		"home/.claude.json":        {`"toolman"`, strconv.Quote(user), `"API_KEY": "hunter22"`, `"gone"`},
		"project/.cursor/mcp.json": {`"toolman"`, strconv.Quote(project)},
		"project/.vscode/mcp.json": {`"toolman"`, strconv.Quote(project), `"THE_KEY": "${input:the-key}"`},
	} {
		for _, want := range wants {
			if got := files.Read(t, filepath.Join(root, path)); !strings.Contains(got, want) || strings.Contains(got, `"mine"`) || strings.Contains(got, `"ours"`) {
				t.Errorf("%s: no %s in\n%s", path, want, got)
			}
		}
	}

	done := snapshot(t, root)
	if out, err = run(t, "init", "--yes"); err != nil || !strings.Contains(out, "Nothing is to be done") {
		t.Errorf("again: %v\n%s", err, out)
	}
	same(t, "again", done, snapshot(t, root))
	if out, err = run(t, "uninstall", "--all"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	same(t, "uninstalled", before, snapshot(t, root))
}

func TestInitOfOneScopeOrClient(t *testing.T) {
	root := inHome(t, map[string]string{
		"home/.claude.json":        `{"mcpServers":{"mine":` + server(t, "") + `}}`,
		"home/.cursor/mcp.json":    `{"mcpServers":{"other":` + server(t, "") + `}}`,
		"project/.cursor/mcp.json": `{"mcpServers":{"ours":` + server(t, "") + `}}`,
	})
	before := snapshot(t, root)
	for _, tt := range []struct{ args, changed, left string }{
		{"--scope user", "home/.claude.json home/.cursor/mcp.json", "project/.cursor/mcp.json"},
		{"--scope project", "project/.cursor/mcp.json", "home/.claude.json home/.cursor/mcp.json"},
		{"--client claude", "home/.claude.json", "home/.cursor/mcp.json project/.cursor/mcp.json"},
	} {
		if out, err := run(t, append([]string{"init", "--yes"}, strings.Fields(tt.args)...)...); err != nil {
			t.Fatalf("%s: %v\n%s", tt.args, err, out)
		}
		for path := range strings.FieldsSeq(tt.changed) {
			if got := files.Read(t, filepath.Join(root, path)); !strings.Contains(got, `"toolman"`) {
				t.Errorf("%s: %s is\n%s", tt.args, path, got)
			}
		}
		for path := range strings.FieldsSeq(tt.left) {
			if path = filepath.Join(root, path); files.Read(t, path) != before[path] {
				t.Errorf("%s: %s is\n%s", tt.args, path, files.Read(t, path))
			}
		}
		if _, err := run(t, "uninstall", "--all"); err != nil {
			t.Fatal(err)
		}
		same(t, tt.args, before, snapshot(t, root))
	}
	// The user's entry of a client would be hidden by one of the same name in the project.
	if out, err := run(t, "init", "--yes"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for path, want := range map[string]string{"home/.cursor/mcp.json": `"toolman"`, "project/.cursor/mcp.json": `"toolman-project"`} {
		if got := files.Read(t, filepath.Join(root, path)); !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	for _, args := range []string{"--scope x", "--client x", "--secrets x"} {
		if _, err := run(t, append([]string{"init"}, strings.Fields(args)...)...); cli.Code(err) != cli.ExitUsage {
			t.Errorf("%s: got %v", args, err)
		}
	}
}

func TestInitWithoutServers(t *testing.T) {
	root := inHome(t, map[string]string{"home/.cursor/mcp.json": `{"mcpServers":{"remote":{"url":"https://h/mcp","auth":{"CLIENT_ID":"me"}}}}`})
	out, err := run(t, "init", "--yes")
	if err != nil || !strings.Contains(out, "remote of Cursor") || !strings.Contains(out, "toolman install cursor") {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := files.Read(t, filepath.Join(root, "project/tools.toml")); !strings.Contains(got, "__demo-server") {
		t.Errorf("got\n%s", got)
	}
	if out, err = run(t, "init", "--yes"); err != nil || !strings.Contains(out, "is there already") {
		t.Errorf("again: %v\n%s", err, out)
	}
}

func TestInitWithServersThatDoNotWork(t *testing.T) {
	root := inHome(t, map[string]string{"home/.claude.json": `{"mcpServers":{"gone":{"command":"no-such-program"}}}`})
	before := snapshot(t, root)
	if out, err := run(t, "init", "--yes"); err != nil || !strings.Contains(out, "Nothing is to be done: none of these servers works.") {
		t.Errorf("%v\n%s", err, out)
	}
	same(t, "init", before, snapshot(t, root))
}

// A server that a client has logged in to gets behind toolman, too: init says what is to be done.
func TestInitWithAServerThatNeedsALogin(t *testing.T) {
	s := authserver.Start(t, authserver.Options{})
	root := inHome(t, map[string]string{
		"home/.claude.json": `{"mcpServers":{"far":{"type":"http","url":"` + s.URL + `","oauth":{}},"mine":` + server(t, "") + `}}`,
	})
	before := snapshot(t, root)
	folder, err := logins.Open()
	if err != nil {
		t.Fatal(err)
	}
	trials := func() { // which write down what the server asks for
		t.Helper()
		if _, err := os.Stat(folder.Path()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder of logins: %v", err)
		}
	}
	if out, err := run(t, "init", "--dry-run"); err != nil || !strings.Contains(out, "needs a login") {
		t.Errorf("dry run: %v\n%s", err, out)
	}
	trials()
	out, err := run(t, "init", "--yes")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	config := filepath.Join(root, "home/.config/toolman/tools.toml")
	for _, want := range []string{s.URL + "  (needs a login)", "\n1 tool: about", "Server far needs a login", "  - Log in: toolman login far --config " + installcmd.Quote(config) + "\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "Log in: toolman login mine") || strings.Contains(out, "Not taken over") {
		t.Errorf("got\n%s", out)
	}
	if got := files.Read(t, config); !strings.Contains(got, "url = "+strconv.Quote(s.URL)) {
		t.Errorf("tools.toml is\n%s", got)
	}
	if _, err := run(t, "uninstall", "--all"); err != nil {
		t.Fatal(err)
	}
	trials()
	same(t, "uninstalled", before, snapshot(t, root))
}

// A file that cannot be written leaves all others as they were.
func TestInitThatFailsChangesNothing(t *testing.T) {
	root := inHome(t, map[string]string{
		"home/.claude.json":     `{"mcpServers":{"mine":` + server(t, "") + `}}`,
		"home/.cursor/mcp.json": `{"mcpServers":{"other":` + server(t, "") + `}}`,
	})
	locked := filepath.Join(root, "home/.cursor/mcp.json")
	if err := os.Chmod(locked, 0o400); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, root)
	if out, err := run(t, "init", "--yes"); err == nil || !strings.Contains(err.Error(), locked) {
		t.Errorf("got %v\n%s", err, out)
	}
	same(t, "read-only", before, snapshot(t, root))
}

func TestInitWithSecretsInFiles(t *testing.T) {
	root := inHome(t, map[string]string{
		"home/.claude.json":     `{"mcpServers":{"mine":` + server(t, `,"env":{"API_KEY":"hunter22"}`) + `}}`,
		"home/.cursor/mcp.json": `{"mcpServers":{"other":` + server(t, "") + `}}`,
	})
	before := snapshot(t, root)
	out, err := run(t, "init", "--yes", "--secrets", "file")
	if err != nil || strings.Contains(out, "hunter22") {
		t.Fatalf("%v\n%s", err, out)
	}
	secret := filepath.Join(root, "home/.config/toolman/secrets/API_KEY")
	if files.Read(t, secret) != "hunter22" || strings.Contains(files.Read(t, filepath.Join(root, "home/.claude.json")), "hunter22") ||
		!strings.Contains(files.Read(t, filepath.Join(root, "home/.config/toolman/tools.toml")), "${file:~/.config/toolman/secrets/API_KEY}") {
		t.Errorf("got\n%s", files.Read(t, filepath.Join(root, "home/.claude.json")))
	}
	if _, err := run(t, "uninstall", "--all"); err != nil {
		t.Fatal(err)
	}
	same(t, "uninstalled", before, snapshot(t, root))
}

func TestCommandsToCopyAreQuoted(t *testing.T) {
	var out strings.Builder
	(&plan{configs: []string{"/home/me/My Projects/tools.toml"}}).printDone(&out)
	if want := "toolman check --config '/home/me/My Projects/tools.toml'\n"; !strings.Contains(out.String(), want) {
		t.Errorf("no %s in\n%s", want, out.String())
	}
}
