package config

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolman/mcpwire/sanitize"
)

// A Token is who a bearer token stands for. It holds the token's hash and never the token.
type Token struct {
	Agent string            // the key in http.tokens: one of agent_policies if the file has any, otherwise just a name
	Hash  [sha256.Size]byte // of the token
	Line  int
}

// leastToken is how long a token that somebody thought of has to be. Those of toolman token are longer.
const leastToken = 20

// tokenForm is how bearer tokens are written (RFC 6750, 2.1).
var tokenForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`) })

// tokens decodes http.tokens.
func (d *decoder) tokens(t table, agents []string) []Token {
	var all []Token
	members := d.members(t, "tokens", "http.tokens", `"sha256:…"`)
	one := form{"type": "string", "pattern": `^sha256:[0-9A-Fa-f]{64}$|\$\{`}
	t.note("tokens", mapForm(form{"anyOf": []any{one, listForm(one)}}))
	for _, m := range members {
		if len(agents) > 0 && !slices.Contains(agents, m.key) {
			d.fail(m.line, agentInstead(m.key, agents), "http.tokens names the agent %s, which is not in agent_policies", shown(m.key))
		}
		values, several := m.value.([]node)
		if !several {
			values = []node{m.node}
		}
		for _, n := range values {
			if hash, ok := d.token(n, "http.tokens."+m.key); ok {
				all = d.addToken(all, Token{Agent: m.key, Hash: hash, Line: n.line})
			}
		}
	}
	return d.forAgent(all, agents)
}

// forAgent leaves out the tokens of others where the configuration is for one agent, as their policies are left out.
func (d *decoder) forAgent(all []Token, agents []string) []Token {
	if d.Agent == "" || len(agents) == 0 {
		return all
	}
	return slices.DeleteFunc(all, func(t Token) bool { return t.Agent != d.Agent })
}

// addToken adds a token unless somebody else has it.
func (d *decoder) addToken(all []Token, token Token) []Token {
	for _, other := range all {
		if other.Hash == token.Hash {
			d.fail(token.Line, "run toolman token for another", "the token of %s is that of %s in line %d", sanitize.Line("http.tokens."+token.Agent), shown(other.Agent), other.Line)
			return all
		}
	}
	return append(all, token)
}

// token is the hash of what n says; false where there is none or it is not to be known yet.
func (d *decoder) token(n node, key string) (hash [sha256.Size]byte, ok bool) {
	hint := `run toolman token and write the hash it prints, "sha256:…"`
	text, isText := n.value.(string)
	if !isText {
		d.fail(n.line, hint, "%s is %s where a string is expected", sanitize.Line(key), n.kind())
		return hash, false
	}
	if !strings.Contains(text, "${") {
		if hash, ok = parseHash(text); !ok {
			d.fail(n.line, hint+", or ${VAR} for a variable that holds the token", "%s is neither a token's hash nor a reference to a token", sanitize.Line(key))
		}
		return hash, ok
	}
	if !d.HTTP {
		return hash, false
	}
	sc := scope{d: d, line: n.line, key: key}
	before := len(d.problems)
	value := sc.expand(text)
	d.secret(value)
	if hash, ok := parseHash(value); ok {
		return hash, true
	}
	switch {
	case len(value) < leastToken:
		sc.nothing(before, "run toolman token for one that nobody guesses", "the token is too short")
	case !tokenForm().MatchString(value):
		sc.fail("run toolman token for one that can be sent", "the token holds what no bearer token can: letters, digits and -._~+/ are left, and = at the end")
	default:
		return sha256.Sum256([]byte(value)), true
	}
	return hash, false
}

// parseHash reads what toolman token prints.
func parseHash(text string) (hash [sha256.Size]byte, ok bool) {
	digits, ok := strings.CutPrefix(text, "sha256:")
	if !ok || len(digits) != 2*sha256.Size {
		return hash, false
	}
	_, err := hex.Decode(hash[:], []byte(digits))
	return hash, err == nil
}
