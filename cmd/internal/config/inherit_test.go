package config

import (
	"slices"
	"strings"
	"testing"
)

func TestServersInheritWhatTheFileAllows(t *testing.T) {
	const all = "PATH HOME LC_ALL PLAIN A_KEY B_KEY ARGUMENT URL_KEY OFF_KEY TOKEN TOOLMAN_TOKEN TOOLMAN_GUARD"
	c, err := parse("t.toml", "/t.toml", []byte(`
[[servers]]
namespace = "a"
command = "server"
env = { KEY = "${A_KEY:-}", PATH = "${HOME}/bin" }
[[servers]]
namespace = "b"
command = "B_KEY=${B_KEY:-} server ${ARGUMENT:-} $LC_ALL"
[[servers]]
namespace = "some"
command = "server"
inherit_env = ["P*", "A_KEY", "?_KEY", "TOOLMAN_GUARD"]
[[servers]]
namespace = "own"
command = "bash -c '$A_KEY $TOKEN'"
inherit_env = ["*_KEY"]
[[servers]]
namespace = "none"
command = "server"
inherit_env = []
[[servers]]
namespace = "far"
url = "https://example.com/${URL_KEY:-}"
[[servers]]
namespace = "off"
enabled = false
command = "server ${OFF_KEY}"
[http.tokens]
reader = "${TOKEN}-and-more-of-it"
`), Options{LookupEnv: func(string) (string, bool) { return "", true }})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"PATH HOME LC_ALL PLAIN A_KEY TOOLMAN_GUARD",
		"PATH HOME LC_ALL PLAIN B_KEY ARGUMENT TOOLMAN_GUARD",
		"PATH PLAIN A_KEY TOOLMAN_GUARD",
		"A_KEY TOOLMAN_GUARD",
		"TOOLMAN_GUARD",
	} {
		s := &c.Servers[i]
		got := slices.DeleteFunc(strings.Fields(all), func(name string) bool { return !s.Inherits(name) })
		if strings.Join(got, " ") != want {
			t.Errorf("%s inherits %q, want %q", s.Name, got, want)
		}
	}
}

// A shell that does not inherit what its command refers to would put nothing in its place, without
// a word.
func TestAShellHasWhatItsCommandRefersTo(t *testing.T) {
	for _, tt := range []struct{ keys, want string }{
		{`command = "a ${TOKEN} | b"`, ""},
		{"command = \"a ${TOKEN} | b\"\ninherit_env = ['TOKEN']", ""},
		{"command = \"a ${TOKEN} | b\"\ninherit_env = ['TOK*']", ""},
		{"command = \"a ${TOKEN} | b\"\ninherit_env = []\nenv.TOKEN = '${TOKEN}'", ""},
		{"command = \"a ${TOKEN} | b\"\ninherit_env = ['PATH']", `the shell that runs it does not inherit the variable TOKEN; set it in env, as TOKEN = "${TOKEN}"`},
		{"command = \"a ${TOKEN:-x} | b\"\ninherit_env = ['PATH']", "does not inherit the variable TOKEN"},
		{"command = \"a $TOKEN | b\"\ninherit_env = ['PATH']", ""},
		{"command = \"a ${TOKEN}\"\ninherit_env = ['PATH']", ""},
		{`command = "a ${TOOLMAN_X} | b"`, "does not inherit the variable TOOLMAN_X"},
	} {
		o := testOptions()
		o.LookupEnv = func(string) (string, bool) { return "set", true }
		_, err := parse("t.toml", "/t.toml", []byte("[[servers]]\nnamespace = 'x'\n"+tt.keys), o)
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s\ngot %v, want %q", tt.keys, err, tt.want)
		}
	}
}
