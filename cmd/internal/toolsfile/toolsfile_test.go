package toolsfile

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
)

func file(text string) File { return File{"/project/tools.toml", []byte(text)} }

var added = Server{Comment: []string{"What it is."}, Namespace: "new", Command: "npx", Args: []string{"-y", `a "b"`}, Env: []Pair{{"A", "1"}, {"B.C", `\d`}}}

const addedText = "# What it is.\n[[servers]]\nnamespace = \"new\"\ncommand = \"npx\"\nargs = [\"-y\", 'a \"b\"']\nenv = { A = \"1\", \"B.C\" = '\\d' }\n"

func TestAppend(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", addedText},
		{"comment", "# mine\n", "# mine\n\n" + addedText},
		{"a server", "[[servers]]\nnamespace = \"a\"\ncommand = \"b\"\n", "[[servers]]\nnamespace = \"a\"\ncommand = \"b\"\n\n" + addedText},
		{"no line end", "[[servers]]\nnamespace = \"a\"\ncommand = \"b\" # c", "[[servers]]\nnamespace = \"a\"\ncommand = \"b\" # c\n\n" + addedText},
		{"blank line", "settle_ms = 0\n\n", "settle_ms = 0\n\n" + addedText},
		{"CRLF", "settle_ms = 0\r\n", "settle_ms = 0\r\n\r\n" + strings.ReplaceAll(addedText, "\n", "\r\n")},
		{"BOM", "\xef\xbb\xbfsettle_ms = 0\n", "\xef\xbb\xbfsettle_ms = 0\n\n" + addedText},
		{"only a BOM", "\xef\xbb\xbf", "\xef\xbb\xbf" + addedText},
		{"by name", "[servers.a]\ncommand = \"b\"\n", "[servers.a]\ncommand = \"b\"\n\n" + strings.Replace(addedText, "[[servers]]\nnamespace = \"new\"", "[servers.new]", 1)},
		{"of a client", "[mcpServers.a]\ncommand = \"b\"\n", "[mcpServers.a]\ncommand = \"b\"\n\n" + addedText},
		{"another table last", "[[servers]]\nnamespace = \"a\"\ncommand = \"b\"\n[http]\nlisten = \"localhost:1\"\n", "[[servers]]\nnamespace = \"a\"\ncommand = \"b\"\n[http]\nlisten = \"localhost:1\"\n\n" + addedText},
	} {
		got, err := file(tt.text).Append(added)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
			continue
		}
		back, err := File{"/project/tools.toml", got}.Remove("new")
		if want := strings.TrimRight(tt.text, "\r\n"); err != nil || strings.TrimRight(string(back), "\r\n") != want {
			t.Errorf("%s: removed again: %v\n%q\nwant\n%q", tt.name, err, back, tt.text)
		}
		if tt.name != "no line end" && tt.name != "blank line" && string(back) != tt.text {
			t.Errorf("%s: removed again: got %q, want %q", tt.name, back, tt.text)
		}
	}
}

const several = `# The file.

# About a.
# More about a.
[[servers]] # a
namespace = "a"
command = """
  sh -c '[[servers]]'
"""
  [servers.env]
  A = "[x]" # ]
  B = '#'
# The end of a.

# A comment of nobody.

# About b.
[[servers]]
namespace = "b"
command = "b"
args = [
  "[servers]", # no header
  "]",
]

[http]
listen = "localhost:1"

[[servers]]
namespace = "c"
url = "https://example.com/mcp"
[servers.headers]
Authorization = "Bearer ${T}"
`

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ name, from, to string }{
		{"a", "# About a.\n", "# A comment of nobody."},
		{"b", "# About b.\n", "[http]"},
		{"c", "\n[[servers]]\nnamespace = \"c\"", ""},
	} {
		start := strings.Index(several, tt.from)
		end := len(several)
		if tt.to != "" {
			end = strings.Index(several, tt.to)
		}
		for _, eol := range []string{"\n", "\r\n"} {
			in := strings.ReplaceAll(several, "\n", eol)
			want := strings.ReplaceAll(several[:start]+several[end:], "\n", eol)
			got, err := file(in).Remove(tt.name)
			if err != nil || string(got) != want {
				t.Errorf("%s: got %v\n%s\nwant\n%s", tt.name, err, got, want)
			}
		}
	}
}

func TestRemoveByName(t *testing.T) {
	in := "[servers.a]\ncommand = \"a\"\n\n[servers.\"b\"]\ncommand = \"b\"\n\n[servers.a.env]\nX = \"1\"\n\n[servers.ab]\ncommand = \"ab\"\n"
	got, err := file(in).Remove("a")
	if want := "[servers.\"b\"]\ncommand = \"b\"\n\n[servers.ab]\ncommand = \"ab\"\n"; err != nil || string(got) != want {
		t.Errorf("got %v\n%s", err, got)
	}
}

func TestReplace(t *testing.T) {
	s := added
	s.Namespace = "b"
	got, err := file(several).Replace(s)
	want := strings.Replace(several, several[strings.Index(several, "# About b."):strings.Index(several, "\n[http]")], strings.Replace(addedText, "\"new\"", "\"b\"", 1), 1)
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
	s.Namespace = "c"
	got, err = file(several).Replace(s)
	want = several[:strings.Index(several, "[[servers]]\nnamespace = \"c\"")] + strings.Replace(addedText, "\"new\"", "\"c\"", 1)
	if err != nil || string(got) != want {
		t.Errorf("got %v\n%s\nwant\n%s", err, got, want)
	}
}

