package setup

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// piped returns a pipe with a text in it.
func piped(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := w.WriteString(text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return r
}

func TestAConfigurationThatIsInNoFile(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const object = ` {"servers": {"s": {"command": "server", "cwd": "sub"}}}`
	const text = "[servers.s]\ncommand = 'server'\ncwd = 'sub'\n"
	for _, tt := range []struct{ name, flag, env, stdin, path string }{
		{"JSON in the environment", "", object, "", "TOOLMAN_CONFIG_JSON"},
		{"JSON on standard input", "-", "", object, "standard input"},
		{"TOML on standard input", "-", "{}", text, "standard input"},
		{"JSON in a pipe", "/dev/fd", "", object, ""},
		{"TOML in a pipe", "/dev/fd", "", text, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(inEnvironment, tt.env)
			f := &Flags{Config: tt.flag, Stdin: piped(t, tt.stdin)}
			if tt.flag == "/dev/fd" {
				if runtime.GOOS != "linux" {
					t.Skipf("SKIPPED on %s: only Linux has the path of a pipe", runtime.GOOS)
				}
				tt.path = "/dev/fd/" + strconv.Itoa(int(f.Stdin.Fd()))
				f.Config = tt.path
			}
			at, err := f.Find()
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // a reload reads it again
				c, err := f.LoadAt(at)
				if err != nil {
					t.Fatal(err)
				}
				if c.Path != tt.path || c.Beside != filepath.Join(dir, "tools.toml") || c.Servers[0].Dir != filepath.Join(dir, "sub") {
					t.Errorf("got %q, %q, %+v", c.Path, c.Beside, c.Servers)
				}
			}
			if files := at.Files(); files != nil {
				t.Errorf("watched: %q", files)
			}
			f.Taken, f.Stdin = true, piped(t, tt.stdin)
			if tt.flag == "/dev/fd" {
				f.Config = "/dev/fd/" + strconv.Itoa(int(f.Stdin.Fd()))
			}
			if _, err := f.Find(); (err == nil) != (tt.flag == "") || err != nil && !strings.Contains(err.Error(), "which is the connection to the client; name a file") {
				t.Errorf("with a client on standard input: %v", err)
			}
		})
	}
}

func TestProblemsOfAConfigurationInTheEnvironment(t *testing.T) {
	for text, want := range map[string]string{
		"{\n\"server\": 1}":                    "TOOLMAN_CONFIG_JSON:2: unknown key",
		"/etc/tools.json":                      "TOOLMAN_CONFIG_JSON:1: this is no JSON object; it holds the configuration itself; TOOLMAN_CONFIG names a file",
		"{\n1":                                 "TOOLMAN_CONFIG_JSON:2: this is not JSON",
		"{" + strings.Repeat(" ", 1<<20) + "}": "TOOLMAN_CONFIG_JSON: it is longer than 1048576 bytes",
	} {
		t.Setenv(inEnvironment, text)
		if _, err := new(Flags).Load(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %.200v, want %s", err, want)
		}
	}
}
