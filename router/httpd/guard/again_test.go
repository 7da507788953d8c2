package guard

import (
	"crypto/sha256"
	"net/netip"
	"testing"

	"toolman/router/budget"
)

// After a reload a principal has its identity again if the new settings let it in, on terms that are
// equal if these settings are.
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
