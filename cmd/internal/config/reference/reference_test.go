package reference

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

func TestTheShellIsTheSystems(t *testing.T) {
	for goos, want := range map[string]string{"linux": "/bin/sh -c x", "darwin": "/bin/sh -c x", "windows": "cmd /c x"} {
		if got := strings.Join(shellArgv(goos, "x"), " "); got != want {
			t.Errorf("%s: got %s", goos, got)
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
		if got := strings.Join(slices.Sorted(maps.Keys(VariablesIn(n))), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
