package config

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A JWT says which JSON web tokens are let in.
type JWT struct {
	Issuer     string
	Audience   []string // one of them has to be in the token
	Algorithms []string
	JWKS       string   // jwks_url: https, or http to loopback
	AgentClaim string   // agent_claim: the claim that names the agent
	Scopes     []string // a token has to have all of them
}

// asymmetric are the algorithms that can be allowed. None and those with a shared secret are not among them: whoever
// can verify such a token can make one (RFC 8725, 3.1 and 3.2).
var asymmetric = []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}

// scopeForm is a scope-token of RFC 6749, 3.3.
var scopeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[!#-\[\]-~]+$`) })

// jwt decodes http.jwt.
func (d *decoder) jwt(http table) *JWT {
	if !http.has("jwt") {
		return nil
	}
	t := d.within(http, "jwt", "http.jwt", "issuer", "audience", "algorithms", "jwks_url", "agent_claim", "scopes")
	if _, isTable := http.values["jwt"].value.([]member); !isTable {
		return nil // which has been noted
	}
	j := &JWT{AgentClaim: "sub"}
	j.Issuer = t.required("issuer", `"https://login.example.com"`)
	j.Audience = t.oneOrMore("audience", `"https://mcp.example.com/mcp"`)
	j.Algorithms = t.algorithms()
	j.JWKS = t.required("jwks_url", `"https://login.example.com/jwks.json"`)
	t.note("jwks_url", form{"pattern": "^https?://"})
	if j.JWKS != "" && !safeURL(j.JWKS) {
		t.outside("jwks_url", "write an https URL; http is for localhost alone")
	}
	if claim, ok := t.text("agent_claim", `"sub"`); ok {
		j.AgentClaim = claim
		if claim == "" {
			t.outside("agent_claim", "name a claim, or leave it out for sub")
		}
	}
	t.note("agent_claim", form{"minLength": 1, "default": "sub"})
	j.Scopes = t.strings("scopes", `["mcp"]`, scopeForm, "write a scope's name, without spaces, quotes and backslashes")
	return j
}

// required reads a string that has to be there.
func (t table) required(key, example string) string {
	s, ok := t.text(key, example)
	t.need(key)
	t.note(key, form{"minLength": 1})
	switch {
	case !t.has(key):
		t.d.fail(t.line, "write "+t.d.write(key, example), "http.jwt has no %s", key)
	case ok && s == "":
		t.outside(key, "write "+t.d.write(key, example))
	}
	return s
}

// oneOrMore reads a string or an array of strings that has to be there.
func (t table) oneOrMore(key, example string) []string {
	elems, isArray := t.values[key].value.([]node)
	if !isArray {
		s := t.required(key, example)
		t.note(key, form{"type": []string{"string", "array"}, "minItems": 1, "items": form{"type": "string", "minLength": 1}})
		return []string{s}
	}
	var all []string
	for _, n := range elems {
		s, ok := n.value.(string)
		if !ok || s == "" {
			t.d.fail(n.line, "write "+t.d.write(key, "["+example+"]"), "%s holds %s where a string with something in it is expected", key, n.kind())
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		t.d.fail(t.values[key].line, "write "+t.d.write(key, example), "%s is empty", key)
	}
	return all
}

func (t table) algorithms() []string {
	t.note("algorithms", form{"type": "array", "items": form{"enum": asymmetric}, "minItems": 1, "default": []string{"RS256", "ES256"}})
	if !t.has("algorithms") {
		return []string{"RS256", "ES256"}
	}
	var all []string
	for _, n := range t.array("algorithms", `["RS256"]`) {
		alg, _ := n.value.(string)
		if !slices.Contains(asymmetric, alg) {
			t.d.fail(n.line, "the algorithms are "+strings.Join(asymmetric, ", "), "algorithms holds what cannot be allowed")
		}
		all = append(all, alg)
	}
	if elems, ok := t.values["algorithms"].value.([]node); ok && len(elems) == 0 {
		t.outside("algorithms", "write "+t.d.write("algorithms", `["RS256"]`)+", or leave it out")
	}
	return all
}

// safeURL reports whether nobody on the way can change what is fetched from a URL.
func safeURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}
