package config

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/config/cluster"
	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/router/policy"
)

var update = flag.Bool("update", false, "rewrite the .err files of fixtures/config")

const fixtures = "../../../fixtures/config"

// environment is the environment of every test here: nothing of the machine's own.
func environment(name string) (string, bool) {
	v, ok := map[string]string{"HOME": "/home/me", "TOKEN": "token-secret", "EMPTY": "", "SPACES": "a  b; $(c) *"}[name]
	return v, ok
}

func testOptions() Options { return Options{HTTP: true, LookupEnv: environment} }

func TestBadFixturesGiveTheirMessages(t *testing.T) {
	files, _ := filepath.Glob(fixtures + "/*.*")
	bad := 0
	for _, path := range files {
		if ext := filepath.Ext(path); ext != ".toml" && ext != ".json" {
			continue
		}
		golden := path + ".err"
		want, err := os.ReadFile(golden)
		good := errors.Is(err, os.ErrNotExist)
		t.Run(filepath.Base(path), func(t *testing.T) {
			if runtime.GOOS == "windows" && filepath.Base(path) == "socket.toml" {
				t.Skip("SKIPPED on windows: a path's length depends on the drive")
			}
			c, err := Load(path, testOptions())
			if err == nil {
				compareMissing(t, path, missing(c))
			}
			if good && !*update {
				if err != nil {
					t.Fatalf("no .err file beside it, and yet:\n%v", err)
				}
				return
			}
			if err == nil {
				if !good {
					t.Fatalf("no problem found, want:\n%s", want)
				}
				return
			}
			got := strings.ReplaceAll(err.Error(), path, filepath.Base(path)) + "\n"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("got:\n%swant:\n%s", got, want)
			}
			for _, secret := range []string{"token-secret", "file-secret", "sk-live", "ghp_", "8080"} {
				if strings.Contains(got, secret) {
					t.Errorf("the message holds the secret %s:\n%s", secret, got)
				}
			}
		})
		if !good {
			bad++
		}
	}
	if bad < 20 {
		t.Errorf("%d bad fixtures, something has moved", bad)
	}
}

// missing returns what the servers of a configuration refer to and what is not there.
func missing(c *Config) string {
	var lines strings.Builder
	for _, s := range c.Servers {
		for _, p := range s.Missing {
			lines.WriteString(p.String() + "\n")
		}
	}
	return lines.String()
}

