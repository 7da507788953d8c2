package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"net/netip"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"toolman/router/budget"
)

// everyHTTP is what the every-key files say of http, without lines.
func everyHTTP(dir string) HTTP {
	return HTTP{
		Listen: "0.0.0.0:80", Mode: "static",
		AllowedOrigins: []string{"https://app.example.com", "vscode-webview://a-b:8080"}, AllowedHosts: []string{"mcp.example.com", "[::1]:80"},
		Unauthenticated: true,
		TrustedProxies:  []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}, RequireClientID: true, BridgeActiveOnly: true, LogReaders: []string{"reader"}, MetricsReaders: []string{"reader"}, MetricsTools: []string{"fs_read*"},
		TLSCert: filepath.Join(dir, "server.pem"), TLSKey: filepath.Clean(filepath.VolumeName(dir) + "/keys/server.key"),
		MaxBodyBytes: 4096, MaxConnections: 10, MaxSessions: 20, SessionIdle: 5 * time.Minute, RateLimit: 30, SessionConfigKeys: []string{"API_KEY"}, StrictConfig: true,
		DrainNotice: 3 * time.Second, Drain: 20 * time.Second,
		Tokens: []Token{
			{Agent: "other one", Hash: sha256.Sum256([]byte("file-secret-that-is-long-enough"))},
			{Agent: "reader", Hash: [32]byte(bytes.Repeat([]byte{0xab}, 32))},
			{Agent: "reader", Hash: sha256.Sum256([]byte("token-secret-and-more-of-it"))},
		},
		Permissions: &Permissions{Agents: map[string][]string{"reader": {"reading", "a.b"}, "other one": {}}},
		Limits:      budget.Limits{budget.Bytes: 1 << 20, budget.Sessions: 1, budget.Streams: 2, budget.Calls: 3, budget.Processes: 4, budget.Connections: 5},
		JWT: &JWT{Issuer: "https://login.example.com", Audience: []string{"https://mcp.example.com/mcp", "mcp"}, Algorithms: []string{"EdDSA"},
			JWKS: "http://localhost:9/jwks", AgentClaim: "agent", Scopes: []string{"mcp", "tools:call"}},
	}
}

// inOrder sorts tokens by agent and takes out their lines.
func inOrder(tokens []Token) {
	for i := range tokens {
		tokens[i].Line = 0
	}
	slices.SortFunc(tokens, func(a, b Token) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), -bytes.Compare(a.Hash[:], b.Hash[:]))
	})
}

func TestHTTPWithoutATableIsSafe(t *testing.T) {
	c, err := parse("t.toml", "/t.toml", nil, testOptions())
	if err != nil {
		t.Fatal(err)
	}
	want := HTTP{Listen: "127.0.0.1:8900", Mode: "dynamic", MaxBodyBytes: 16 << 20, MaxConnections: 16384, MaxSessions: 10_000, SessionIdle: time.Hour, AccessLog: true, Drain: 10 * time.Second,
		Limits: budget.Limits{budget.Bytes: 64 << 20, budget.Sessions: 256, budget.Streams: 1024, budget.Calls: 1024, budget.Processes: 64, budget.Connections: 1024}}
	if !reflect.DeepEqual(c.HTTP, want) {
		t.Errorf("got  %+v\nwant %+v", c.HTTP, want)
	}
}

func TestTokensOfTheEnvironmentAreNeededOnlyForHTTP(t *testing.T) {
	text := []byte("[http.tokens]\na = '${NOT_SET}'\nb = 'sha256:" + strings.Repeat("ab", 32) + "'")
	o := testOptions()
	if _, err := parse("t.toml", "/t.toml", text, o); err == nil || !strings.Contains(err.Error(), "t.toml:2: http.tokens.a: the variable NOT_SET is not set") {
		t.Errorf("over HTTP: got %v", err)
	}
	o.HTTP = false
	c, err := parse("t.toml", "/t.toml", text, o)
	if err != nil || len(c.HTTP.Tokens) != 1 || c.HTTP.Tokens[0].Agent != "b" {
		t.Errorf("without HTTP: got %+v, %v", c, err)
	}
}

func TestForOneAgentTheTokensOfOthersAreLeftOut(t *testing.T) {
	o := testOptions()
	o.Agent = "other one"
	c, err := Load(filepath.Join(fixtures, "every-key.toml"), o)
	if err != nil || len(c.HTTP.Tokens) != 1 || c.HTTP.Tokens[0].Agent != "other one" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestATokenHasOneAgent(t *testing.T) {
	hash := "sha256:" + strings.Repeat("ab", 32)
	_, err := parse("t.toml", "/t.toml", []byte("[http.tokens]\na = '"+hash+"'\nb = ['"+hash+"']"), testOptions())
	if err == nil || !strings.HasPrefix(err.Error(), `t.toml:3: the token of http.tokens.b is that of "a" in line 2;`) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyJWKSThatNobodyOnTheWayCanChange(t *testing.T) {
	for url, want := range map[string]bool{
		"https://login.example.com/jwks": true, "http://127.0.0.1:80/jwks": true, "http://[::1]/": true, "http://localhost/": true,
		"http://login.example.com/": false, "http://127.0.0.1.example.com/": false, "http://localhost.example.com": false,
		"https://": false, "https://user:pass@host/": false, "file:///etc/keys": false, "ftp://localhost/": false, "": false, "%": false, "//localhost/": false,
	} {
		if got := isSafeURL(url); got != want {
			t.Errorf("%s: got %v, want %v", url, got, want)
		}
	}
}
