package guard

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAChallengeLeadsToTheMetadata(t *testing.T) {
	for _, tt := range []struct{ name, audience, resource, url string }{
		{"the audience is a URL", "https://mcp.example.com/mcp", "https://mcp.example.com/mcp", "https://mcp.example.com/.well-known/oauth-protected-resource/mcp"},
		{"a URL without a path", "https://mcp.example.com", "https://mcp.example.com", "https://mcp.example.com/.well-known/oauth-protected-resource"},
		{"the audience is a name", "toolman", "http://ADDR/mcp", "http://ADDR/.well-known/oauth-protected-resource/mcp"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := start(t, Options{JWT: &JWT{Issuer: "https://login.example.com", Audience: []string{tt.audience}, Algorithms: []string{"ES256"},
				JWKS: "https://login.example.com/jwks", AgentClaim: "sub", Scopes: []string{"mcp", "more"}}})
			got := send(t, "POST", "http://"+addr+"/mcp")
			want := `Bearer realm="toolman", scope="mcp more", resource_metadata="` + strings.ReplaceAll(tt.url, "ADDR", addr) + `"`
			if challenge := got.header.Get("WWW-Authenticate"); got.status != 401 || challenge != want {
				t.Errorf("got %d %s\nwant %s", got.status, challenge, want)
			}
			for _, path := range []string{MetadataPath, MetadataPath + "/mcp"} {
				var doc struct {
					Resource string
					Servers  []string `json:"authorization_servers"`
					Methods  []string `json:"bearer_methods_supported"`
					Scopes   []string `json:"scopes_supported"`
				}
				got := send(t, "GET", "http://"+addr+path)
				if err := json.Unmarshal([]byte(got.body), &doc); err != nil || got.status != 200 || got.header.Get("Content-Type") != "application/json" {
					t.Fatalf("%s: got %+v", path, got)
				}
				if doc.Resource != strings.ReplaceAll(tt.resource, "ADDR", addr) || len(doc.Servers) != 1 || doc.Servers[0] != "https://login.example.com" || doc.Methods[0] != "header" || len(doc.Scopes) != 2 {
					t.Errorf("%s: got %+v", path, doc)
				}
			}
		})
	}
}

func TestWithoutAnIssuerThereAreNoMetadata(t *testing.T) {
	_, hash := withToken("a")
	addr := start(t, Options{Tokens: []Token{hash}})
	if got := send(t, "GET", "http://"+addr+MetadataPath+"/mcp"); got.status != 404 {
		t.Errorf("got %+v", got)
	}
	if got := send(t, "GET", "http://"+addr+MetadataPath, "Host", "evil.example"); got.status != 403 {
		t.Errorf("under another name: got %+v", got)
	}
}
