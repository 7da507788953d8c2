package setup

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/logins"
	"toolman/jsonrpc/trace/redact"
	"toolman/router/dial"
)

func TestLoginKeyAndCommand(t *testing.T) {
	const url = "https://mcp.example/mcp"
	for _, tt := range []struct {
		name    string
		server  config.Server
		agent   string
		want    logins.Key
		command string
	}{
		{"of a server", config.Server{Name: "far", Remote: &config.Remote{URL: url}}, "a", logins.Key{URL: url, Account: "far"}, "toolman login far"},
		{"with an account", config.Server{Name: "far", Remote: &config.Remote{URL: url, OAuth: &config.OAuth{Account: "work"}}}, "a", logins.Key{URL: url, Account: "work"}, "toolman login far"},
		{"of each agent", config.Server{Name: "far", Remote: &config.Remote{URL: url, OAuth: &config.OAuth{PerAgent: true}}}, "a", logins.Key{URL: url, Account: "far", Agent: "a"}, "toolman login far --agent a"},
		{"without a name", config.Server{Remote: &config.Remote{URL: "https://MCP.example/mcp"}}, "", logins.Key{URL: "https://MCP.example/mcp"}, "toolman login " + url},
	} {
		if got := LoginKey(&tt.server, tt.agent); got != tt.want {
			t.Errorf("%s: %+v", tt.name, got)
		}
		if got := LoginCommand(&tt.server, tt.agent); got != tt.command {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

// Two accounts may see different tools.
func TestAnotherAccountIsAnotherServerInTheCatalogCache(t *testing.T) {
	of := func(account string) string {
		return identity(&config.Server{Remote: &config.Remote{URL: "https://mcp.example/mcp", OAuth: &config.OAuth{Account: account}}})
	}
	none, work, again := of(""), of("work"), of("work")
	if none == work || work != again {
		t.Errorf("got %s without an account, and %s and %s with one", none, work, again)
	}
}

// The first list must not wait for a new version to start: what differs is announced.
func TestANewVersionOfAProgramIsTheSameServerInTheCatalogCache(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "server.js")
	of := func(version string) string {
		if err := os.WriteFile(path, []byte(version), 0o700); err != nil {
			t.Fatal(err)
		}
		return identity(&config.Server{Argv: []string{"node", path}, Dir: dir})
	}
	if one, two := of("one"), of("two, which is longer"); one != two {
		t.Errorf("got %s, and then %s", one, two)
	}
}

func TestOneLoginForAllConnectionsOfAServer(t *testing.T) {
	t.Setenv("TOOLMAN_LOGINS", t.TempDir())
	for _, tt := range []struct {
		name string
		r    config.Remote
		want bool
	}{
		{"a url", config.Remote{}, true},
		{"a client for logins", config.Remote{OAuth: &config.OAuth{ClientID: "me", Issuer: "https://as.example"}}, true},
		{"a token of its own", config.Remote{Header: http.Header{"Authorization": {"Bearer x"}}}, false},
		{"a token file", config.Remote{OAuth: &config.OAuth{TokenFile: "/x"}}, false},
		{"client credentials", config.Remote{OAuth: &config.OAuth{TokenURL: "https://as.example/token"}}, false},
	} {
		tt.r.URL = "https://mcp.example/mcp"
		s := newServer(config.Server{Name: "far", Remote: &tt.r}, "", "tools.toml", nil, &tokens{})
		if (s.Login != nil) != tt.want || s.Unusable != "" {
			t.Errorf("%s: %+v, %s", tt.name, s.Login, s.Unusable)
		}
	}
}

func TestResourceIsTheServerUnlessOneIsConfigured(t *testing.T) {
	var got string
	as := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		got = fmt.Sprint(r.Form["resource"])
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"a","token_type":"Bearer"}`)
	}))
	defer as.Close()
	own, none := "https://other.example", ""
	for _, file := range []bool{false, true} {
		for want, resource := range map[string]*string{"[https://mcp.example/mcp]": nil, "[https://other.example]": &own, "[]": &none} {
			o := &config.OAuth{TokenURL: as.URL, ClientID: "me", ClientSecret: "s", Resource: resource}
			if file {
				o.TokenFile = filepath.Join(t.TempDir(), "token")
				if err := os.WriteFile(o.TokenFile, []byte(`{"access_token":"old","refresh_token":"r","expires_at":1000}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			c, err := credentialOf(&config.Remote{URL: "https://mcp.example/mcp?key=secret", OAuth: o}, &tokens{secrets: redact.NewScrubber(nil)})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Authorize(t.Context(), http.Header{}); err != nil || got != want {
				t.Errorf("asked for %s and not %s, %v", got, want, err)
			}
			if left, _ := filepath.Glob(o.TokenFile + ".*"); file && left != nil {
				t.Errorf("left: %s", left)
			}
		}
	}
}

// stoppable is a connection that ends at once.
type stoppable struct{ dial.Conn }

func (stoppable) Stop() {}

func TestAConnectionDoesNotEndWhileItsTokenIsRenewed(t *testing.T) {
	t.Setenv("TOOLMAN_LOGINS", filepath.Join(t.TempDir(), "logins"))
	asked, release := make(chan bool), make(chan bool)
	as := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-release
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"new","refresh_token":"next","token_type":"Bearer"}`)
	}))
	defer as.Close()
	s := &config.Server{Name: "far", Remote: &config.Remote{URL: "http://127.0.0.1/mcp"}}
	folder, err := logins.Open()
	if err != nil {
		t.Fatal(err)
	}
	f := folder.File(LoginKey(s, ""))
	err = f.Update(t.Context(), func(r *logins.Record) error {
		r.TokenEndpoint, r.AccessToken, r.RefreshToken, r.Expiry = as.URL, "old", "refresh", time.Now().Add(-time.Hour)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLogin(s, "", &tokens{secrets: redact.NewScrubber(nil)})
	if err != nil {
		t.Fatal(err)
	}
	l.settle = time.Minute // or a busy machine might not wait for the end of the renewal
	go l.Authorize(t.Context(), http.Header{})
	<-asked
	stopped := make(chan bool)
	go func() {
		(&loginConn{stoppable{}, l}).Stop()
		close(stopped)
	}()
	select {
	case <-stopped:
		t.Error("it does not wait")
	case <-time.After(50 * time.Millisecond):
	}
	close(release)
	<-stopped
	if r, err := f.Load(); err != nil || r.AccessToken != "new" {
		t.Errorf("the file has %+v, %v", r, err)
	}
}
