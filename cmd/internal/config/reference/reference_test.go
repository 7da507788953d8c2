package reference

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

func TestTheShellIsTheSystems(t *testing.T) {
	for goos, want := range map[string]string{"linux": "/bin/sh -c x", "darwin": "/bin/sh -c x", "windows": "cmd /d /c x"} {
		if got := strings.Join(shellArgv(goos, "x"), " "); got != want {
			t.Errorf("%s: got %s", goos, got)
		}
	}
}

// A command that is written on Windows has the backslashes of paths.
func TestBackslashes(t *testing.T) {
	for text, want := range map[string][2]string{ // elsewhere, on Windows
		`C:\\tools`:                            {`C:\tools`, `C:\tools`},
		`C:\tools\2\_x\.cache\@a\größe\-s.exe`: {`C:tools2_x.cache@agröße-s.exe`, `C:\tools\2\_x\.cache\@a\größe\-s.exe`},
		`C:\My\ Dir\x`:                         {`C:My Dirx`, `C:\My Dir\x`},
		`\$A\"\'\;`:                            {`$A"';`, `$A"';`},
	} {
		for i, goos := range []string{"linux", "windows"} {
			got := []byte{}
			for j := 0; j < len(text); j++ {
				if text[j] == '\\' && escapes(goos, text[j+1], false) {
					j++
				}
				got = append(got, text[j])
			}
			if string(got) != want[i] {
				t.Errorf("%s: %s means %s, want %s", goos, text, got, want[i])
			}
		}
	}
	for _, goos := range []string{"linux", "windows"} {
		if escapes(goos, 't', true) || !escapes(goos, '$', true) {
			t.Errorf("%s: wrong in double quotes", goos)
		}
	}
}

func TestWhatAStringRefersTo(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"plain, $5, $, ${}, a$":         "",
		"${A}":                          "A",
		"x${A}y${B:-${C_1}}":            "A B C_1",
		"$A-$B.c":                       "A B",
		"bash -c 'curl \"$A\" ${#B}'":   "A B",
		"$${A}":                         "A",
		"${file:a/b} ${session.KEY}":    "file session",
		"${_a9é}":                       "_a9",
		"${A%suffix} ${B:=x} ${!C} $9A": "A B C",
	} {
		n := source.Node{Value: []source.Member{{Key: "$KEY", Node: source.Node{Value: []source.Node{{Value: text}, {Value: int64(1)}}}}}}
		if runtime.GOOS == "windows" {
			want = strings.ToUpper(want)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(VariablesIn(n))), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
