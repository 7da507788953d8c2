package config

import (
	"slices"
	"strings"
	"testing"
)

// aCluster is a table with one more line, and without the keys that it has.
func aCluster(lines ...string) []byte {
	text := "[cluster]\n" + strings.Join(lines, "\n") + "\n"
	for key, value := range map[string]string{
		"engine": `"valkeys://valkey.example.com:6379"`, "secrets": `["a secret of thirty-two bytes or more"]`, "advertise": `"10.0.0.1:8901"`,
	} {
		if !strings.Contains(text, "\n"+key+" =") {
			text += key + " = " + value + "\n"
		}
	}
	return []byte(text)
}

func TestWithoutATableThereIsNoCluster(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", nil, testOptions())
	if err != nil || c.Cluster != nil {
		t.Errorf("got %+v, %v", c.Cluster, err)
	}
}

func TestClusterDefaults(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", aCluster(), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Cluster; got.Name != "toolman" || got.Listen != ":8901" || got.EngineCA != "" || got.EnginePlaintext {
		t.Errorf("got %+v", got)
	}
	c, err = parse("t.toml", "/t.toml", []byte(strings.ReplaceAll(string(aCluster(`listen = "[::1]:0"`)), "advertise", "#")), testOptions())
	if err != nil || c.Cluster.Advertise != "[::1]:0" {
		t.Errorf("an address to listen on is where others find the replica: got %+v, %v", c.Cluster, err)
	}
}

// A file may name secrets that are not there where toolman is started on stdio.
func TestOnStdioTheClusterIsNotUsed(t *testing.T) {
	o := testOptions()
	o.HTTP = false
	text := aCluster(`engine = "${NOT_SET}"`, `secrets = ["${file:not-there}"]`, `advertise = "${NOT_SET}:1"`)
	if c, err := parse("t.toml", "/t.toml", text, o); err != nil || c.Cluster != nil {
		t.Errorf("on stdio: got %+v, %v", c, err)
	}
	if _, err := parse("t.toml", "/t.toml", aCluster(`secret = "x"`), o); err == nil || !strings.Contains(err.Error(), "did you mean secrets?") {
		t.Errorf("an unknown key, on stdio: got %v", err)
	}
	o.Cluster = true
	if _, err := parse("t.toml", "/t.toml", text, o); err == nil || strings.Count(err.Error(), "NOT_SET is not set") != 2 || !strings.Contains(err.Error(), "not-there") {
		t.Errorf("where it is used: got %v", err)
	}
	o.KeepReferences = true
	if c, err := parse("t.toml", "/t.toml", text, o); err != nil || c.Cluster != nil {
		t.Errorf("where the file is only read: got %+v, %v", c, err)
	}
}

func TestSecretsOfAClusterAreHidden(t *testing.T) {
	o := testOptions()
	o.LookupEnv = func(name string) (string, bool) {
		v, ok := map[string]string{"POD_IP": "10.1.2.3", "PASSWORD": "p%2Fw", "SECRET": strings.Repeat("s", 32), "NEXT": strings.Repeat("n", 32)}[name]
		return v, ok
	}
	c, err := parse("t.toml", "/t.toml", aCluster(`engine = "valkeys://u:a/${PASSWORD}@v"`, `secrets = ["${SECRET}", "of this ${NEXT}"]`, `advertise = "${POD_IP}:8901"`), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"p%2Fw", "a/p%2Fw", "a/p/w", strings.Repeat("s", 32), "of this " + strings.Repeat("n", 32)} {
		if !slices.Contains(c.Secrets, want) {
			t.Errorf("%q is no secret", want)
		}
	}
	if slices.Contains(c.Secrets, "10.1.2.3") {
		t.Error("the address of a replica is hidden")
	}
}

func TestServersDoNotInheritSecretsOfACluster(t *testing.T) {
	o := testOptions()
	o.LookupEnv = func(string) (string, bool) { return strings.Repeat("x", 40), true }
	text := append([]byte("[[servers]]\nnamespace = 'a'\ncommand = 'x'\n"), aCluster(`engine = "valkeys://u:${PASSWORD}@v"`, `secrets = ["${CLUSTER}"]`, `advertise = "${NODE}:1"`)...)
	c, err := parse("t.toml", "/t.toml", text, o)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"PASSWORD": false, "CLUSTER": false, "NODE": true} {
		if got := c.Servers[0].Inherits(name); got != want {
			t.Errorf("the server inherits %s: %t", name, got)
		}
	}
}

