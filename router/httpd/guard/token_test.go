package guard

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"toolman/router/budget"
)

// withToken makes a token and what lets it in.
func withToken(agent string) (string, Token) {
	token, _ := NewToken()
	return token, Token{Agent: agent, Hash: sha256.Sum256([]byte(token))}
}

func TestATokenSaysWhoseRequestItIs(t *testing.T) {
	one, oneHash := withToken("reader")
	other, otherHash := withToken("reader")
	writer, writerHash := withToken("writer")
	addr := start(t, Options{Tokens: []Token{oneHash, otherHash, writerHash}, Agents: []string{"reader", "writer"}})
	url := "http://" + addr + "/mcp"
	ask := func(token string) Identity { return send(t, "POST", url, "Authorization", token).identity(t) }
	a, b, c := ask("Bearer "+one), ask("bearer  "+other), ask("BEARER "+writer)
	if a.Policy != "reader" || b.Policy != "reader" || c.Policy != "writer" || a.Name != "reader" {
		t.Errorf("got %+v, %+v, %+v", a, b, c)
	}
	if a.Principal == b.Principal || b.Principal == c.Principal || ask("Bearer "+one).Principal != a.Principal {
		t.Errorf("a principal is not that of a credential: %s, %s, %s", a.Principal, b.Principal, c.Principal)
	}
	if text := a.String(); strings.Contains(text, one) || strings.Contains(text, one[3:]) || a.Issuer != budget.Tokens || a.Agent != "reader" {
		t.Errorf("the principal is %s", text)
	}
	if a.Addr.String() != "127.0.0.1" {
		t.Errorf("the address is %s", a.Addr)
	}
}

