package config

import (
	"strings"
	"testing"

	"toolman/cmd/internal/config/source"
)

// remoteWith reads a server at a URL with further keys.
func remoteWith(t *testing.T, url, keys string) (*Remote, error) {
	t.Helper()
	text := "[[servers]]\nnamespace = \"x\"\nurl = \"" + url + "\"\n" + keys + "\n"
	c, err := LoadFrom(source.Source{Path: "tools.toml", Text: []byte(text), Format: "toml", Dir: t.TempDir()}, Options{LookupEnv: func(name string) (string, bool) { return "secret-of-" + name, true }})
	if err != nil {
		return nil, err
	}
	return c.Servers[0].Remote, nil
}

func TestKeysOfALogin(t *testing.T) {
	r, err := remoteWith(t, "https://mcp.example.com/mcp", `oauth = { client_id = "me", client_secret = "${SECRET}", issuer = "https://login.example.com/", redirect_uri = "http://localhost:3118/callback",
client_name = "Known Editor", resource = "", assume_pkce = true, account = "work", per_agent = true }`)
	if err != nil {
		t.Fatal(err)
	}
	o := r.OAuth
	if o.ClientSecret != "secret-of-SECRET" || o.Issuer != "https://login.example.com/" || o.RedirectURI != "http://localhost:3118/callback" || o.ClientName != "Known Editor" ||
		o.Resource == nil || *o.Resource != "" || !o.AssumePKCE || o.Account != "work" || !o.PerAgent {
		t.Errorf("got %+v", o)
	}
	for keys, why := range map[string]string{
		`oauth = { client_secret = "x" }`:                                                                      "client_secret needs client_id",
		`oauth = { token_url = "https://x.example/", client_id = "x" }`:                                        "no client_secret",
		`oauth = { issuer = "login.example.com" }`:                                                             "issuer is not a URL",
		`oauth = { issuer = "https://user@login.example.com" }`:                                                "issuer is not a URL",
		`oauth = { redirect_uri = "https://localhost/callback" }`:                                              "redirect_uri is not http on this machine",
		`oauth = { redirect_uri = "http://192.168.0.1/callback" }`:                                             "redirect_uri is not http on this machine",
		`oauth = { redirect_uri = "http://localhost.evil.test/callback" }`:                                     "redirect_uri is not http on this machine",
		`oauth = { redirect_uri = "http://127.0.0.1/callback?x" }`:                                             "redirect_uri is not http on this machine",
		`oauth = { token_file = "x", account = "work" }`:                                                       "account is for logins, and token_file is for servers without one",
		`oauth = { token_url = "https://x.example/", client_id = "x", client_secret = "x", per_agent = true }`: "per_agent is for logins, and token_url",
		`oauth = { resource = 1 }`:                                                                             "resource is",
		`oauth = { client_name = " " }`:                                                                        "client_name cannot be",
	} {
		if _, err := remoteWith(t, "https://mcp.example.com/mcp", keys); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %v", keys, err)
		}
	}
}

func TestWhichServersTakeALogin(t *testing.T) {
	for _, tt := range []struct {
		url, keys string
		want      bool
	}{
		{"https://mcp.example.com/mcp", "", true},
		{"https://mcp.example.com/mcp", `oauth = { client_id = "me" }`, true},
		{"https://mcp.example.com/mcp", `oauth = { scopes = ["read"] }`, true},
		{"https://mcp.example.com/mcp", `headers = { X-Key = "x" }`, true},
		{"https://mcp.example.com/mcp", `headers = { authorization = "Bearer x" }`, false},
		{"https://mcp.example.com/mcp", `headers = { Authorization = "Bearer ${session.KEY}" }` + "\n[http]\nsession_config_keys = [\"KEY\"]", false},
		{"https://mcp.example.com/mcp", `oauth = { token_url = "https://x.example/", client_id = "x", client_secret = "x" }`, false},
		{"https://mcp.example.com/mcp", `oauth = { token_file = "token" }`, false},
		{"https://me:secret@mcp.example.com/mcp", "", false},
	} {
		r, err := remoteWith(t, tt.url, tt.keys)
		if err != nil || r.TakesLogin() != tt.want {
			t.Errorf("%s %s: %v", tt.url, tt.keys, err)
		}
	}
}
