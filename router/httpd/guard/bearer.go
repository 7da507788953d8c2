package guard

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toolman/router/principal"
)

// A deniedError says why a credential does not let anybody in.
type deniedError struct {
	status int
	code   string // of RFC 6750, 3.1; "" for none
	text   string // for people; ASCII, without quotes
	counts bool   // towards the limit of failures
	retry  int    // seconds; 0 for none
}

func (e *deniedError) Error() string { return e.text }

func noCredential() error {
	return &deniedError{status: http.StatusUnauthorized, text: "a bearer token is needed: Authorization: Bearer TOKEN"}
}

func badRequest(text string) error {
	return &deniedError{status: http.StatusBadRequest, code: "invalid_request", text: text, counts: true}
}

func invalidToken(text string) error {
	return &deniedError{status: http.StatusUnauthorized, code: "invalid_token", text: text, counts: true}
}

// isCredential reports whether text is b64token, as bearer credentials are written (RFC 6750, 2.1).
func isCredential(text string) bool { return only(strings.TrimRight(text, "="), "-._~+/") }

// bearer is the token in a request's Authorization.
func bearer(h http.Header) (string, error) {
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
		return "", badRequest("the bearer token is not written as one")
	}
	return token, nil
}

// authenticate finds out whose credential a request has.
func (g *Guard) authenticate(r *http.Request) (Identity, error) {
	if !g.Authenticates() {
		return Identity{Name: anonymous, Policy: g.Agent}, nil
	}
	// 2026-07-28, authorization, Token Requirements: "Access tokens MUST NOT be included in the URI query string".
	if q, _ := url.ParseQuery(r.URL.RawQuery); q.Has("access_token") {
		return Identity{}, badRequest("a token does not belong into a URL: send it as Authorization: Bearer TOKEN")
	}
	token, err := bearer(r.Header)
	if err != nil {
		return Identity{}, err
	}
	if t, ok := g.find(token); ok {
		return g.known(t.principal(), t.Agent)
	}
	if g.jwt == nil || strings.Count(token, ".") != 2 {
		return Identity{}, invalidToken("the token is not known here")
	}
	c, err := g.jwt.verify(r.Context(), token)
	if err != nil {
		return Identity{}, err
	}
	id, err := g.known(principal.Principal{Issuer: g.JWT.Issuer, Subject: c.subject, Agent: c.agent}, c.name())
	id.Expires = c.expires
	return id, err
}

// Again returns the identity of a principal that some guard has let in before. False: its requests are
// not let in any more. What they would have to show for that is not looked at; Terms tell whether it
// counts for as much as before.
func (g *Guard) Again(p principal.Principal) (Identity, bool) {
	id, err := g.again(p)
	id.Principal, id.Terms = p, g.terms(&p)
	return id, err == nil
}

func (g *Guard) again(p principal.Principal) (Identity, error) {
	isIts := func(t Token) bool {
		is := t.principal()
		return is.Issuer == p.Issuer && is.Subject == p.Subject && is.Agent == p.Agent
	}
	switch {
	case !g.Authenticates() && p.Anonymous():
		return Identity{Name: anonymous, Policy: g.Agent}, nil
	case slices.ContainsFunc(g.Tokens, isIts), g.jwt != nil && p.Issuer == g.JWT.Issuer:
		return g.known(p, cmp.Or(p.Agent, p.Subject))
	}
	return Identity{}, noCredential()
}

// terms are the Terms of a principal.
func (g *Guard) terms(p *principal.Principal) (terms string) {
	if g.jwt != nil && p.Issuer == g.JWT.Issuer {
		terms = g.jwt.terms
	}
	if p.ClientID != "" || p.Restricted {
		terms += g.proxies
	}
	return terms
}

// principal is who has the token.
func (t *Token) principal() principal.Principal {
	return principal.Principal{Issuer: principal.Tokens, Subject: hex.EncodeToString(t.Hash[:6]), Agent: t.Agent}
}

// find looks for the token. It takes the same time for every token.
func (g *Guard) find(token string) (Token, bool) {
	hash := sha256.Sum256([]byte(token))
	at := -1
	for i := range g.Tokens {
		at = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(hash[:], g.Tokens[i].Hash[:]), i, at)
	}
	if at < 0 {
		return Token{}, false
	}
	return g.Tokens[at], true
}

// known is the identity of a principal whose credential is right. An agent without a policy has no access
// where there are policies.
func (g *Guard) known(p principal.Principal, name string) (Identity, error) {
	switch {
	case len(g.Agents) == 0:
		return Identity{Principal: p, Name: name, Policy: g.Agent}, nil
	case slices.Contains(g.Agents, p.Agent):
		return Identity{Principal: p, Name: name, Policy: p.Agent}, nil
	}
	return Identity{}, &deniedError{status: http.StatusForbidden, text: "the credential is good, but its agent has no policy here", counts: true}
}