func TestWithoutARightTokenNobodyComesIn(t *testing.T) {
	token, hash := withToken("reader")
	for _, tt := range []struct {
		name      string
		query     string
		headers   []string
		status    int
		challenge string
	}{
		{"nothing", "", nil, 401, `Bearer realm="toolman"`},
		{"another scheme", "", []string{"Authorization", "Basic dXNlcjpwYXNz"}, 401, `Bearer realm="toolman"`},
		{"another token", "", []string{"Authorization", "Bearer tm_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}, 401, `error="invalid_token"`},
		{"the hash itself", "", []string{"Authorization", "Bearer " + hex.EncodeToString(hash.Hash[:])}, 401, `error="invalid_token"`},
		{"the token and more", "", []string{"Authorization", "Bearer " + token + "A"}, 401, `error="invalid_token"`},
		{"less than the token", "", []string{"Authorization", "Bearer " + token[:len(token)-1]}, 401, `error="invalid_token"`},
		{"the token in other letters", "", []string{"Authorization", "Bearer " + strings.ToUpper(token)}, 401, `error="invalid_token"`},
		{"something like a JWT", "", []string{"Authorization", "Bearer a.b.c"}, 401, `error="invalid_token"`},
		{"no token", "", []string{"Authorization", "Bearer"}, 400, `error="invalid_request"`},
		{"two tokens", "", []string{"Authorization", "Bearer " + token + " " + token}, 400, `error="invalid_request"`},
		{"two headers, one of them right", "", []string{"Authorization", "Bearer " + token, "Authorization", "Bearer x"}, 400, `error="invalid_request"`},
		{"twice the right header", "", []string{"Authorization", "Bearer " + token, "Authorization", "Bearer " + token}, 400, `error="invalid_request"`},
		{"the token in the URL", "?access_token=" + token, nil, 400, `error="invalid_request"`},
		{"the token in the URL and the header", "?x&access%5Ftoken=" + token, []string{"Authorization", "Bearer " + token}, 400, `error="invalid_request"`},
		{"the token in a cookie", "", []string{"Cookie", "token=" + token}, 401, `Bearer realm="toolman"`},
		{"what a proxy would say", "", []string{"X-Forwarded-User", "reader", "Mcp-Client-Id", "reader"}, 401, `Bearer realm="toolman"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			addr := start(t, Options{Tokens: []Token{hash}})
			got := send(t, "POST", "http://"+addr+"/mcp"+tt.query, tt.headers...)
			if got.status != tt.status || !strings.Contains(got.header.Get("WWW-Authenticate"), tt.challenge) {
				t.Errorf("got %d %q %s", got.status, got.header.Get("WWW-Authenticate"), got.body)
			}
			if tt.challenge == `Bearer realm="toolman"` && got.header.Get("WWW-Authenticate") != tt.challenge {
				t.Errorf("who sent nothing is told of an error: %s", got.header.Get("WWW-Authenticate"))
			}
			// RFC 6750, 3: error_description is ASCII without quotes and backslashes.
			if strings.ContainsFunc(got.header.Get("WWW-Authenticate"), func(r rune) bool { return r < ' ' || r > '~' || r == '\\' }) {
				t.Errorf("the challenge is %q", got.header.Get("WWW-Authenticate"))
			}
			if strings.Contains(got.message(t)+got.header.Get("WWW-Authenticate"), token) {
				t.Errorf("the answer holds the token")
			}
		})
	}
}

func TestATokenOfAnAgentWithoutPolicyHasNoAccess(t *testing.T) {
	token, hash := withToken("gone")
	addr := start(t, Options{Tokens: []Token{hash}, Agents: []string{"reader"}, Agent: "reader"})
	got := send(t, "POST", "http://"+addr+"/mcp", "Authorization", "Bearer "+token)
	if got.status != 403 || !strings.Contains(got.message(t), "no policy") || got.header.Get("WWW-Authenticate") != "" {
		t.Errorf("got %+v", got)
	}
}

func TestWithoutPoliciesATokenIsJustAName(t *testing.T) {
	token, hash := withToken("ci")
	addr := start(t, Options{Tokens: []Token{hash}})
	if p := send(t, "POST", "http://"+addr+"/mcp", "Authorization", "Bearer "+token).identity(t); p.Policy != "" || p.Agent != "ci" || p.Name != "ci" {
		t.Errorf("got %+v", p)
	}
}

func TestWithoutTokensEverybodyIsOne(t *testing.T) {
	addr := start(t, Options{Agent: "reader"})
	for _, headers := range [][]string{nil, {"Authorization", "Bearer whatever"}, {"Mcp-Client-Id", "somebody"}} {
		if p := send(t, "POST", "http://"+addr+"/mcp", headers...).identity(t); p.Name != "anonymous" || p.Policy != "reader" || p.Principal != (budget.Principal{}) {
			t.Errorf("%v: got %+v", headers, p)
		}
	}
}

// Who guesses is soon told to wait. A right token from the same address is let in: it may be
// another's.
func TestGuessingTokens(t *testing.T) {
	token, hash := withToken("reader")
	addr := start(t, Options{Tokens: []Token{hash}})
	url := "http://" + addr + "/mcp"
	counts := map[int]int{}
	var last answer
	for i := range 3 * failureBurst {
		last = send(t, "POST", url, "Authorization", "Bearer guess"+strconv.Itoa(i))
		counts[last.status]++
	}
	if counts[401] < failureBurst || counts[429] < failureBurst || counts[401]+counts[429] != 3*failureBurst {
		t.Errorf("got %v", counts)
	}
	if last.status != 429 || last.header.Get("Retry-After") == "" || !last.closed || last.header.Get("WWW-Authenticate") != "" {
		t.Errorf("got %+v", last)
	}
	send(t, "POST", url, "Authorization", "Bearer "+token).identity(t)
	if got := send(t, "POST", url); got.status != 401 {
		t.Errorf("who has sent no token is not guessing: got %d", got.status)
	}
}

func TestNewTokens(t *testing.T) {
	token, hash := NewToken()
	secret, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(token, "tm_"))
	if err != nil || len(secret) != 32 || !strings.HasPrefix(token, "tm_") || !isCredential(token) {
		t.Errorf("got %s, %v", token, err)
	}
	if sum := sha256.Sum256([]byte(token)); hash != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("the hash is %s", hash)
	}
	if again, _ := NewToken(); again == token {
		t.Errorf("twice the same")
	}
}

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

// After a reload a principal has its identity again if the new settings let it in, on terms that
// are equal if these settings are.
func TestPrincipalsAfterAReload(t *testing.T) {
	alice, bob := Token{"alice", sha256.Sum256([]byte("a"))}, Token{"bob", sha256.Sum256([]byte("b"))}
	renewed := Token{"alice", sha256.Sum256([]byte("c"))}
	issuer := JWT{Issuer: "i", Audience: []string{"a"}, Algorithms: []string{"ES256"}, JWKS: "https://login.example.com/jwks"}
	narrower := issuer
	narrower.Scopes = []string{"mcp"}
	proxy := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	subject := budget.Principal{Issuer: "i", Subject: "s", Agent: "alice"}
	behind := alice.principal()
	behind.ClientID = "c"
	restricted := budget.Principal{Restricted: true, Toolsets: "a"}
	for _, tt := range []struct {
		name          string
		p             budget.Principal
		before, after Options
		in, same      bool
	}{
		{"the same", alice.principal(), Options{Tokens: []Token{alice}}, Options{Tokens: []Token{bob, alice}}, true, true},
		{"a token that is gone", alice.principal(), Options{Tokens: []Token{alice, bob}}, Options{Tokens: []Token{bob}}, false, true},
		{"another token of its agent", alice.principal(), Options{Tokens: []Token{alice}}, Options{Tokens: []Token{renewed}}, false, true},
		{"the token is another agent's", alice.principal(), Options{Tokens: []Token{alice}}, Options{Tokens: []Token{{"bob", alice.Hash}}}, false, true},
		{"its agent has no policy any more", alice.principal(), Options{Tokens: []Token{alice}, Agents: []string{"alice"}}, Options{Tokens: []Token{alice}, Agents: []string{"bob"}}, false, true},
		{"nobody", budget.Principal{}, Options{}, Options{}, true, true},
		{"nobody, where a credential is needed now", budget.Principal{}, Options{}, Options{Tokens: []Token{bob}}, false, true},
		{"a JWT", subject, Options{JWT: &issuer}, Options{JWT: &issuer, Tokens: []Token{bob}}, true, true},
		{"a JWT that may lack a scope now", subject, Options{JWT: &issuer}, Options{JWT: &narrower}, true, false},
		{"a JWT where there are none", subject, Options{JWT: &issuer}, Options{Tokens: []Token{bob}}, false, false},
		{"behind a proxy", behind, Options{Tokens: []Token{alice}, TrustedProxies: proxy}, Options{Tokens: []Token{alice}, TrustedProxies: proxy}, true, true},
		{"behind a proxy that is not trusted any more", behind, Options{Tokens: []Token{alice}, TrustedProxies: proxy}, Options{Tokens: []Token{alice}}, true, false},
		{"restricted by a proxy that is not trusted any more", restricted, Options{TrustedProxies: proxy}, Options{}, true, false},
		{"no proxy", alice.principal(), Options{Tokens: []Token{alice}, TrustedProxies: proxy}, Options{Tokens: []Token{alice}}, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g, err := New(tt.before)
			if err != nil {
				t.Fatal(err)
			}
			was, ok := g.Again(tt.p)
			if !ok || was.Principal != tt.p {
				t.Fatalf("at first it is %+v, %t", was, ok)
			}
			if g, err = New(tt.after); err != nil {
				t.Fatal(err)
			}
			is, ok := g.Again(tt.p)
			if ok != tt.in || ok && is.Principal != tt.p {
				t.Errorf("it is let in again: %t as %+v, want %t", ok, is.Principal, tt.in)
			}
			if same := is.Terms == was.Terms; same != tt.same {
				t.Errorf("the terms are equal: %t, want %t (%q, %q)", same, tt.same, was.Terms, is.Terms)
			}
		})
	}
}
