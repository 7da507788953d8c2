package config

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

// oneServer loads a configuration of one server with the given keys, in a folder of its own.
func oneServer(t *testing.T, keys string, files map[string]string) (*Config, error) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "tools.toml")
	return parse(path, path, []byte("[[servers]]\nnamespace = \"x\"\n"+keys), testOptions())
}

func TestReferencesInEnv(t *testing.T) {
	files := map[string]string{"plain": "content\n", "crlf": "one\r\ntwo\r\n", "braces": "${TOKEN} $(x)\n\n"}
	for _, tt := range []struct{ name, value, want string }{
		{"a variable", "a ${TOKEN} b", "a token-secret b"},
		{"two next to each other", "${TOKEN}${HOME}", "token-secret/home/me"},
		{"a set variable does not take its default", "${TOKEN:-x}", "token-secret"},
		{"an unset one does", "${NONE:-a b}", "a b"},
		{"an empty one does", "${EMPTY:-x}", "x"},
		{"an empty one without a default stays empty", "<${EMPTY}>", "<>"},
		{"an empty default", "<${NONE:-}>", "<>"},
		{"a default that is a reference", "${NONE:-${TOKEN}}", "token-secret"},
		{"a default between braces", "${NONE:-{a}}", "{a}"},
		{"a file, without its last line end", "<${file:plain}>", "<content>"},
		{"a file with Windows line ends", "${file:crlf}", "one\r\ntwo"},
		{"what a file holds is not expanded", "${file:braces}", "${TOKEN} $(x)\n"},
		{"what a variable holds is not expanded", "${SPACES}", "a  b; $(c) *"},
		{"a literal reference", "$${TOKEN}", "${TOKEN}"},
		{"a literal reference after a dollar", "$$${TOKEN}", "$${TOKEN}"},
		{"dollars and braces on their own", "$5 $TOKEN {x} $ $$", "$5 $TOKEN {x} $ $$"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := oneServer(t, fmt.Sprintf("command = \"x\"\nenv.V = %q", tt.value), files)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Servers[0].Env[0]; got != "V="+tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestWorkingDirectory(t *testing.T) {
	for cwd, want := range map[string]string{
		"sub": "DIR/sub", "..": "DIR/..", ".": "DIR", "/abs/./x": "/abs/x", "~": "/home/me", "~/x": "/home/me/x", "${HOME}/y": "/home/me/y", "~x": "DIR/~x",
	} {
		c, err := oneServer(t, fmt.Sprintf("command = \"x\"\ncwd = %q", cwd), nil)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(want, "/") {
			want = filepath.VolumeName(c.Path) + want
		}
		want = filepath.Clean(strings.Replace(want, "DIR", filepath.Dir(c.Path), 1))
		if got := c.Servers[0].Dir; got != want {
			t.Errorf("%s: got %s, want %s", cwd, got, want)
		}
	}
}

func TestAFileMayBeAbsoluteAndIsBounded(t *testing.T) {
	abs := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(abs, []byte("far"), 0o644); err != nil {
		t.Fatal(err)
	}
	half := strings.Repeat("x", source.MaxBytes/2+1)
	c, err := oneServer(t, fmt.Sprintf("command = \"x\"\nenv.A = '${file:%s}'\nenv.B = '${file:half}'", abs), map[string]string{"half": half})
	if err != nil || c.Servers[0].Env[0] != "A=far" || c.Servers[0].Env[1] != "B="+half {
		t.Errorf("got %v", err)
	}
	_, err = oneServer(t, "command = \"x\"\nenv.A = '${file:half}'\nenv.B = '${file:half}'", map[string]string{"half": half})
	if err == nil || !strings.Contains(err.Error(), "tools.toml:5: env.B: the files read by ${file:…} come to more than") {
		t.Errorf("files of more than the bound together: got %v", err)
	}
	if runtime.GOOS == "windows" {
		return // it has no files that are devices
	}
	c, err = oneServer(t, "command = \"x\"\nenv.A = '${file:/dev/zero}'", nil)
	if err != nil || !strings.Contains(missing(c), "not a regular file") {
		t.Errorf("a device: got %v, %v", missing(c), err)
	}
}

func TestSecretsAreReferencesAndWhatIsNamedSo(t *testing.T) {
	folder := t.TempDir()
	lookup := testOptions().LookupEnv
	path := filepath.Join(t.TempDir(), "tools.toml")
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "token"), []byte("from-file\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := parse(path, path, []byte(`
[[servers]]
namespace = "x"
env = { BASE_PATH = "/workspace", MODE = "read", DB_PASSWORD = "env-password", apiToken = "env-token", MIXED = "Bearer ${TOKEN}",
        KEY_FILE = "/etc/a.key", MAX_TOKENS = "4000", URL = "postgres://me:p%40ss-word@db/x", PLAIN = "${NONE:-plain-default}",
        API_KEY = "${NONE:-key-default}", EMPTY = "", NESTED = "${NONE:-x${SPACES}y}", PASS_USER = "${HOME}" }
command = "MODE=assigned AUTH=assigned-auth server --a ${HOME}/x --b=$MODE ${NONE:-command-default} ${MY_SECRET:-secret-default} '${file:not-read}' \"${file:token}\" plain"
cwd = "${WORKSPACE}/sub"

[[servers]]
namespace = "shell"
env.E = "shell-env"
command = "A=shell-assigned; PGPASSWORD=shell-password; echo ${MISSING_PATH} ${NONE:-shell-default} | server $E plain2"

[[servers]]
namespace = "far"
url = "https://u:url-password@example.com/mcp"
headers = { X-Mode = "header" }
oauth = { token_url = "https://login.example.com/", client_id = "me", client_secret = "client-secret" }

[[servers]]
namespace = "off"
enabled = false
env.TOKEN = "never-used"
command = "server"
`), Options{LookupEnv: func(name string) (string, bool) {
		switch name {
		case "WORKSPACE":
			return folder, true
		case "MISSING_PATH":
			return "/no/such/folder", true
		}
		return lookup(name)
	}})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"/home/me", "/no/such/folder", "a  b; $(c) *", "assigned-auth", "client-secret", "env-password", "env-token", "from-file", "header",
		"key-default", "p%40ss-word", "p@ss-word", "secret-default", "shell-password", "token-secret", "url-password"}
	slices.Sort(c.Secrets)
	if !slices.Equal(c.Secrets, want) {
		t.Errorf("got  %q\nwant %q", c.Secrets, want)
	}
	for _, s := range c.Servers {
		if strings.Contains(s.Command, "token-secret") {
			t.Errorf("the command as written holds a secret: %s", s.Command)
		}
	}
}

func TestCommandsSeeTheServersEnvFirst(t *testing.T) {
	c, err := oneServer(t, "command = 'server $TOKEN $ONLY'\nenv = { TOKEN = 'mine', ONLY = '${TOKEN}' }", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(c.Servers[0].Argv, "|"); got != "server|mine|token-secret" {
		t.Errorf("got %s", got)
	}
}
