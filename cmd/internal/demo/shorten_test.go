package demo

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"toolman/cmd/internal/config"
)

func TestShorten(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"notes_find","arguments":{"q":"oat"}}}`
	for _, tt := range []struct {
		name  string
		msg   string
		width int
		want  string
	}{
		{"what fits is whole but for the version", call, 88, `{"id":3,"method":"tools/call","params":{"name":"notes_find","arguments":{"q":"oat"}}}`},
		{"members are left out from the end", call, 60, `{"id":3,"method":"tools/call","params":{"name":"notes_…",…}}`},
		{"a long string is cut", `{"text":"abcdefghijklmnopqrstuvwxyz"}`, 20, `{"text":"abcdefgh…"}`},
		{"never within an escape", `{"text":"abcdefg\u0001ijklmnopqrstuvwxyz"}`, 22, `{"text":"abcdefg…"}`},
		{"never behind a backslash", `{"text":"abcdefg\"ijklmnopqrstuvwxyz"}`, 20, `{"text":"abcdefg…"}`},
		{"every element shows its name", `[{"name":"first","rest":"abcdefghijklmnopqrstuvwxyz"},{"name":"second","rest":"abcdefghijklmnopqrstuvwxyz"}]`, 60,
			`[{"name":"first","rest":"abc…"},{"name":"second",…}]`},
		{"order and numbers stay", `{"b":1.50,"a":[true,null,{}]}`, 80, `{"b":1.50,"a":[true,null,{}]}`},
		{"what is not HTML stays", `{"a":"<&>"}`, 80, `{"a":"<&>"}`},
		{"no JSON is cut", `hello, this is no JSON at all`, 10, `hello, th…`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := shorten([]byte(tt.msg), tt.width); got != tt.want {
				t.Errorf("got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func FuzzShorten(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","x":"\u00e9\\\""},{"name":"b"}]}}`,
		`[[[[[[1,2,3]]]]]]`, `{"a":{"b":{"c":"ddddddddddddddddddddd"}}}`, `"\ud800"`, `{"a":1}{`, `{"a"`, ``, `]`, "\xff\xfe",
	} {
		f.Add([]byte(seed), 40)
	}
	f.Fuzz(func(t *testing.T, msg []byte, width int) {
		width = 10 + (width&0x7fffffff)%200
		got := shorten(msg, width)
		if n := utf8.RuneCountInString(got); n > width {
			t.Errorf("%d characters in %q; want at most %d", n, got, width)
		}
		if strings.Contains(got, ellipsis) || !json.Valid(msg) {
			return
		}
		var before, after any
		if json.Unmarshal(msg, &before) != nil {
			return
		}
		if err := json.Unmarshal([]byte(got), &after); err != nil {
			t.Errorf("%q without … is no JSON: %v", got, err)
		}
	})
}

func TestConfigRunsTheProgramWhateverItsPath(t *testing.T) {
	for _, program := range []string{
		"/usr/local/bin/toolman",
		"/home/j doe/bin/toolman",
		`C:\Program Files\toolman\toolman.exe`,
		`/it's/"quoted"/$HOME/${HOME}/~/*?&|;<>()#`,
		"/büro/toolman",
	} {
		t.Run(program, func(t *testing.T) {
			path, err := WriteConfig(t.TempDir(), program)
			if err != nil {
				t.Fatal(err)
			}
			c, err := config.Load(path, config.Options{LookupEnv: func(string) (string, bool) { return "", false }})
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range []string{"notes", "calc"} {
				s := c.Servers[i]
				if want := []string{program, "__demo-server", name}; s.Namespace != name || !slices.Equal(s.Argv, want) {
					t.Errorf("server %d is %q, run by %q; want %q", i, s.Namespace, s.Argv, want)
				}
			}
		})
	}
}
