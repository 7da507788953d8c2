package guard

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toolman/router/budget"
)

// NewToken returns a bearer token of 256 random bits, and its hash as tools.toml takes it. A plain
// SHA-256 is enough: nobody can try 2^256 tokens, so a slow hash would slow down nothing.
func NewToken() (token, hash string) {
	var secret [32]byte
	rand.Read(secret[:]) // never fails
	token = "tm_" + base64.RawURLEncoding.EncodeToString(secret[:])
	sum := sha256.Sum256([]byte(token))
	return token, "sha256:" + hex.EncodeToString(sum[:])
}

// isCredential reports whether text is b64token, the form of bearer credentials (RFC 6750, 2.1).
func isCredential(text string) bool { return only(strings.TrimRight(text, "="), "-._~+/") }

// bearer returns the token in the header Authorization.
func bearer(h http.Header) (string, *refusal) {
	all := h.Values("Authorization")
	switch len(all) {
	case 0:
		return "", noCredential()
	case 1:
	default:
		return "", badRequest("there is more than one Authorization header")
	}
	scheme, token, _ := strings.Cut(all[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", noCredential()
	}
	token = strings.Trim(token, " ")
	if !isCredential(token) {
		return "", badRequest("the bearer token is malformed")
	}
	return token, nil
}

// authenticate returns the identity that the credential of a request gives.
func (g *Guard) authenticate(r *http.Request) (Identity, *refusal) {
	if !g.Authenticates() {
		return Identity{Name: anonymous, Policy: g.Agent}, nil
	}
	// 2026-07-28, authorization, Token Requirements: "Access tokens MUST NOT be included in the URI
	// query string".
	if q, _ := url.ParseQuery(r.URL.RawQuery); q.Has("access_token") {
		return Identity{}, badRequest("send the token not in the URL but as Authorization: Bearer TOKEN")
	}
	token, why := bearer(r.Header)
	if why != nil {
		return Identity{}, why
	}
	if t := g.find(token); t != nil {
		return g.withPolicy(t.principal(), t.Agent)
	}
	if g.jwt == nil || strings.Count(token, ".") != 2 {
		return Identity{}, invalidToken("the token is not known here")
	}
	c, why := g.jwt.verify(r.Context(), token)
	if why != nil {
		return Identity{}, why
	}
	id, why := g.withPolicy(budget.Principal{Issuer: g.JWT.Issuer, Subject: c.subject, Agent: c.agent}, cmp.Or(c.agent, c.subject))
	id.Expires = c.expires
	return id, why
}

// Again returns the identity of a principal that an earlier guard has accepted; false if its
// requests are no longer accepted. It has no credential to check: Terms tell whether settings have
// changed that would matter for it.
func (g *Guard) Again(p budget.Principal) (Identity, bool) {
	id, why := g.again(p)
	id.Principal, id.Terms = p, g.terms(&p)
	return id, why == nil
}

func (g *Guard) again(p budget.Principal) (Identity, *refusal) {
	isIts := func(t Token) bool {
		is := t.principal()
		return is.Issuer == p.Issuer && is.Subject == p.Subject && is.Agent == p.Agent
	}
	switch {
	case !g.Authenticates() && p.Anonymous():
		return Identity{Name: anonymous, Policy: g.Agent}, nil
	case slices.ContainsFunc(g.Tokens, isIts), g.jwt != nil && p.Issuer == g.JWT.Issuer:
		return g.withPolicy(p, cmp.Or(p.Agent, p.Subject))
	}
	return Identity{}, noCredential()
}

// terms returns the Terms of a principal.
func (g *Guard) terms(p *budget.Principal) (terms string) {
	if g.jwt != nil && p.Issuer == g.JWT.Issuer {
		terms = g.jwt.terms
	}
	if p.ClientID != "" || p.Restricted {
		terms += g.proxies
	}
	return terms
}

// principal returns the principal of clients with the token.
func (t *Token) principal() budget.Principal {
	return budget.Principal{Issuer: budget.Tokens, Subject: hex.EncodeToString(t.Hash[:6]), Agent: t.Agent}
}

// find looks up a token, in constant time; nil: it is unknown.
func (g *Guard) find(token string) *Token {
	hash := sha256.Sum256([]byte(token))
	at := -1
	for i := range g.Tokens {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], g.Tokens[i].Hash[:]), i, at)
	}
	if at < 0 {
		return nil
	}
	return &g.Tokens[at]
}

// withPolicy returns the identity of a principal with a valid credential. If there are policies, an
// agent without one has no access.
func (g *Guard) withPolicy(p budget.Principal, name string) (Identity, *refusal) {
	switch {
	case len(g.Agents) == 0:
		return Identity{Principal: p, Name: name, Policy: g.Agent}, nil
	case slices.Contains(g.Agents, p.Agent):
		return Identity{Principal: p, Name: name, Policy: p.Agent}, nil
	}
	return Identity{}, &refusal{status: http.StatusForbidden, message: "the credential is valid, but its agent has no policy here", counts: true}
}

// challenge returns the header WWW-Authenticate of a refusal (RFC 6750, 3; RFC 9728, 5.1); "" for
// none.
func (g *Guard) challenge(r *http.Request, why *refusal) string {
	if why.status != http.StatusUnauthorized && why.code == "" {
		return ""
	}
	params := []string{`realm="toolman"`}
	add := func(name, value string) {
		if value != "" {
			params = append(params, name+`="`+value+`"`)
		}
	}
	if why.code != "" {
		add("error", why.code)
		add("error_description", why.message)
	}
	if g.jwt != nil {
		add("scope", strings.Join(g.JWT.Scopes, " "))
		add("resource_metadata", g.metadataURL(r))
	}
	return "Bearer " + strings.Join(params, ", ")
}

// MetadataPath is the path of [Guard.Metadata]. It is also served below this path, followed by the
// path of the endpoint.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Metadata serves the protected-resource metadata of RFC 9728; 404 if there is no JWT issuer.
func (g *Guard) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case g.jwt == nil:
			http.NotFound(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		doc := map[string]any{
			"resource":                 g.resource(r),
			"authorization_servers":    []string{g.JWT.Issuer},
			"bearer_methods_supported": []string{"header"},
			"resource_name":            "toolman",
		}
		if len(g.JWT.Scopes) > 0 {
			doc["scopes_supported"] = g.JWT.Scopes
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(w).Encode(doc) // fails only if the client has disconnected
	})
}

// resource returns the URL of the endpoint: the first audience that is one, or that of the request.
func (g *Guard) resource(r *http.Request) string {
	for _, audience := range g.JWT.Audience {
		if u, err := url.Parse(audience); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
			return audience
		}
	}
	return g.externalURL(r) + "/mcp"
}

// metadataURL returns the URL of the metadata: the path of the resource follows the well-known one
// (RFC 9728, 3.1). It is "" if a header cannot contain it.
func (g *Guard) metadataURL(r *http.Request) string {
	u, err := url.Parse(g.resource(r))
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host+u.Path, `"\ `) {
		return ""
	}
	return u.Scheme + "://" + u.Host + MetadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}
