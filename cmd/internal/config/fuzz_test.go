package config

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/config/byname"
	"toolman/cmd/internal/config/source"
	"toolman/router/policy"
)

// FuzzLoad feeds both formats. What is accepted keeps what Config promises, and what is refused has
// a reason that shows no secret and no control character.
func FuzzLoad(f *testing.F) {
	for _, ext := range []string{"toml", "json"} {
		files, _ := filepath.Glob(fixtures + "/*." + ext)
		for _, path := range files {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text, ext == "json")
		}
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text []byte, isJSON bool) {
		path := filepath.Join(dir, "tools.toml")
		if isJSON {
			path = filepath.Join(dir, "tools.json")
		}
		c, err := parse(path, path, text, testOptions())
		if err != nil {
			checkRefused(t, err)
			return
		}
		if isJSON && !json.Valid(withoutBOM(text)) {
			t.Error("accepted what is not JSON")
		}
		if c.URISeparator != "_" && c.URISeparator != "+" || c.Settle < 0 || c.Settle > time.Minute || c.CatalogBytes < CatalogAuto {
			t.Errorf("out of range: %+v", c)
		}
		for _, s := range c.Servers {
			checkServer(t, s)
		}
		checkRules(t, c)
	})
}

func withoutBOM(text []byte) []byte {
	return []byte(strings.TrimPrefix(string(text), "\ufeff"))
}

func checkRefused(t *testing.T, err error) {
	e, ok := errors.AsType[*source.Error](err)
	if !ok || len(e.Problems) == 0 || len(e.Problems) > source.MaxProblems {
		t.Fatalf("got %T %v", err, err)
	}
	for _, p := range e.Problems {
		if p.Msg == "" || p.Line < 1 || strings.ContainsAny(p.Msg+p.Hint, "\x00\x1b\n") {
			t.Errorf("got %+v", p)
		}
		if strings.Contains(p.String(), "token-secret") {
			t.Errorf("a secret in %s", p)
		}
	}
}

// checkRules asserts that policies are about servers that there are, and know their lines.
func checkRules(t *testing.T, c *Config) {
	if c.Rules == nil {
		return
	}
	lists := []map[string]policy.List{c.Rules.Exposed}
	for _, a := range c.Rules.Agents {
		lists = append(lists, a.Overrides)
	}
	for _, byServer := range lists {
		for server, l := range byServer {
			if !slices.ContainsFunc(c.Servers, func(s Server) bool { return s.Name == server }) || l.Line < 1 {
				t.Errorf("a list for server %q in line %d", server, l.Line)
			}
			for _, e := range l.Entries {
				if e.Text == "" || e.Line < 1 {
					t.Errorf("entry %+v", e)
				}
			}
		}
	}
}

func checkServer(t *testing.T, s Server) {
	if s.Namespace != "" && !byname.IsNamespace(s.Namespace) || s.Line < 1 {
		t.Errorf("namespace %q, line %d", s.Namespace, s.Line)
	}
	if s.StartTimeout <= 0 || s.CallTimeout < 0 || s.MaxMessageBytes < leastMessageBytes || s.MaxMessageBytes > mostMessageBytes {
		t.Errorf("out of range: %+v", s)
	}
	if s.Dir != "" && !filepath.IsAbs(s.Dir) {
		t.Errorf("relative folder %q", s.Dir)
	}
	usable := s.Enabled && s.Missing == nil
	runs := usable && s.Remote == nil && s.Socket == ""
	if runs && (len(s.Argv) == 0 || s.Argv[0] == "") || !usable && len(s.Argv)+len(s.Env) > 0 {
		t.Errorf("enabled %v, argv %q, env %q", s.Enabled, s.Argv, s.Env)
	}
	for _, word := range append(s.Argv, s.Env...) {
		if strings.Contains(word, "\x00") {
			t.Errorf("NUL in %q", word)
		}
	}
	for _, v := range s.Env {
		if name, _, ok := strings.Cut(v, "="); !ok || name == "" {
			t.Errorf("variable %q", v)
		}
	}
}
