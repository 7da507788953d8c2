package guard

import (
	"context"
	"net/netip"
	"net/url"
)

// A Principal is who makes a request.
type Principal struct {
	// ID is the same for all requests with one credential, and one mcp-client-id if a trusted proxy says one: what sessions
	// are bound to. It is printable and holds no secret.
	ID      string
	Agent   string // whose policy counts; "" for nobody's
	Claimed string // the agent that the credential is for, with a policy or without; "" for none
	Name    string // for people: the token's agent, what the JWT says, or "anonymous"

	ClientID string // mcp-client-id as a trusted proxy says it; "" for none
	// Restricted says that a trusted proxy has sent mcp-toolset-permissions, and Toolsets what is in it: nothing when it
	// is not understood.
	Restricted bool
	Toolsets   []string

	Addr netip.Addr // of the client, as far as proxies are trusted to know it
}

// anonymous is everybody where no credential is needed.
const anonymous = "anonymous"

type principalKey struct{}

// WithPrincipal returns a context that carries p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// PrincipalOf returns whose request it is; false for one that no guard has let in.
func PrincipalOf(ctx context.Context) (Principal, bool) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	return p, ok
}

// identity joins the parts of an ID such that no part can pretend to be two.
func identity(kind string, parts ...string) string {
	for _, part := range parts {
		kind += ":" + url.QueryEscape(part)
	}
	return kind
}
