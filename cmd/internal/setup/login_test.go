package setup

import (
	"net/http"
	"testing"

	"toolman/cmd/internal/config"
	"toolman/cmd/internal/logins"
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