// compareMissing compares what missing says of a file with the .missing file beside it.
func compareMissing(t *testing.T, path, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, path, filepath.Base(path))
	golden := path + ".missing"
	want, err := os.ReadFile(golden)
	if *update && (err == nil || got != "") {
		err = os.WriteFile(golden, []byte(got), 0o644)
	} else if got != string(want) {
		t.Errorf("missing:\n%swant:\n%s", got, want)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestEveryKeyIsRead(t *testing.T) {
	dir, err := filepath.Abs(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range []string{"toml", "json"} {
		t.Run(format, func(t *testing.T) {
			path := filepath.Join(fixtures, "every-key."+format)
			c, err := Load(path, testOptions())
			if err != nil {
				t.Fatal(err)
			}
			for i := range c.Servers {
				if c.Servers[i].Line == 0 {
					t.Errorf("server %d has no line", i)
				}
				if (c.Servers[i].MaxCallsLine > 0) != (i == 0) {
					t.Errorf("server %d has max_concurrent_calls in line %d", i, c.Servers[i].MaxCallsLine)
				}
				c.Servers[i].Line, c.Servers[i].MaxCallsLine = 0, 0
				c.Servers[i].Refers, c.Servers[i].Referred = nil, nil // see TestServersInheritWhatTheFileAllows
			}
			for i := range c.ActiveToolsets {
				if c.ActiveToolsets[i].Line == 0 {
					t.Errorf("pattern %d has no line", i)
				}
				c.ActiveToolsets[i].Line = 0
			}
			for i := range c.Toolsets {
				if c.Toolsets[i].Line == 0 {
					t.Errorf("toolset %d has no line", i)
				}
				c.Toolsets[i].Line = 0
			}
			c.Servers[0].Command = strings.Join(strings.Fields(c.Servers[0].Command), " ")
			slices.Sort(c.Servers[0].Env)
			slices.Sort(c.Secrets)
			withoutLines(c.Rules)
			inOrder(c.HTTP.Tokens)
			withoutDangerLines(t, c.Dangers)
			if c.Cluster.Line == 0 {
				t.Error("the engine has no line")
			}
			c.Cluster.Line = 0
			want := &Config{
				Served: true,
				Rules:  everyRule(), Path: filepath.Join(dir, "every-key."+format), Beside: filepath.Join(dir, "every-key."+format),
				ActiveToolsets: []Active{{Pattern: "fs_read*"}, {Pattern: "git_{log,diff}"}},
				Settle:         250 * time.Millisecond, CatalogBytes: 4096, URISeparator: "+",
				ActivationMode: "call", AlwaysLoad: new(bool),
				MetaTools: []string{"toolsets", "manage", "toolsets"}, AllowStaleRefs: true, Unpinned: []string{"fs_note://*"}, WithholdEnv: []string{"DEPLOY_KEY"},
				Dangers:  &policy.DangerRules{File: "every-key." + format, Confirm: policy.Deny, Tools: []policy.Entry{{Text: "fs_write*"}, {Text: "mcp__plain__drop"}}},
				AuditLog: filepath.Join(dir, "logs", "audit.jsonl"), AuditArguments: true,
				Toolsets: []Toolset{{Name: "a.b", Tools: []string{"*"}},
					{Name: "reading", Tools: []string{"fs_read*", "git_log"}, Description: "To look and not to touch"}},
				Servers: []Server{{
					Namespace: "fs", Name: "fs",
					Command: c.Servers[0].Command, // the formats fold lines differently
					Argv:    []string{"npx", "-y", "@modelcontextprotocol/server-filesystem", ".", "--label", "two words"},
					Env:     []string{"KEY=file-secret", "LITERAL=${TOKEN} costs $5", "TOKEN=Bearer token-secret"}, InheritEnv: []string{"PATH", "LC_*"},
					Dir: filepath.Join(dir, "folder"), StartTimeout: 90 * time.Second, CallTimeout: 2500 * time.Millisecond, MaxCalls: 4,
					MaxMessageBytes: 1024, Era: "legacy", Share: "never", Stateless: true, Lazy: true, Restart: "always", Enabled: true,
				}, {
					Namespace: "", Name: "plain", Command: "PORT=80 server | tee log", Argv: shellArgv("PORT=80 server | tee log"),
					Env: []string{"DEBUG=1"}, SessionEnv: []reference.SessionValue{{Name: "SESSION", Texts: []string{"token-secret and ", ""}, Keys: []string{"API_KEY"}}}, StartTimeout: 5 * time.Second, CallTimeout: servedCallTimeout, MaxMessageBytes: 32 << 20, Era: "auto", Share: "auto", Restart: "on-failure", Enabled: true,
				}, {
					Namespace: "far", Name: "far",
					Remote: &Remote{
						URL: "https://u:token-secret@mcp.example.com/mcp?key=1", CAFile: filepath.Join(dir, "ca.pem"),
						Header:        http.Header{"Authorization": {"Bearer token-secret"}, "X-Plain": {"plain"}},
						SessionHeader: []reference.SessionValue{{Name: "X-Session", Texts: []string{"", ""}, Keys: []string{"API_KEY"}}},
						OAuth: &OAuth{TokenURL: "https://login.example.com/token", ClientID: "toolman", ClientSecret: "file-secret",
							Scopes: []string{"read", "call"}, TokenFile: filepath.Join(dir, "sub", "token.json")},
					},
					StartTimeout: 10 * time.Second, CallTimeout: servedCallTimeout, MaxMessageBytes: 32 << 20, Era: "auto", Share: "auto", Stateless: true, Restart: "on-failure", Enabled: true,
				}, {
					Namespace: "near", Name: "near", Socket: filepath.Join(dir, "run", "near.sock"),
					StartTimeout: 10 * time.Second, CallTimeout: servedCallTimeout, MaxMessageBytes: 32 << 20, Era: "auto", Share: "auto", Restart: "on-failure", Enabled: true,
				}, {
					Namespace: "off", Name: "off", Command: "server --token ${NOT_SET_ANYWHERE}",
					StartTimeout: 10 * time.Second, StartLimit: 3 * time.Minute, CallTimeout: servedCallTimeout, MaxMessageBytes: 32 << 20, Era: "auto", Share: "auto", Restart: "on-failure",
				}},
				HTTP: everyHTTP(dir),
				Cluster: &cluster.Settings{
					Engine:   "rediss://toolman:token-secret@valkey.example.com:6379/1?addr=b.example.com:6379",
					EngineCA: filepath.Join(dir, "keys", "valkey.pem"), EnginePlaintext: true,
					Secrets: [][]byte{[]byte("token-secret-and-more-of-it-to-be-long-enough"), []byte("file-secret-that-is-long-enough-for-this")},
					Name:    "prod.1", Listen: "0.0.0.0:8902", Advertise: "10.0.0.1:8902",
				},
				Secrets: []string{"Bearer token-secret", "file-secret", "file-secret-that-is-long-enough", "file-secret-that-is-long-enough-for-this", "plain", "token-secret",
					"token-secret-and-more-of-it", "token-secret-and-more-of-it-to-be-long-enough"},
			}
			if !reflect.DeepEqual(c, want) {
				t.Errorf("got  %+v\nwant %+v", c, want)
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	c, err := Load(filepath.Join(fixtures, "smallest.toml"), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	s := c.Servers[0]
	if c.Settle != time.Second || c.CatalogBytes != CatalogAuto || c.URISeparator != "_" || c.ActivationMode != "auto" || c.AlwaysLoad != nil || len(c.Secrets) != 0 {
		t.Errorf("file: %+v", c)
	}
	if s.StartTimeout != 10*time.Second || s.CallTimeout != servedCallTimeout || s.MaxCalls != 0 || s.MaxMessageBytes != 32<<20 || !s.Enabled || s.Dir != "" || s.Line != 3 {
		t.Errorf("server: %+v", s)
	}
}

func TestServersKeepTheirOrderAndMayShareANamespace(t *testing.T) {
	c, err := Load(filepath.Join(fixtures, "same-namespace.toml"), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprint(c.Servers[0].Argv, c.Servers[0].Line, c.Servers[1].Argv, c.Servers[1].Line)
	if got != "[one] 2 [two] 3" {
		t.Errorf("got %s", got)
	}
}

func TestAlwaysLoad(t *testing.T) {
	for value, want := range map[string]string{`"auto"`: "auto", "true": "true", "false": "false"} {
		c, err := parse("t.toml", "/t.toml", []byte("always_load = "+value), testOptions())
		got := "auto"
		if err == nil && c.AlwaysLoad != nil {
			got = strconv.FormatBool(*c.AlwaysLoad)
		}
		if err != nil || got != want {
			t.Errorf("%s: got %s, %v", value, got, err)
		}
	}
}

func TestCatalogBytes(t *testing.T) {
	for value, want := range map[string]int{`"auto"`: CatalogAuto, `"all"`: CatalogAll, "1": 1, "2_048": 2048} {
		c, err := parse("t.toml", "/t.toml", []byte("catalog_bytes = "+value), testOptions())
		if err != nil || c.CatalogBytes != want {
			t.Errorf("%s: got %+v, %v", value, c, err)
		}
	}
}

func TestMoreThanTwentyProblemsAreCounted(t *testing.T) {
	_, err := Load(filepath.Join(fixtures, "many.toml"), testOptions())
	e, ok := errors.AsType[*source.Error](err)
	if !ok || len(e.Problems) != 20 || e.Omitted != 5 || e.Problems[0].Line != 1 {
		t.Errorf("got %+v", err)
	}
}

func TestLoadSaysWhyAFileCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	long := filepath.Join(dir, "long.toml")
	if err := os.WriteFile(long, []byte(strings.Repeat("#", source.MaxBytes+1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "none.toml"): "no such file",
		dir:                             "is a directory",
		long:                            "longer than 1048576 bytes",
	} {
		_, err := Load(path, testOptions())
		e, ok := errors.AsType[*source.Error](err)
		if !ok || e.Problems[0].File != path || !strings.Contains(e.Problems[0].Msg, want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

// The TOML library takes quadratic time on some of these, and a deep enough stack ends the process:
// a file made to be slow must be refused after no more work than a large one takes.
func TestHostileFilesAreRefused(t *testing.T) {
	repeat := func(s string) string { return strings.Repeat(s, source.MaxBytes/4/len(s)) }
	server := func(keys string) string { return "[[servers]]\nnamespace = 'a'\n" + keys }
	for _, tt := range []struct{ name, file, text string }{
		{"arrays in arrays", "x.toml", "a = " + repeat("[")},
		{"tables in tables", "x.toml", repeat("a={")},
		{"one long key", "x.toml", "[" + repeat("a.")},
		{"headers that are not closed", "x.toml", repeat("[[")},
		{"a string of folded lines", "x.toml", "a = \"\"\"" + repeat("\\\n")},
		{"a string that is not closed", "x.toml", "a = \"\"\"" + repeat("a")},
		{"one key again and again", "x.toml", repeat("a=1\n")},
		{"servers without keys", "x.toml", repeat("[[servers]]\n")},
		{"quotes", "x.toml", repeat("\"")},
		{"a long array", "x.toml", "a=[" + repeat("1,") + "]"},
		{"carriage returns", "x.toml", repeat("\r")},
		{"subshells in subshells", "x.toml", server("command = '" + repeat("(") + "'")},
		{"subshells in subshells, just short enough", "x.toml", server("command = '" + strings.Repeat("(", 32<<10) + "'")},
		{"defaults in defaults", "x.toml", server("command = 'a'\ncwd = '" + repeat("${A:-") + "'")},
		{"arrays in arrays", "x.json", repeat("[")},
		{"objects in objects", "x.json", repeat(`{"":`)},
		{"a long array", "x.json", "[" + repeat("1,")},
		{"a string of escapes", "x.json", `"` + repeat(`\u0000`)},
	} {
		t.Run(tt.file[2:]+" "+tt.name, func(t *testing.T) {
			if _, err := parse(tt.file, "/"+tt.file, []byte(tt.text), testOptions()); err == nil {
				t.Errorf("accepted")
			}
		})
	}
}

func TestACallHasATimeoutWhereManyClientsShareAServer(t *testing.T) {
	text := []byte("[[servers]]\nnamespace = 'a'\ncommand = 'x'\n[[servers]]\nnamespace = 'b'\ncommand = 'x'\ncall_timeout = 0")
	for _, tt := range []struct {
		http bool
		want time.Duration
	}{{false, 0}, {true, 5 * time.Minute}} {
		o := testOptions()
		o.HTTP = tt.http
		c, err := parse("t.toml", "/t.toml", text, o)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := c.Servers[0].CallTimeout, c.Servers[1].CallTimeout; a != tt.want || b != 0 {
			t.Errorf("with HTTP %t: %s, and %s where 0 is written", tt.http, a, b)
		}
	}
}

// parse is Load for a text. Problems name the file path.
func parse(path, abs string, text []byte, o Options) (*Config, error) {
	c, err := LoadFrom(source.Source{Path: path, Text: append([]byte{}, text...), Dir: filepath.Dir(abs)}, o)
	if err == nil {
		c.Path, c.Beside = abs, abs
	}
	return c, err
}
