package spawn

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// hostile are arguments that cmd.exe or the C library could take for something else.
var hostile = []string{"", " ", "a b", `C:\My Dir\`, `C:\My Dir\x`, `\\server\share\`, "größe ✓", "--a=b", "a&b", "a&calc", "a|b", "a>b", "<a",
	"a^b", "(a)", "a;b,c=d", "!a!", "x'y", "https://h/?a=1&b=2"}

// quotes are those that Wine's cmd.exe does not read as that of Windows.
var quotes = []string{`say "hi"`, `"`, `\"`, `a\"b c`, `"&calc&"`}

// passed returns the arguments that a child has got.
func passed(t *testing.T, argv ...string) []string {
	t.Helper()
	var got []string
	text := output(t, Command{Argv: argv})
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Errorf("%q prints %q: %v", argv, text, err)
	}
	return got
}

func TestArgumentsOfAProgram(t *testing.T) {
	want := append(slices.Concat(hostile, quotes), "100%", "%PATH%")
	if got := passed(t, append(script("args"), want...)...); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// npx.cmd and its like pass on their arguments as %*.
func TestArgumentsOfABatchFile(t *testing.T) {
	batch := filepath.Join(t.TempDir(), "my shim.cmd")
	if err := os.WriteFile(batch, []byte("@echo off\r\n\""+script("")[0]+"\" __child args %*\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, want := range hostile {
		if got := passed(t, batch, want, "and more"); !slices.Equal(got, []string{want, "and more"}) {
			t.Errorf("%q arrives as %q", want, got)
		}
	}
}

func TestTextForTheShell(t *testing.T) {
	self := `"` + script("")[0] + `" __child args `
	for _, tt := range []struct {
		argv []string
		want []string
	}{
		{[]string{"cmd", "/c", self + `"a b" c`}, []string{"a b", "c"}},
		{[]string{"cmd", "/d", "/C", "cd . && " + self + `"a&b"`}, []string{"a&b"}},
		{[]string{"cmd.exe", "/c", script("")[0], "__child", "args", "a b", "c"}, []string{"a b", "c"}},
		{[]string{"cmd", "/c", "cd", ".", "&&", script("")[0], "__child", "args", "x"}, []string{"x"}},
	} {
		if got := passed(t, tt.argv...); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.argv, got, tt.want)
		}
	}
}
