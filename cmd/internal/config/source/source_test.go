package source

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

func TestLinesOfTOML(t *testing.T) {
	const text = `# comment with = and [brackets]
top = 1 # and one with "quotes

"quoted key" = [ # an array
  'x', [
    "y",
  ],
  { in = 1, line = 2 },
]
multi = """
a = 1 \"""
[b]
""""
literal = '''
c = 'x' ''' # one more
dotted . "b.c" = { d.e = 1,
  f = 2 }
[[servers]]
command = "a = ]"
[servers.env]
"k\u0065y" = 1

[[ servers ]] # the second
env.A = 1
env.B = 1979-05-27 07:32:00
[other.table]
z = "#"
`
	for path, want := range map[string]int{
		"top": 2, "quoted key": 4, "quoted key/0": 5, "quoted key/1": 5, "quoted key/1/0": 6, "quoted key/2": 8, "quoted key/2/line": 8,
		"multi": 10, "literal": 14, "dotted": 16, "dotted/b.c": 16, "dotted/b.c/d/e": 16, "dotted/b.c/f": 17,
		"servers/0": 18, "servers/0/command": 19, "servers/0/env": 20, "servers/0/env/key": 21,
		"servers/1": 23, "servers/1/env/A": 24, "servers/1/env/B": 25, "other/table": 26, "other/table/z": 27,
	} {
		root, problem := parseTOML(text)
		if problem != nil {
			t.Fatal(problem)
		}
		if n, ok := find(root, strings.Split(path, "/")); !ok || n.Line != want {
			t.Errorf("%s is on line %d, want %d", path, n.Line, want)
		}
	}
}

func TestLinesOfJSON(t *testing.T) {
	const text = `{
  "top": 1, "same": "line",

  "array": [
    "a \" [",
    {"in":
      2}
  ]
}
`
	root, problem := parseJSON([]byte(text))
	if problem != nil {
		t.Fatal(problem)
	}
	for path, want := range map[string]int{"top": 2, "same": 2, "array": 4, "array/0": 5, "array/1": 6, "array/1/in": 6} {
		if n, ok := find(root, strings.Split(path, "/")); !ok || n.Line != want {
			t.Errorf("%s is on line %d, want %d", path, n.Line, want)
		}
	}
}

// find goes down from n by keys, and digits for elements.
func find(n Node, path []string) (Node, bool) {
	for _, step := range path {
		switch v := n.Value.(type) {
		case []Member:
			i := slices.IndexFunc(v, func(m Member) bool { return m.Key == step })
			if i < 0 {
				return n, false
			}
			n = v[i].Node
		case []Node:
			n = v[int(step[0]-'0')]
		}
	}
	return n, true
}

// FuzzLocate holds the walk against the library: for TOML that is valid and not too deep, both see
// the same keys and elements.
func FuzzLocate(f *testing.F) {
	for _, seed := range []string{
		"a.b = [1, {c = 'x'}, []]\n[[t]]\n[t.u]\nv = \"\"\"\\\"\"\"\"\n[[t]]\n", "\"a\\\"b\" = '''x'''''\n", "a = 1979-05-27 07:32:00 # c\n",
		"a = {\n b = 1, # c\n}\n", "[ a . 'b' ]\n\"\" = \"\"\n", "x = \"\"\"\n\\\\\"\"\"\ny=-1.5e3", "[[a.b]]\n[[a.b.c]]\nd=1\n[[a.b]]\n[a.b.c]\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		root, deep := locate(text)
		if deep > 0 || !validText(text) {
			return
		}
		var values map[string]any
		if _, err := toml.Decode(text, &values); err != nil {
			return
		}
		sameShape(t, "", values, root)
	})
}

func validText(text string) bool {
	return utf8.ValidString(text) && !strings.HasPrefix(text, "\ufeff")
}

func sameShape(t *testing.T, path string, value any, p *position) {
	t.Helper()
	if p.line == 0 {
		t.Errorf("%s has no line", path)
	}
	switch v := value.(type) {
	case map[string]any:
		if got, want := slices.Sorted(maps.Keys(p.keys)), slices.Sorted(maps.Keys(v)); !slices.Equal(got, want) || len(p.elems) > 0 {
			t.Fatalf("keys of %q: got %q and %d elements, want %q", path, got, len(p.elems), want)
		}
		for key := range v {
			sameShape(t, path+"/"+key, v[key], p.keys[key])
		}
	case []map[string]any:
		sameElements(t, path, v, p)
	case []any:
		sameElements(t, path, v, p)
	default:
		if len(p.keys)+len(p.elems) > 0 {
			t.Fatalf("%q is no table and no array", path)
		}
	}
}

func sameElements[T any](t *testing.T, path string, values []T, p *position) {
	t.Helper()
	if len(p.elems) != len(values) || len(p.keys) > 0 {
		t.Fatalf("elements of %q: got %d and %d keys, want %d", path, len(p.elems), len(p.keys), len(values))
	}
	for i, v := range values {
		sameShape(t, path+"/#", any(v), p.elems[i])
	}
}

func TestStatements(t *testing.T) {
	const text = "a = 1 # one\n\n[b.'c d']\n  x.y = [\n  \"]\", # no end\n  2]\r\n[[e]]\nf = { g = '}' }\n# end"
	var got []string
	for _, s := range Statements(text) {
		got = append(got, fmt.Sprintf("%q %v %q", s.Keys, s.Header, text[s.Start:s.End]))
	}
	want := []string{
		`["a"] false "a = 1"`,
		`["b" "c d"] true "[b.'c d']"`,
		`["b" "c d" "x" "y"] false "x.y = [\n  \"]\", # no end\n  2]"`,
		`["e"] true "[[e]]"`,
		`["e" "f"] false "f = { g = '}' }"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
