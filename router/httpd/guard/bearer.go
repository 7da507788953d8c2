package guard

import (
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
		return g.known(principal.Principal{Issuer: principal.Tokens, Subject: hex.EncodeToString(t.Hash[:6]), Agent: t.Agent}, t.Agent)
	}
	if g.jwt == nil || strings.Count(token, ".") != 2 {
		return Identity{}, invalidToken("the token is not known here")
	}
	c, err := g.jwt.verify(r.Context(), token)
	if err != nil {
		return Identity{}, err
	}
	return g.known(principal.Principal{Issuer: g.JWT.Issuer, Subject: c.subject, Agent: c.agent}, c.name())
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