func TestLongValuesGetLinesOfTheirOwn(t *testing.T) {
	long := strings.Repeat("x", 60)
	s := Server{Namespace: "n", Command: "c", Args: []string{long, long}, Env: []Pair{{"A", long}, {"B", long}}, Cwd: "/d"}
	want := "[[servers]]\nnamespace = \"n\"\ncommand = \"c\"\nargs = [\n  \"" + long + "\",\n  \"" + long + "\",\n]\ncwd = \"/d\"\n\n[servers.env]\nA = \"" + long + "\"\nB = \"" + long + "\"\n"
	if got := s.Block(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	text, err := file("").Append(s, added)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = (File{"/project/tools.toml", text}).Remove("n"); err != nil || string(text) != addedText {
		t.Errorf("removed: %v\n%s", err, text)
	}
}

func TestWhatCannotBeEditedStays(t *testing.T) {
	for _, tt := range []struct{ name, path, text, want, hint string }{
		{"syntax", "/project/tools.toml", "[[servers]\n", "this is not TOML", ""},
		{"unknown key", "/project/tools.toml", "x = 1\n", "/project/tools.toml:1: unknown key", ""},
		{"JSON", "/project/tools.json", "{}", "is JSON", "edit it by hand"},
		{"array in one value", "/project/tools.toml", "servers = [{namespace = \"new\", command = \"b\"}]\n", "", ""},
	} {
		f := File{tt.path, []byte(tt.text)}
		before := bytes.Clone(f.Text)
		for what, edit := range map[string]func() ([]byte, error){
			"append": func() ([]byte, error) { return f.Append(added) },
			"remove": func() ([]byte, error) { return f.Remove("new") },
		} {
			if _, err := edit(); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(cli.Hint(err), tt.hint) {
				t.Errorf("%s: %s: got %v (%s)", tt.name, what, err, cli.Hint(err))
			}
			if !bytes.Equal(f.Text, before) {
				t.Errorf("%s: %s changed the text", tt.name, what)
			}
		}
	}
	if _, err := file(several).Remove("bb"); err == nil || cli.Hint(err) != "did you mean b?" && !strings.Contains(cli.Hint(err), "it has") {
		t.Errorf("got %v (%s)", err, cli.Hint(err))
	}
	double := "[[servers]]\nnamespace = \"a\"\ncommand = \"b\"\n[[servers]]\nnamespace = \"a\"\ncommand = \"c\"\n"
	if _, err := file(double).Remove("a"); err == nil || !strings.Contains(err.Error(), "2 servers called a, on lines 1 and 4") {
		t.Errorf("got %v", err)
	}
}

// TestAnEditChangesNothingElse has an edit fail that would change a variable of another server.
func TestAnEditChangesNothingElse(t *testing.T) {
	same := func(servers []any) []any { return servers }
	for text, ok := range map[string]bool{several + "# c": true, strings.Replace(several, `"[x]"`, `"y"`, 1): false, strings.Replace(several, ":1", ":2", 1): false} {
		if err := file(several).compare([]byte(text), same); (err == nil) != ok {
			t.Errorf("got %v for\n%s", err, text)
		}
	}
}

func TestANewFileIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tools.toml")
	for _, names := range [][]string{nil, {"a"}, {"a", "b", "c"}} {
		text := New(names...)
		for _, uncomment := range []bool{false, true} {
			if uncomment {
				text = bytes.Replace(text, []byte("# active"), []byte("active"), 1)
			}
			var err error
			if text, err = (File{path, text}).Append(added); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(path, config.Options{})
			if err != nil || c.Servers[0].Args[1] != `a "b"` || c.Servers[0].Env[1] != `B.C=\d` {
				t.Errorf("got %+v, %v from\n%s", c, err, text)
			}
			text = New(names...)
		}
	}
}

// A server of any strings is read as it was written, and removed without a trace.
func FuzzAppendAndRemove(f *testing.F) {
	f.Add("", "npx", "-y", "A", "1")
	f.Add(several, "a b", "'\"\\", "é", "\x00\u2028\n\t")
	f.Add("\xef\xbb\xbf# c\r\n[servers.x]\r\ncommand = 'a'", "c", "", ".", "${A}")
	f.Fuzz(func(t *testing.T, text, command, arg, name, value string) {
		f := file(text)
		s := Server{Namespace: "fuzz", Command: command, Args: []string{arg}, Env: []Pair{{name, value}}}
		after, err := f.Append(s)
		if err != nil {
			return
		}
		back, err := File{f.Path, after}.Remove("fuzz")
		if err != nil {
			t.Fatalf("%v in\n%s", err, after)
		}
		if !bytes.Equal(bytes.TrimRight(back, " \t\r\n"), bytes.TrimRight(f.Text, " \t\r\n")) {
			t.Fatalf("got\n%q\nof\n%q", back, f.Text)
		}
	})
}
