package logincmd

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cli/browser"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/logins"
	"toolman/cmd/internal/setup"
	"toolman/fixtures/authserver"
	"toolman/fixtures/mcptest"
)

// A home is a user with a tools.toml of its own.
type home struct {
	t      *testing.T
	config string // path of tools.toml
	logins string // folder
}

func newHome(t *testing.T, config string) *home {
	dir := t.TempDir()
	h := &home{t, filepath.Join(dir, "tools.toml"), filepath.Join(dir, "logins")}
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("TOOLMAN_LOGINS", h.logins)
	t.Chdir(dir)
	h.write(config)
	return h
}

func (h *home) write(config string) {
	h.t.Helper()
	if err := os.WriteFile(h.config, []byte(config), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// A visitor is standard output of login: it visits the URL that is printed.
type visitor struct {
	mu   sync.Mutex
	text bytes.Buffer // guarded by mu
	done sync.WaitGroup
}

func (b *visitor) Write(p []byte) (int, error) {
	if at := strings.TrimSpace(string(p)); strings.HasPrefix(at, "http") {
		b.done.Go(func() { authserver.Visit(at) })
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// run runs a command line. It returns what was written to standard output and standard error.
func (h *home) run(args ...string) (out, said string, err error) {
	h.t.Helper()
	stderr, err := os.Create(filepath.Join(h.t.TempDir(), "stderr"))
	if err != nil {
		h.t.Fatal(err)
	}
	defer stderr.Close()
	b := &visitor{}
	for _, cmd := range New(&setup.Flags{}, stderr) {
		if cmd.Name() == args[0] {
			if args[0] == "login" && len(args) > 1 && !slices.Contains(args, "--timeout") {
				args = append(args, "--timeout", mcptest.Patience.String())
			}
			cmd.SetArgs(args[1:])
			cmd.SetOut(b)
			cmd.SetErr(io.Discard)
			cmd.SetIn(strings.NewReader(""))
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			err = cmd.ExecuteContext(h.t.Context())
		}
	}
	b.done.Wait()
	text, readErr := os.ReadFile(stderr.Name())
	if readErr != nil {
		h.t.Fatal(readErr)
	}
	if _, ofFile := errors.AsType[*source.Error](err); err != nil && !ofFile && cli.Hint(err) == "" {
		h.t.Errorf("%q: the error does not say what to do: %v", args, err)
	}
	return b.text.String(), string(text), err
}

// files returns how many logins there are.
func (h *home) files() int {
	all, err := filepath.Glob(filepath.Join(h.logins, "*.json"))
	if err != nil {
		h.t.Fatal(err)
	}
	return len(all)
}

func block(name, url, more string) string {
	return "[[servers]]\nnamespace = \"" + name + "\"\nurl = \"" + url + "\"\n" + more + "\n"
}

func TestLoginAndLogout(t *testing.T) {
	s := authserver.Start(t, authserver.Options{Scopes: []string{"read", "write"}})
	open := authserver.Start(t, authserver.Options{Open: []string{"initialize", "tools/list", "server/discover", "notifications/initialized"}})
	h := newHome(t, block("remote", s.URL, "")+block("open", open.URL, "")+block("down", "http://127.0.0.1:1/mcp", "")+block("own", s.URL, `headers = { Authorization = "Bearer mine" }`)+
		"[[servers]]\nnamespace = \"local\"\ncommand = \"none\"\n")
	out, _, err := h.run("login")
	if cli.Code(err) != cli.ExitFailed || err == nil {
		t.Errorf("a server wants a login: %v", err)
	}
	for _, want := range []string{"remote  wants a login: toolman login remote\n", "open    no login wanted\n", "down    unknown: ", "own     credentials of its own"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "local") {
		t.Errorf("a local server is listed:\n%s", out)
	}
	out, said, err := h.run("login", "remote", "--no-browser")
	if err != nil || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, s.Auth) {
		t.Fatalf("%v, printed %q, said\n%s", err, out, said)
	}
	host := strings.TrimPrefix(s.Auth, "http://")
	for _, want := range []string{"remote: the server " + s.URL + " names " + host + " for logins; toolman asks it for the scopes read write", "remote: logged in at " + s.Issuer() + " (read write), renewed by itself", "remote: the server has 2 tools"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
	for _, secret := range s.Secrets() {
		if strings.Contains(said, secret) {
			t.Errorf("%s is shown", secret)
		}
	}
	out, said, err = h.run("login", "remote", "--no-browser")
	if err != nil || out != "" || !strings.Contains(said, "logged in already") || !strings.Contains(said, "toolman logout remote") {
		t.Errorf("%v, printed %q, said\n%s", err, out, said)
	}
	if out, _, err = h.run("login"); err != nil || !strings.Contains(out, "remote  logged in at "+s.Issuer()+" (read write), renewed by itself\n") {
		t.Errorf("%v, listed\n%s", err, out)
	}
	if out, said, err = h.run("login", "open"); err != nil || out != "" || !strings.Contains(said, "wants no login") {
		t.Errorf("%v, printed %q, said\n%s", err, out, said)
	}
	if _, said, err = h.run("logout", "remote"); err != nil || !strings.Contains(said, "logged out, and the tokens are revoked") || h.files() != 0 || len(s.Requests("revoke")) != 2 {
		t.Errorf("%v, %d files, said\n%s", err, h.files(), said)
	}
	if _, said, err = h.run("logout", "remote"); err != nil || !strings.Contains(said, "there is no login") {
		t.Errorf("%v, said\n%s", err, said)
	}
}

func TestLogoutRemovesWhatCannotBeRevoked(t *testing.T) {
	for name, o := range map[string]authserver.Options{
		"cannot be told":           {NoRevocation: true},
		"does not take the tokens": {Broken: map[string]authserver.Response{"revoke": {Status: 503}}},
	} {
		s := authserver.Start(t, o)
		h := newHome(t, block("remote", s.URL, ""))
		if _, said, err := h.run("login", "remote", "--no-browser"); err != nil {
			t.Fatalf("%v, said\n%s", err, said)
		}
		if _, said, err := h.run("logout", "--all"); err != nil || h.files() != 0 || !strings.Contains(said, name) {
			t.Errorf("%v, %d files, said\n%s", err, h.files(), said)
		}
	}
	h := newHome(t, "")
	if _, said, err := h.run("logout", "--all"); err != nil || !strings.Contains(said, "there are no logins") {
		t.Errorf("%v, said\n%s", err, said)
	}
}

func TestWhatAServerAsksForIsNoLogin(t *testing.T) {
	h := newHome(t, block("remote", "https://mcp.example/mcp", ""))
	for _, tt := range []struct{ arg, want string }{{"remote", "there is no login"}, {"--all", "there are no logins"}} {
		f := logins.At(h.logins).File(logins.Key{URL: "https://mcp.example/mcp", Account: "remote"})
		if err := f.Update(t.Context(), func(r *logins.Record) error { r.AddScopes([]string{"read"}, time.Now()); return nil }); err != nil {
			t.Fatal(err)
		}
		if _, said, err := h.run("logout", tt.arg); err != nil || !strings.Contains(said, tt.want) || strings.Contains(said, "logged out") || h.files() != 0 {
			t.Errorf("%s: %v, %d files, said\n%s", tt.arg, err, h.files(), said)
		}
	}
}

func TestALoginByURLNeedsNoConfiguration(t *testing.T) {
	s := authserver.Start(t, authserver.Options{})
	h := newHome(t, "")
	if err := os.Remove(h.config); err != nil {
		t.Fatal(err)
	}
	out, said, err := h.run("login", s.URL, "--no-browser")
	if err != nil || !strings.HasPrefix(out, s.Auth) || !strings.Contains(said, "the server has 2 tools") {
		t.Errorf("%v, printed %q, said\n%s", err, out, said)
	}
	if _, said, err := h.run("logout", s.URL); err != nil || !strings.Contains(said, "logged out") || h.files() != 0 {
		t.Errorf("%v, said\n%s", err, said)
	}
	if _, _, err := h.run("login", "remote"); err == nil {
		t.Error("a name without a configuration")
	}
	h.write(block("remote", s.URL, ""))
	if _, said, err := h.run("login", s.URL, "--no-browser"); err != nil || !strings.Contains(said, "remote: logged in") {
		t.Errorf("the server of the configuration: %v, said\n%s", err, said)
	}
	if _, said, err := h.run("login", "remote", "--no-browser"); err != nil || !strings.Contains(said, "logged in already") {
		t.Errorf("%v, said\n%s", err, said)
	}
}

func TestWrongUseOfLogin(t *testing.T) {
	h := newHome(t, block("remote", "https://mcp.example.com/mcp", "")+block("each", "https://mcp.example.com/each", "oauth = { per_agent = true }")+
		block("own", "https://mcp.example.com/own", `oauth = { token_file = "token" }`)+"[[servers]]\nnamespace = \"local\"\ncommand = \"none\"\n")
	for _, tt := range []struct {
		args string
		why  string
	}{
		{"login remot", "no server"},
		{"login local", "no url"},
		{"login own", "credentials in the configuration"},
		{"login each", "--agent"},
		{"login remote --agent a", "share one login"},
		{"login --device", "toolman login NAME --device"},
		{"login --no-browser", "toolman login NAME --no-browser"},
		{"login --scope read", "toolman login NAME --scope"},
		{"login remote --timeout 0s", "--timeout"},
		{"login remote --scope a\"b", "--scope"},
		{"login ftp://mcp.example.com", "not one of https"},
		{"login a b", "cannot be called"},
		{"logout", "name of a server"},
		{"logout remote --all", "name of a server"},
	} {
		_, _, err := h.run(strings.Fields(tt.args)...)
		if cli.Code(err) != cli.ExitUsage || err == nil || !strings.Contains(err.Error()+cli.Hint(err), tt.why) {
			t.Errorf("%s: %v; %s", tt.args, err, cli.Hint(err))
		}
	}
}

func TestEachAgentHasItsLogin(t *testing.T) {
	s := authserver.Start(t, authserver.Options{})
	h := newHome(t, block("each", s.URL, "oauth = { per_agent = true }"))
	for _, agent := range []string{"reviewer", "coder"} {
		if _, said, err := h.run("login", "each", "--agent", agent, "--no-browser"); err != nil || !strings.Contains(said, "logged in at") || !strings.Contains(said, "each: the server has 2 tools") {
			t.Fatalf("%v, said\n%s", err, said)
		}
	}
	if h.files() != 2 {
		t.Errorf("%d files", h.files())
	}
	if _, _, err := h.run("logout", "each", "--agent", "coder"); err != nil || h.files() != 1 {
		t.Errorf("%v, %d files", err, h.files())
	}
}

// A login for an agent that is not there helps nobody.
func TestALoginIsForAnAgentOfTheConfiguration(t *testing.T) {
	s := authserver.Start(t, authserver.Options{})
	each := block("each", s.URL, "oauth = { per_agent = true }")
	token := "\"sha256:" + strings.Repeat("0a", 32) + "\"\n"
	policies := "[agent_policies.reviewer]\nallowed_servers = []\n"
	jwt := "[http.jwt]\nissuer = \"https://as.example\"\naudience = \"x\"\njwks_url = \"https://as.example/jwks\"\n"
	for name, tt := range map[string]struct{ config, unknown string }{
		"of a token":                {each + "[http.tokens]\nreviewer = " + token, "coder"},
		"of a policy":               {each + policies + jwt, "coder"},
		"of a token or anybody's":   {each + "[http.tokens]\ncoder = " + token + jwt, ""},
		"of a policy without tools": {each + policies, "reviewr"},
	} {
		h := newHome(t, tt.config)
		if _, said, err := h.run("login", "each", "--agent", "reviewer", "--no-browser"); err != nil || !strings.Contains(said, "each: the server has 2 tools") {
			t.Errorf("%s: %v, said\n%s", name, err, said)
		}
		if tt.unknown == "" {
			continue
		}
		_, _, err := h.run("login", "each", "--agent", tt.unknown)
		if cli.Code(err) != cli.ExitUsage || !strings.Contains(cli.Hint(err), "reviewer") || h.files() != 1 {
			t.Errorf("%s: the agent %s: %v; %s; %d files", name, tt.unknown, err, cli.Hint(err), h.files())
		}
		if _, _, err := h.run("logout", "each", "--agent", tt.unknown); err != nil {
			t.Errorf("%s: an agent that is gone: %v", name, err)
		}
	}
}

func TestABrowserGetsTheURLAsOneArgument(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED on " + runtime.GOOS + ": its program to open URLs cannot be replaced")
	}
	dir := t.TempDir()
	got := filepath.Join(dir, "got")
	script := "#!/bin/sh\nprintf '%s\\n' $# \"$@\" > '" + got + "'\necho printed; echo printed >&2\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	const at = "https://as.example/authorize?a=$(touch%20x)&b=;id&c='d'"
	var out bytes.Buffer
	browser.Stdout, browser.Stderr = &out, &out
	if err := open(at); err != nil || out.Len() > 0 {
		t.Fatalf("%v, printed %q", err, out.String())
	}
	text, err := os.ReadFile(got)
	if err != nil || string(text) != "1\n"+at+"\n" {
		t.Errorf("the program got %q, %v", text, err)
	}
	t.Setenv("PATH", filepath.Join(dir, "none"))
	if err := open(at); err == nil || errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a browser: %v", err)
	}
}
