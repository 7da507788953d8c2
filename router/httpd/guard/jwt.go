package guard

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// A JWT says which JSON web tokens are accepted (RFC 9068, with any typ).
type JWT struct {
	Issuer     string
	Audience   []string // a token has one of them (2026-07-28, authorization, Token Handling)
	Algorithms []string // of signatures with a public key; none and shared secrets are refused
	JWKS       string   // URL of the issuer's keys: https, or http to loopback
	AgentClaim string   // the claim that names the agent
	Scopes     []string // a token has to have all of them
}

// clockSkew is how far the issuer's clock may be off.
const clockSkew = time.Minute

const expired = "the token has expired"

// A verifier verifies JSON web tokens.
type verifier struct {
	JWT
	algorithms []jose.SignatureAlgorithm
	keys       *keySet
	terms      string // Identity.Terms
}

func newVerifier(o JWT, warn func(string, error)) (*verifier, error) {
	v := &verifier{JWT: o, terms: digest(o)}
	for _, alg := range o.Algorithms {
		if alg == "" || alg == "none" || strings.HasPrefix(alg, "HS") {
			return nil, fmt.Errorf("the algorithm %q cannot be allowed: whoever could verify such a token could make one", alg)
		}
		v.algorithms = append(v.algorithms, jose.SignatureAlgorithm(alg))
	}
	if len(v.algorithms) == 0 || o.Issuer == "" || len(o.Audience) == 0 {
		return nil, errors.New("a JWT needs an issuer, an audience and an algorithm")
	}
	var err error
	v.keys, err = newKeySet(o.JWKS, warn)
	return v, err
}

// verified is what counts of a valid token.
type verified struct {
	subject, agent string
	expires        time.Time // including clockSkew
}

// verify returns the claims of a token that is valid in every respect. It may fetch keys while ctx
// lasts.
func (v *verifier) verify(ctx context.Context, token string) (verified, *refusal) {
	parsed, err := jwt.ParseSigned(token, v.algorithms)
	if err != nil || len(parsed.Headers) != 1 {
		return verified{}, invalidToken("the token is not a JWT with an allowed algorithm")
	}
	header := parsed.Headers[0]
	keys, err := v.keys.find(ctx, header.KeyID, header.Algorithm)
	if err != nil {
		return verified{}, &refusal{status: http.StatusServiceUnavailable, message: "the issuer's keys cannot be fetched", retry: int(keyInterval.Seconds())}
	}
	var std jwt.Claims
	var all map[string]any
	if !slices.ContainsFunc(keys, func(k jose.JSONWebKey) bool { return parsed.Claims(k.Key, &std, &all) == nil }) {
		return verified{}, invalidToken("the token's signature does not match a key of the issuer")
	}
	if why := v.check(std); why != nil {
		return verified{}, why
	}
	if !hasScopes(all, v.Scopes) {
		return verified{}, &refusal{status: http.StatusForbidden, code: "insufficient_scope", message: "the token lacks a scope"}
	}
	agent, _ := all[v.AgentClaim].(string)
	if !isName(agent) {
		agent = "" // no policy has such a name
	}
	return verified{std.Subject, agent, std.Expiry.Time().Add(clockSkew)}, nil
}

// check checks the registered claims.
func (v *verifier) check(c jwt.Claims) *refusal {
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: v.Issuer, AnyAudience: v.Audience, Time: time.Now()}, clockSkew)
	switch {
	case err == jwt.ErrExpired:
		return invalidToken(expired)
	case err == jwt.ErrInvalidIssuer:
		return invalidToken("the token is from another issuer")
	case err == jwt.ErrInvalidAudience:
		return invalidToken("the token is not for this server")
	case err != nil:
		return invalidToken("the token is not valid yet")
	case c.Expiry == nil:
		return invalidToken("the token never expires")
	case !isName(c.Subject):
		return invalidToken("the token has no subject that can be shown")
	}
	return nil
}

// isName reports whether a principal or an agent can have this name.
func isName(name string) bool {
	return name != "" && len(name) <= 256 && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// hasScopes reports whether a token has the wanted scopes. The claim scope is that of RFC 8693;
// some issuers use scp.
func hasScopes(all map[string]any, wanted []string) bool {
	var has []string
	for _, name := range []string{"scope", "scp"} {
		switch v := all[name].(type) {
		case string:
			has = append(has, strings.Fields(v)...)
		case []any:
			for _, one := range v {
				s, _ := one.(string)
				has = append(has, s)
			}
		}
	}
	return !slices.ContainsFunc(wanted, func(scope string) bool { return !slices.Contains(has, scope) })
}

// digest returns a text that differs for different settings.
func digest(settings any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", settings))
	return hex.EncodeToString(sum[:8])
}
