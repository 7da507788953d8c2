package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"

	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
	"toolman/mcpwire/sanitize"
)

// A Token assigns a bearer token to an agent. It holds the token's hash and never the token.
type Token struct {
	Agent string            // the key in http.tokens: one of agent_policies if the file has any, otherwise just a name
	Hash  [sha256.Size]byte // of the token
	Line  int
}

// A JWT says which JSON web tokens are accepted.
type JWT struct {
	Issuer     string
	Audience   []string // a token has to have one of them
	Algorithms []string
	JWKS       string   // jwks_url: https, or http to loopback
	AgentClaim string   // the claim that names the agent
	Scopes     []string // a token has to have all of them
}

// Permissions say which toolsets clients may use: they have these and nothing else, and cannot
// switch anything.
type Permissions struct {
	Header bool                // source = "header": mcp-toolset-permissions, which trusted proxies set
	Agents map[string][]string // source = "config": toolsets, by the agent of a credential
}

const leastToken = 20 // characters of a token that toolman token has not made

// tokens decodes http.tokens.
func (d *decoder) tokens(t table.Table, agents []string) []Token {
	var all []Token
	for _, m := range t.Members("tokens", "http.tokens", t.Instead("NAME", `"sha256:…"`)+" in it") {
		d.checkKnownAgent(m, "http.tokens", agents)
		values, several := m.Value.([]source.Node)
		if !several {
			values = []source.Node{m.Node}
		}
		for _, n := range values {
			if hash, ok := d.token(n, "http.tokens."+m.Key); ok {
				all = d.addToken(all, Token{Agent: m.Key, Hash: hash, Line: n.Line})
			}
		}
	}
	if d.options.Agent == "" || len(agents) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(t Token) bool { return t.Agent != d.options.Agent })
}

// addToken adds a token unless another agent has it.
func (d *decoder) addToken(all []Token, token Token) []Token {
	for _, other := range all {
		if other.Hash == token.Hash {
			d.Fail(token.Line, "run toolman token for another", "the token of %s is that of %s in line %d", sanitize.Line("http.tokens."+token.Agent), source.Shown(other.Agent), other.Line)
			return all
		}
	}
	return append(all, token)
}

