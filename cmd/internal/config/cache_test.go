package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCacheFalseTurnsTheCatalogCacheOff(t *testing.T) {
	for _, tt := range []struct {
		top, server    string
		uncached, lazy bool
		rules          int
		problem        string
	}{
		{top: "", server: ""},
		{top: "", server: "lazy = true", lazy: true},
		{top: "cache = true", server: "cache = true"},
		{top: "", server: "cache = false", uncached: true},
		{top: "", server: `cache = { "get_*" = "1m" }`, rules: 1},
		{top: "cache = false", server: "", uncached: true},
		{top: "cache = false", server: "cache = true", uncached: true},
		{top: "cache = false", server: `cache = { "get_*" = "1m" }`, uncached: true, rules: 1}, // results are another matter
		{top: "cache = false", server: "lazy = true", problem: "tools.toml:5: a lazy server needs the catalog cache"},
	} {
		path := filepath.Join(t.TempDir(), "tools.toml")
		text := tt.top + "\n[[servers]]\nnamespace = \"a\"\ncommand = \"server\"\n" + tt.server + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, Options{})
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: got %v", text, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if s := c.Servers[0]; s.Uncached != tt.uncached || s.Lazy != tt.lazy || len(s.Cache) != tt.rules {
			t.Errorf("%s: got uncached %v, lazy %v, %d rules", text, s.Uncached, s.Lazy, len(s.Cache))
		}
	}
}
