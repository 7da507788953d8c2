package byname

import (
	"strings"
	"testing"
)

func TestLikeNamespace(t *testing.T) {
	for key, want := range map[string]string{
		"my server": "my_server", "@scope/pkg": "scope_pkg", "_x": "x", "вот": "", "  ": "", strings.Repeat("a", 40): strings.Repeat("a", 32),
	} {
		if got := LikeNamespace(key); got != want {
			t.Errorf("%q: got %q, want %q", key, got, want)
		}
	}
}