// token returns the hash of a token. ok is false if there is none, or it is not read without
// [Options.HTTP].
func (d *decoder) token(n source.Node, key string) (hash [sha256.Size]byte, ok bool) {
	const hint = `run toolman token and write the hash it prints, "sha256:…"`
	text, isText := n.Value.(string)
	if !isText {
		d.Fail(n.Line, hint, "%s is %s where a string is expected", sanitize.Line(key), n.Kind())
		return hash, false
	}
	if !strings.Contains(text, "${") {
		if hash, ok = parseHash(text); !ok {
			d.Fail(n.Line, hint+", or ${VAR} for a variable that holds the token", "%s is neither a token's hash nor a reference to a token", sanitize.Line(key))
		}
		return hash, ok
	}
	if !d.options.HTTP {
		return hash, false
	}
	sc := reference.Scope{Resolver: d.Resolver, Line: n.Line, Key: key}
	before := d.Count()
	value := sc.Expand(text)
	d.Secret(value)
	if hash, ok := parseHash(value); ok {
		return hash, true
	}
	switch {
	case d.Count() > before: // which explains the value
	case len(value) < leastToken:
		sc.Fail("run toolman token to make one", "the token is too short")
	case !regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`).MatchString(value): // RFC 6750, 2.1
		sc.Fail("run toolman token to make one", "the token holds what no bearer token can: letters, digits and -._~+/ are left, and = at the end")
	default:
		return sha256.Sum256([]byte(value)), true
	}
	return hash, false
}

// parseHash parses what toolman token prints.
func parseHash(text string) (hash [sha256.Size]byte, ok bool) {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(digits) != 2*sha256.Size {
		return hash, false
	}
	_, err := hex.Decode(hash[:], []byte(digits))
	return hash, err == nil
}

// jwt decodes http.jwt.
func (d *decoder) jwt(http table.Table) *JWT {
	const path = "http.jwt"
	t, ok := http.Inner("jwt", path, "issuer", "audience", "algorithms", "jwks_url", "agent_claim", "scopes")
	if !ok {
		return nil
	}
	j := &JWT{
		Issuer:     t.Required("issuer", `"https://login.example.com"`, path),
		Audience:   audience(t, path),
		Algorithms: algorithms(t),
		JWKS:       t.Required("jwks_url", `"https://login.example.com/jwks.json"`, path),
		AgentClaim: cmp.Or(t.Filled("agent_claim", `"sub"`, "name a claim, or leave it out for sub"), "sub"),
		Scopes:     table.Texts(t.Strings("scopes", `["mcp"]`, table.Match("scopes", scopePattern, scopeHint))),
	}
	if j.JWKS != "" && !isSafeURL(j.JWKS) {
		t.Outside("jwks_url", httpsHint)
	}
	return j
}

// audience reads a string or an array of strings.
func audience(t table.Table, path string) []string {
	const key, example = "audience", `"https://mcp.example.com/mcp"`
	if _, isArray := t.At(key).Value.([]source.Node); !isArray {
		return []string{t.Required(key, example, path)}
	}
	return t.FilledStrings(key, key, "["+example+"]", table.Match(key, ".", "write the identifier of this server"))
}

// algorithms reads the allowed algorithms. None and algorithms with a shared secret cannot be
// allowed: whoever can verify such a token can make one (RFC 8725, 3.1 and 3.2).
func algorithms(t table.Table) []string {
	if !t.Has("algorithms") {
		return []string{"RS256", "ES256"}
	}
	asymmetric := []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
	return t.FilledStrings("algorithms", "algorithms", `["RS256"]`, table.OneOf("algorithms", asymmetric))
}

// permissions decodes http.permissions.
func (d *decoder) permissions(http table.Table, agents []string) *Permissions {
	t, ok := http.Inner("permissions", "http.permissions", "source", "agents")
	if !ok {
		return nil
	}
	p := &Permissions{Header: t.Choice("source", "config", "header") == "header", Agents: d.permitted(t, agents)}
	switch {
	case p.Header && t.Has("agents"):
		t.FailAt("agents", "take one of them out", "http.permissions has agents, and its source is the header")
	case p.Header && !http.Has("trusted_proxies"):
		t.FailAt("source", t.Instead("trusted_proxies", exampleProxies)+" in http with the addresses of what sets the header",
			"permissions from a header need trusted_proxies: toolman ignores mcp-toolset-permissions from other addresses")
	case !p.Header && !t.Has("agents"):
		t.Fail(t.Line, t.Instead("agents", `{ NAME = ["TOOLSET"] }`), "http.permissions has no agents")
	}
	if http.At("mode").Value == "dynamic" {
		http.FailAt("mode", "take mode out", "http.permissions fixes the tools of every client: mode cannot be dynamic")
	}
	return p
}

// permitted reads the toolsets of each agent.
func (d *decoder) permitted(t table.Table, agents []string) map[string][]string {
	known := func(at string) table.Check {
		return func(name string) (problem, hint string) {
			if slices.Contains(setNames(d.sets), name) {
				return "", ""
			}
			return at + " names the toolset " + source.Shown(name) + ", which is not in the file", notASet(d.sets, name, "")
		}
	}
	lists := d.listsOf(t, "agents", "http.permissions.agents", `["reading"]`, known, func(m source.Member) {
		d.checkKnownAgent(m, "http.permissions", agents)
	})
	all := map[string][]string{}
	for agent, l := range lists {
		all[agent] = append([]string{}, table.Texts(l.Entries)...)
	}
	if d.options.Agent != "" && len(agents) > 0 {
		all = map[string][]string{d.options.Agent: all[d.options.Agent]}
	}
	return all
}

// checkKnownAgent checks that a key is one of agents, if there are any. where is what has the key.
func (d *decoder) checkKnownAgent(m source.Member, where string, agents []string) {
	if len(agents) > 0 && !slices.Contains(agents, m.Key) {
		d.failUnknown(m.Line, where, "agent", m.Key, agents)
	}
}
