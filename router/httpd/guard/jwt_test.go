package guard

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"toolman/router/budget"
)

// An issuer signs tokens and shows its keys.
type issuer struct {
	url  string
	keys atomic.Pointer[jose.JSONWebKeySet]
	asks atomic.Int32
}

func newIssuer(t *testing.T, keys ...jose.JSONWebKey) *issuer {
	i := &issuer{}
	i.show(keys...)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		i.asks.Add(1)
		json.NewEncoder(w).Encode(i.keys.Load())
	}))
	t.Cleanup(s.Close)
	i.url = s.URL
	return i
}

// show replaces the keys by the public halves of others.
func (i *issuer) show(keys ...jose.JSONWebKey) {
	set := &jose.JSONWebKeySet{}
	for _, k := range keys {
		set.Keys = append(set.Keys, k.Public())
	}
	i.keys.Store(set)
}

func ecKey(t *testing.T, kid string) jose.JSONWebKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: kid, Algorithm: "ES256", Use: "sig"}
}

func rsaKey(t *testing.T, kid string, bits int) jose.JSONWebKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: key, KeyID: kid}
}

// claims are good ones, with some changed; nil takes one out.
func claims(changed map[string]any) map[string]any {
	now := time.Now()
	c := map[string]any{"iss": "https://login.example.com", "aud": []string{"other", "https://mcp.example.com/mcp"}, "sub": "user-1",
		"exp": now.Add(time.Hour).Unix(), "iat": now.Unix(), "scope": "openid mcp", "agent": "reader"}
	maps.Copy(c, changed)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// signed is a token.
func signed(t *testing.T, alg string, key any, claims map[string]any, o *jose.SignerOptions) string {
	t.Helper()
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := s.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// startJWT serves for the tokens of an issuer.
func startJWT(t *testing.T, i *issuer, o Options) string {
	o.Agents = []string{"reader", "writer"}
	o.JWT = &JWT{Issuer: "https://login.example.com", Audience: []string{"https://mcp.example.com/mcp"}, Algorithms: []string{"ES256", "RS256"},
		JWKS: i.url, AgentClaim: "agent", Scopes: []string{"mcp"}}
	return "http://" + start(t, o) + "/mcp"
}

func TestATokenOfTheIssuerSaysWhoseRequestItIs(t *testing.T) {
	ec, rs := ecKey(t, "k1"), rsaKey(t, "k2", 2048)
	token, hash := withToken("writer")
	url := startJWT(t, newIssuer(t, ec, rs), Options{Tokens: []Token{hash}})
	ask := func(token string) Identity {
		return send(t, "POST", url, "Authorization", "Bearer "+token).identity(t)
	}
	a := ask(signed(t, "ES256", ec, claims(nil), nil))
	if a.Name != "reader" || a.Policy != "reader" || a.Principal != (budget.Principal{Issuer: "https://login.example.com", Subject: "user-1", Agent: "reader"}) {
		t.Errorf("got %+v", a)
	}
	renewed := ask(signed(t, "RS256", rs, claims(map[string]any{"jti": "2", "aud": "https://mcp.example.com/mcp", "scope": nil, "scp": []string{"mcp"}}), nil))
	if renewed.Principal != a.Principal {
		t.Errorf("a renewed token is another principal's: %s, %s", a.Principal, renewed.Principal)
	}
	if b := ask(signed(t, "ES256", ec, claims(map[string]any{"sub": "user-2"}), nil)); b.Principal == a.Principal {
		t.Errorf("another subject is the same principal")
	}
	if b := ask(signed(t, "ES256", ec, claims(map[string]any{"agent": "writer"}), nil)); b.Principal == a.Principal || b.Agent != "writer" || b.Policy != "writer" {
		t.Errorf("another agent of the subject is the same principal: %+v", b)
	}
	if b := ask(token); b.Policy != "writer" || b.Issuer != budget.Tokens {
		t.Errorf("besides JWTs tokens are let in: got %+v", b)
	}
}

func TestClaimsThatAreNotRight(t *testing.T) {
	ec := ecKey(t, "k1")
	url := startJWT(t, newIssuer(t, ec), Options{})
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	for _, tt := range []struct {
		name    string
		changed map[string]any
		status  int
		says    string
	}{
		{"right", nil, 200, ""},
		{"just expired", map[string]any{"exp": ago(30 * time.Second)}, 200, ""},
		{"expired", map[string]any{"exp": ago(2 * time.Minute)}, 401, "expired"},
		{"for ever", map[string]any{"exp": nil}, 401, "never expires"},
		{"not yet", map[string]any{"nbf": ago(-2 * time.Minute)}, 401, "not valid yet"},
		{"almost", map[string]any{"nbf": ago(-30 * time.Second)}, 200, ""},
		{"of the future", map[string]any{"iat": ago(-2 * time.Minute)}, 401, "not valid yet"},
		{"another issuer", map[string]any{"iss": "https://login.example.com/"}, 401, "another issuer"},
		{"no issuer", map[string]any{"iss": nil}, 401, "another issuer"},
		{"another audience", map[string]any{"aud": "https://other.example.com/mcp"}, 401, "not for this server"},
		{"a longer audience", map[string]any{"aud": "https://mcp.example.com/mcp/x"}, 401, "not for this server"},
		{"no audience", map[string]any{"aud": nil}, 401, "not for this server"},
		{"no subject", map[string]any{"sub": nil}, 401, "no subject"},
		{"a subject with control characters", map[string]any{"sub": "a\x1b[2J"}, 401, "no subject"},
		{"a scope too few", map[string]any{"scope": "openid mcpx"}, 403, "scope"},
		{"no scopes", map[string]any{"scope": nil}, 403, "scope"},
		{"an unknown agent", map[string]any{"agent": "boss"}, 403, "no policy"},
		{"no agent", map[string]any{"agent": nil}, 403, "no policy"},
		{"several agents", map[string]any{"agent": []string{"reader"}}, 403, "no policy"},
		{"an empty agent", map[string]any{"agent": ""}, 403, "no policy"},
		{"claims of the wrong kind", map[string]any{"exp": "soon"}, 401, "signature"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := send(t, "POST", url, "Authorization", "Bearer "+signed(t, "ES256", ec, claims(tt.changed), nil))
			if got.status != tt.status || !strings.Contains(got.body, tt.says) {
				t.Errorf("got %d %s, want %d and %s", got.status, got.body, tt.status, tt.says)
			}
			if challenge := got.header.Get("WWW-Authenticate"); tt.says == "scope" && !strings.Contains(challenge, `error="insufficient_scope"`) {
				t.Errorf("the challenge is %s", challenge)
			}
		})
	}
}

func TestSignaturesThatAreNotTheIssuers(t *testing.T) {
	ec, other, rs, weak := ecKey(t, "k1"), ecKey(t, "k1"), rsaKey(t, "k2", 2048), rsaKey(t, "k3", 1024)
	unnamed := ecKey(t, "")
	i := newIssuer(t, ec, rs, weak, unnamed)
	url := startJWT(t, i, Options{})
	der, err := x509.MarshalPKIXPublicKey(rs.Public().Key)
	if err != nil {
		t.Fatal(err)
	}
	good := strings.Split(signed(t, "ES256", ec, claims(nil), nil), ".")
	b64 := base64.RawURLEncoding.EncodeToString
	with := func(header string) string { return b64([]byte(header)) + "." + good[1] + "." + good[2] }
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	encKey := ecKey(t, "k4")
	encKey.Use = "enc"
	i.show(ec, rs, weak, encKey, jose.JSONWebKey{Key: ed, KeyID: "k5"})
	for name, token := range map[string]string{
		"no algorithm":                  b64([]byte(`{"alg":"none"}`)) + "." + good[1] + ".",
		"no algorithm, in capitals":     b64([]byte(`{"alg":"NONE","kid":"k1"}`)) + "." + good[1] + ".",
		"no header":                     b64([]byte(`{}`)) + "." + good[1] + "." + good[2],
		"no signature":                  good[0] + "." + good[1] + ".",
		"another's key, same kid":       signed(t, "ES256", other, claims(nil), nil),
		"another's key in the header":   signed(t, "ES256", other.Key, claims(nil), &jose.SignerOptions{EmbedJWK: true}),
		"the public key as a secret":    signed(t, "HS256", der, claims(nil), (&jose.SignerOptions{}).WithHeader("kid", "k2")),
		"an algorithm not allowed":      signed(t, "PS256", rs, claims(nil), nil),
		"EdDSA, not allowed":            signed(t, "EdDSA", jose.JSONWebKey{Key: ed, KeyID: "k5"}, claims(nil), nil),
		"a key that is too short":       signed(t, "RS256", weak, claims(nil), nil),
		"a key for encryption":          signed(t, "ES256", jose.JSONWebKey{Key: encKey.Key, KeyID: "k4"}, claims(nil), nil),
		"an unknown kid":                signed(t, "ES256", jose.JSONWebKey{Key: ec.Key, KeyID: "k9"}, claims(nil), nil),
		"the kid of another kind":       signed(t, "ES256", jose.JSONWebKey{Key: ec.Key, KeyID: "k2"}, claims(nil), nil),
		"claims changed":                good[0] + "." + b64([]byte(`{"sub":"admin"}`)) + "." + good[2],
		"another header":                with(`{"alg":"ES256","kid":"k1","x":1}`),
		"a critical extension":          signed(t, "ES256", ec, claims(nil), (&jose.SignerOptions{}).WithHeader("crit", []string{"x"}).WithHeader("x", true)),
		"a URL for keys in the header":  signed(t, "ES256", jose.JSONWebKey{Key: other.Key}, claims(nil), (&jose.SignerOptions{}).WithHeader("jku", "http://127.0.0.1:1/")),
		"four parts":                    strings.Join(good, ".") + ".x",
		"nothing in it":                 "..",
		"two algorithms":                with(`{"alg":"none","alg":"ES256","kid":"k1"}`),
		"letters that are no base64url": good[0] + "." + good[1] + "+/." + good[2],
	} {
		t.Run(name, func(t *testing.T) {
			got := send(t, "POST", startJWT(t, i, Options{}), "Authorization", "Bearer "+token)
			if got.status != 401 || !strings.Contains(got.header.Get("WWW-Authenticate"), `error="invalid_token"`) {
				t.Errorf("got %d %s", got.status, got.body)
			}
		})
	}
	if got := send(t, "POST", url, "Authorization", "Bearer "+strings.Join(good, ".")); got.status != 200 {
		t.Errorf("the good one: got %+v", got)
	}
	if got := send(t, "POST", url, "Authorization", "Bearer "+signed(t, "RS256", rs.Key, claims(nil), nil)); got.status != 200 {
		t.Errorf("a token that names no key, of one of them: got %+v", got)
	}
}

func TestAKeyIsUsedOnlyForItsAlgorithmAndByItsName(t *testing.T) {
	keys := []jose.JSONWebKey{{KeyID: "a", Algorithm: "RS256"}, {KeyID: "b"}, {Algorithm: "RS256"}}
	for _, tt := range []struct {
		kid, alg string
		want     int
	}{{"a", "RS256", 1}, {"a", "PS256", 0}, {"b", "PS256", 1}, {"c", "RS256", 0}, {"", "RS256", 3}, {"", "PS256", 1}} {
		if got := matching(keys, tt.kid, tt.alg); len(got) != tt.want {
			t.Errorf("%q, %s: got %v", tt.kid, tt.alg, got)
		}
	}
}

func TestOptionsThatNoJWTCanBeLookedAtWith(t *testing.T) {
	good := JWT{Issuer: "i", Audience: []string{"a"}, Algorithms: []string{"ES256"}, JWKS: "https://login.example.com/jwks"}
	for name, change := range map[string]func(*JWT){
		"none": func(j *JWT) { j.Algorithms = []string{"ES256", "none"} }, "a shared secret": func(j *JWT) { j.Algorithms = []string{"HS512"} },
		"no algorithm": func(j *JWT) { j.Algorithms = nil }, "no issuer": func(j *JWT) { j.Issuer = "" }, "no audience": func(j *JWT) { j.Audience = nil },
		"keys over http": func(j *JWT) { j.JWKS = "http://login.example.com/jwks" }, "keys in a file": func(j *JWT) { j.JWKS = "file:///keys" }, "no keys": func(j *JWT) { j.JWKS = "" },
	} {
		j := good
		change(&j)
		if _, err := New(Options{JWT: &j}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := New(Options{JWT: &good}); err != nil {
		t.Error(err)
	}
}
