package guard

import (
	"context"
	"net/netip"
	"time"

	"toolman/router/principal"
)

// An Identity is who makes a request, and what else is known of that client.
type Identity struct {
	principal.Principal
	Policy string     // the agent whose policy counts; "" for that of nobody
	Name   string     // for people: the agent, what the JWT says, or "anonymous"
	Addr   netip.Addr // of the client, as far as proxies are trusted to know it

	Expires time.Time // when the credential is good no more; zero: that is not known
	// Terms are equal as long as the settings are by which what makes the principal was judged and is
	// not looked at again: JWTs, and what proxies say.
	Terms string
}

// anonymous is the name of clients that need no credential.
const anonymous = "anonymous"

type identityKey struct{}

// WithIdentity returns a context that carries an identity.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf returns whose request it is; false for one that no guard has let in.
func IdentityOf(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}
