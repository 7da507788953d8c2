package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"toolman/cmd/internal/cli"
	"toolman/cmd/internal/config"
	"toolman/router/httpd/guard"
)

// What toolman token prints for tools.toml lets in who has the token that it prints.
func TestATokenThatIsPrintedLetsItsClientIn(t *testing.T) {
	for _, agent := range []string{"reviewer", `the "other" one`} {
		var printed, out bytes.Buffer
		cmd := newTokenCommand()
		cmd.SetOut(&printed)
		cmd.SetErr(&out)
		cmd.SetArgs([]string{agent})
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "tools.toml")
		token := strings.TrimSuffix(printed.String(), "\n") // as $(…) has it
		if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(path, config.Options{HTTP: true})
		if err != nil {
			t.Fatalf("%v in\n%s", err, out.String())
		}
		given := c.HTTP.Tokens[0]
		g, err := guard.New(guard.Options{Tokens: []guard.Token{{Agent: given.Agent, Hash: given.Hash}}, Agents: []string{agent}})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "http://localhost/mcp", nil)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		g.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if id, _ := guard.IdentityOf(r.Context()); id.Policy != agent || id.Agent != agent {
				t.Errorf("the identity is %+v", id)
			}
		})).ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("got %d %s for\n%s", w.Code, w.Body, out.String())
		}
	}
}

func TestWhatTheDocumentationSaysOfHTTPIsRead(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "authentication.md"))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```toml\n(\\[http\\].*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("the page has no [http]")
	}
	dir := t.TempDir()
	secret := filepath.Join(dir, "ci-token")
	text := bytes.Replace(block[1], []byte("/run/secrets/ci-token"), []byte(secret), 1)
	for path, content := range map[string][]byte{secret: []byte("a-token-of-twenty-characters"), filepath.Join(dir, "tools.toml"): text} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.Load(filepath.Join(dir, "tools.toml"), config.Options{HTTP: true, LookupEnv: func(string) (string, bool) { return "another-token-of-so-many", true }})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.HTTP.Tokens) != 3 || c.HTTP.JWT == nil || c.HTTP.TLSCert == "" {
		t.Errorf("got %+v", c.HTTP)
	}
}

func TestSchemaIsPrinted(t *testing.T) {
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if code := run(t.Context(), []string{"schema"}, nil, out, os.Stderr); code != cli.ExitOK {
		t.Fatalf("exit code %d", code)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(text, &schema); err != nil || schema.Properties["servers"] == nil {
		t.Errorf("%v, got %s", err, text)
	}
}