func TestEnginesOfACluster(t *testing.T) {
	for line, want := range map[string]string{
		`engine = "valkeys://v"`:                                    "",
		`engine = "rediss://u:p@v:6379/3?addr=w:6379&addr=[::1]:1"`: "",
		`engine = "rediss://u:p@v:26379?master_set=m"`:              "",
		`engine = "valkey://localhost:6379"`:                        "",
		`engine = "redis://127.0.0.1:6379?addr=[::1]:6379"`:         "",
		`engine = "redis://127.0.0.1:6379?addr=w:6379"`:             "without TLS",
		"engine = \"redis://v:6379\"\nengine_plaintext = true":      "",
		`engine = "redis://v:6379"`:                                 "redis:// sends the password without TLS beyond this machine; write rediss://, or engine_plaintext = true",
		`engine = "valkey://localhost.example.com"`:                 "without TLS",
		`engine = "valkeys://v?skip_verify=false"`:                  "?skip_verify",
		`engine = "valkeys://v?addr=w"`:                             "?addr=HOST:PORT",
		`engine = "valkeys://u:a/b?c@d#e%f@v:6379"`:                 "",
		`engine = "valkeys://u:hidden/hidden@"`:                     "no host that can be read",
		`engine = "valkeys://u:hidden@v:six"`:                       "no host that can be read",
		`engine = "valkeys://u:hidden@v?addr=w:1&db=3"`:             "what follows the ? cannot be used",
		"engine = \"valkeys://v\"\nengine_ca = \"ca.pem\"":          "",
		"engine = \"valkey://localhost\"\nengine_ca = \"ca.pem\"":   "t.toml:3: engine_ca is for an engine with TLS, and engine is valkey://; take it out, or write valkeys:// in engine",
		`engine = "valkeys://v/first"`:                              "its path is not the number of a database",
		`engine = "valkeys://"`:                                     "no host that can be read",
		`engine = "unix:///hidden"`:                                 "does not begin with valkeys://",
		`engine = "hidden"`:                                         "does not begin with valkeys://",
		`advertise = "gateway-0.gateway:8901"`:                      "",
		`advertise = ":8901"`:                                       `other replicas cannot connect to ":8901"`,
		`advertise = "10.0.0.1:0"`:                                  "cannot connect",
		`advertise = "[::]:1"`:                                      "cannot connect",
		`advertise = "10.0.0.1"`:                                    "write host:port",
		`advertise = "10.0.0.1:65536"`:                              "write host:port",
		`name = "` + strings.Repeat("a", 64) + `"`:                  "",
		`name = "` + strings.Repeat("a", 65) + `"`:                  "up to 64",
		`name = "ä"`: "up to 64",
		`secrets = ["` + strings.Repeat("a", 32) + `"]`:                          "",
		`secrets = ["` + strings.Repeat("a", 31) + `"]`:                          "31 bytes, which is less than 32",
		"secrets = [\"" + strings.Repeat("a", 32) + "\",\n\"shorthidden\",\n]\n": "t.toml:3: cluster.secrets: a secret has 11 bytes",
	} {
		_, err := parse("t.toml", "/t.toml", aCluster(line), testOptions())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s\ngot  %v\nwant %s", line, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hidden") {
			t.Errorf("a secret is shown: %v", err)
		}
	}
}

func TestStatelessServers(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", []byte(`
[[servers]]
namespace = "a"
command = "x"
[[servers]]
namespace = "b"
command = "x"
stateless = true
[[servers]]
namespace = "c"
url = "https://example.com/mcp"
[[servers]]
namespace = "d"
url = "https://example.com/mcp"
stateless = false
[[servers]]
namespace = "e"
socket = "/run/e"
`), testOptions())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{false, true, true, false, false} {
		if s := c.Servers[i]; s.Stateless != want {
			t.Errorf("%s: got %t", s.Name, s.Stateless)
		}
	}
}
