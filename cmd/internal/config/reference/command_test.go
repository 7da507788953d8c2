package reference

import (
	"strings"
	"testing"
)

func TestTheShellIsTheSystems(t *testing.T) {
	for goos, want := range map[string]string{"linux": "/bin/sh -c x", "darwin": "/bin/sh -c x", "windows": "cmd /c x"} {
		if got := strings.Join(shellArgv(goos, "x"), " "); got != want {
			t.Errorf("%s: got %s", goos, got)
		}
	}
}
