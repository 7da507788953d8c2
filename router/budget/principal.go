package budget

import (
	"net/url"
	"slices"
	"strings"
)

// A Principal identifies the sender of a request. Two requests have the same rights if their
// principals are equal and the configuration has not changed between them. The zero Principal is a
// client that needs no credential.
type Principal struct {
	Issuer  string // of the credential: of a JWT, or Tokens; "" without a credential
	Subject string // the sub of a JWT, or the start of a token's hash
	Agent   string // the agent that the credential names; "" for none

	ClientID string // mcp-client-id from a trusted proxy; "" for none
	// Restricted means that a trusted proxy has sent mcp-toolset-permissions. Toolsets are the
	// names in it, as Join writes them.
	Restricted bool
	Toolsets   string

	Path string // NAME of a request to /mcp/NAME, or of ?agent=NAME; "" without one
}

// Tokens is the issuer of the tokens in the configuration.
const Tokens = "tokens"

// Join returns names of toolsets in the form of Principal.Toolsets: sorted, each once.
func Join(toolsets []string) string {
	sorted := slices.Sorted(slices.Values(toolsets))
	return strings.Join(slices.Compact(sorted), ",")
}

// Permissions returns the toolsets that a restricted principal may use, never nil.
func (p *Principal) Permissions() []string {
	if p.Toolsets == "" {
		return []string{}
	}
	return strings.Split(p.Toolsets, ",")
}

// Client returns the principal without its path and permissions, which a client can vary from
// request to request. Limits apply to clients: another path must not give a client more.
func (p Principal) Client() Principal {
	return Principal{Issuer: p.Issuer, Subject: p.Subject, Agent: p.Agent, ClientID: p.ClientID}
}

// Owner identifies the client for data that outlive its credential, such as saved toolsets. It is
// the same for all tokens of an agent, and "" for the zero Principal, which is the operator. It is
// printable and has no slash.
func (p Principal) Owner() string {
	owner := p.Client()
	if owner == (Principal{}) {
		return ""
	}
	if owner.Issuer == Tokens {
		owner.Subject = ""
	}
	return strings.TrimRight(owner.String(), ":")
}

// Anonymous reports whether the request had no credential.
func (p *Principal) Anonymous() bool { return p.Issuer == "" }

// String returns a text that is different for each principal. It is printable and contains no
// secret.
func (p Principal) String() string {
	parts := []string{p.Issuer, p.Subject, p.Agent, p.ClientID, p.Path}
	if p.Restricted {
		parts = append(parts, "only", p.Toolsets)
	}
	for i, part := range parts {
		parts[i] = url.QueryEscape(part)
	}
	return strings.Join(parts, ":")
}
