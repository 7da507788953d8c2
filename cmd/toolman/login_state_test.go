package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolman/cmd/internal/logins"
)

// protected is a server that wants a login, and its authorization server, which takes the refresh
// token "old".
func protected(t *testing.T) (s *httptest.Server, refreshes *int) {
	refreshes = new(int)
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/token":
			if *refreshes++; r.FormValue("refresh_token") != "old-secret" || r.FormValue("resource") != "http://the.resource/" {
				t.Errorf("a token is asked for with %v", r.Form)
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"access_token":"very-secret","token_type":"Bearer","expires_in":3600}`)
		case r.Header.Get("Authorization") == "Bearer very-secret":
			aRemote(w, r)
		default:
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="http://127.0.0.1/x", scope="read"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	t.Cleanup(s.Close)
	return s, refreshes
}

func TestAServerThatWantsALoginGetsTheTokenOfTheFile(t *testing.T) {
	s, refreshes := protected(t)
	t.Setenv("TOOLMAN_LOGINS", filepath.Join(t.TempDir(), "logins"))
	config := remoteConfig(t, s.URL+"/mcp?key=query-secret", "")
	const calls = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"far_good","arguments":{}}}
`
	run := func(args ...string) string {
		cmd, stderr, _ := toolman(t, append(args, "--config", config)...)
		var out []byte
		if len(args) > 0 {
			out, _ = cmd.Output()
		} else {
			out, _ = converse(t, cmd, calls)
		}
		text := string(out) + stderr.String()
		if strings.Contains(text, "secret") {
			t.Errorf("a secret is shown:\n%s", text)
		}
		return text
	}
	const wanted = "server far needs a login, which a person makes: run toolman login far"
	if text := run(); !strings.Contains(text, wanted+"; nothing was carried out") || strings.Contains(text, `"called"`) {
		t.Errorf("without a login:\n%s", text)
	}
	if text := run("check"); !strings.Contains(text, wanted) {
		t.Errorf("without a login:\n%s", text)
	}
	folder, err := logins.Open()
	if err != nil {
		t.Fatal(err)
	}
	f := folder.File(logins.Key{URL: s.URL + "/mcp?key=query-secret", Account: "far"})
	err = f.Update(t.Context(), func(r *logins.Record) error {
		if r.Challenge == nil || strings.Join(r.Challenge.Scopes, " ") != "read" {
			t.Errorf("noted: %+v", r.Challenge)
		}
		now := time.Now()
		r.Issuer, r.Granted = "https://as.example", []string{"read"}
		r.TokenEndpoint, r.Client, r.Resource = s.URL+"/token", logins.Client{ID: "me", Method: "none"}, "http://the.resource/"
		r.AccessToken, r.RefreshToken, r.LoggedIn, r.Renewed, r.Expiry = "expired-secret", "old-secret", now.Add(-time.Hour), now.Add(-time.Hour), now.Add(-time.Minute)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if text := run(); !strings.Contains(text, `"id":2,"result":{"content":[{"type":"text","text":"called"}]}`) || strings.Contains(text, "toolman login") {
			t.Errorf("with a login:\n%s", text)
		}
	}
	if text := run("check"); !strings.Contains(text, "- server far: logged in at https://as.example (read), renewed by itself, since ") {
		t.Errorf("check with a login:\n%s", text)
	}
	if r, err := f.Load(); err != nil || r.AccessToken != "very-secret" || r.RefreshToken != "old-secret" || *refreshes != 1 {
		t.Errorf("after %d requests for a token the file has %+v, %v", *refreshes, r, err)
	}
	if info, err := os.Stat(f.Path()); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	t.Setenv("TOOLMAN_LOGINS", "relative")
	if text := run("check"); !strings.Contains(text, `TOOLMAN_LOGINS is "relative"`) {
		t.Errorf("with a folder that has no absolute path:\n%s", text)
	}
}
