package guard

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"

	"golang.org/x/time/rate"

	"toolman/router/budget"
)

// Options say who may come in. The zero value lets in everybody who reaches a loopback address.
type Options struct {
	AllowedOrigins []string // as browsers write them: scheme://host, with the port if it is not the scheme's own
	AllowedHosts   []string // host, or host:port, besides localhost and the address itself

	Tokens []Token
	JWT    *JWT     // nil: none
	Agents []string // who has a policy; without any, everybody who is let in has what Agent has
	Agent  string   // the agent of who needs no credential; may be ""
	// Unauthenticated lets Listen listen beyond loopback without Tokens and JWT. Names count then only when AllowedHosts has them.
	Unauthenticated bool

	TrustedProxies  []netip.Prefix // whose headers about the client count
	RequireClientID bool           // refuse requests to /mcp without an mcp-client-id

	MaxBodyBytes   int64           // 0: 16 MiB
	MaxConnections int             // 0: 16384
	Budgets        *budget.Budgets // limit the connections of each client; nil: there is no such limit
	RateLimit      int             // requests a second for each principal; 0: none

	// Warn is told what does not concern a single request: keys that cannot be fetched, a certificate that cannot be
	// read again. It may be called from any goroutine; nil: nobody is.
	Warn func(what string, err error)
}

// A Token lets in who knows it.
type Token struct {
	Agent string            // its name, one of Options.Agents if there are any
	Hash  [sha256.Size]byte // SHA-256 of the token
}

// A Guard stands before handlers. It is safe for use by many goroutines.
type Guard struct {
	Options
	origins  map[string]bool
	hosts    map[string]bool
	jwt      *verifier // nil: none
	proxies  string    // Identity.Terms of what proxies say
	requests *meter    // by principal; nil: without limit
	failures *meter    // by address
}

const (
	defaultBodyBytes   = 16 << 20
	defaultConnections = 16384

	// Wrong credentials from one address are answered with 401 so often, and then with 429. A right one is let in all
	// the same: behind one address there may be many clients, and one of them with an old token locks nobody out. Guessing
	// is hopeless because tokens have 256 bits; this keeps it from being cheap.
	failureBurst = 20
	failureRate  = 1 // a second
	maxMetered   = 4096
)

// New makes a guard. It opens nothing; keys of a JWT issuer are fetched when they are needed.
func New(o Options) (*Guard, error) {
	if o.MaxBodyBytes == 0 {
		o.MaxBodyBytes = defaultBodyBytes
	}
	if o.MaxConnections == 0 {
		o.MaxConnections = defaultConnections
	}
	if o.Budgets == nil {
		o.Budgets = budget.New(budget.Limits{}, budget.Limits{})
	}
	if o.Warn == nil {
		o.Warn = func(string, error) {}
	}
	g := &Guard{Options: o, origins: map[string]bool{}, hosts: map[string]bool{}, proxies: digest(o.TrustedProxies), failures: newMeter(failureRate, failureBurst)}
	for _, origin := range o.AllowedOrigins {
		g.origins[normalOrigin(origin)] = true
	}
	for _, host := range o.AllowedHosts {
		g.hosts[host] = true
	}
	if o.RateLimit > 0 {
		g.requests = newMeter(rate.Limit(o.RateLimit), 2*o.RateLimit)
	}
	if o.JWT == nil {
		return g, nil
	}
	var err error
	g.jwt, err = newVerifier(*o.JWT, o.Warn)
	return g, err
}

// Authenticates reports whether a request needs a credential.
func (g *Guard) Authenticates() bool { return len(g.Tokens) > 0 || g.jwt != nil }

// A Refusing makes the body, JSON, that a request is refused with which would get this status.
type Refusing func(r *http.Request, status int, message string) []byte

// PathName is the wildcard for the NAME in a pattern such as /mcp/{name}. It is part of the principal of a request.
const PathName = "name"

// Protect is next behind everything that the guard does, but for Plain. Who is not let in gets a JSON-RPC error. A
// deadline of the request's context is the end of its credential, and the context's cause says so.
func (g *Guard) Protect(next http.Handler) http.Handler { return g.ProtectAs(rpcError, next) }

// ProtectAs is Protect for what is no JSON-RPC.
func (g *Guard) ProtectAs(refusing Refusing, next http.Handler) http.Handler {
	return g.open(refusing, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		why := crossSite(r)
		if why != nil {
			why.write(w, r, refusing)
			return
		}
		id, why := g.admit(r)
		if why != nil {
			why.write(w, r, refusing)
			return
		}
		ctx := WithIdentity(r.Context(), id)
		if !id.Expires.IsZero() { // the response must not go on for longer
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadlineCause(ctx, id.Expires, errExpired)
			defer cancel()
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	}))
}

// Open is next behind the checks of Host and Origin and the bounds of the body, for what strangers may see. Pages of
// other sites may link to that.
func (g *Guard) Open(next http.Handler) http.Handler { return g.open(rpcError, next) }

func (g *Guard) open(refusing Refusing, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		boundBody(w, r, g.MaxBodyBytes)
		done, why := g.door(w, r)
		switch {
		case why != nil:
			why.write(w, r, refusing)
		case !done:
			next.ServeHTTP(w, r)
		}
	})
}

// door looks at what comes before the credential. done: the request has been answered.
func (g *Guard) door(w http.ResponseWriter, r *http.Request) (done bool, why *refusal) {
	if g.host(r) == unknown {
		return false, refusedHost(r.Host)
	}
	origin, ok := g.origin(r)
	if !ok {
		return false, refusedOrigin(origin)
	}
	if done = cors(w, r, origin); !done && r.ContentLength > g.MaxBodyBytes {
		return false, tooLong(g.MaxBodyBytes)
	}
	return done, nil
}

// admit finds out whose request it is.
func (g *Guard) admit(r *http.Request) (Identity, *refusal) {
	id, err := g.authenticate(r)
	id.Addr = g.address(r)
	if err != nil {
		return id, g.refuse(r, id.Addr, err)
	}
	if problem := g.fromProxy(r, &id.Principal); problem != "" {
		return id, &refusal{status: http.StatusBadRequest, message: problem}
	}
	if err := claimConn(r, id.Principal); err != nil {
		return id, &refusal{status: http.StatusTooManyRequests, message: err.Error(), retry: budget.RetryAfter, hangUp: true}
	}
	id.Path = r.PathValue(PathName)
	id.Terms = g.terms(&id.Principal)
	if g.requests != nil && !g.requests.allow(id.Client().String()) {
		return id, &refusal{status: http.StatusTooManyRequests, message: "too many requests: wait a second", retry: 1}
	}
	return id, nil
}

// refuse is the answer to who has no right credential.
func (g *Guard) refuse(r *http.Request, from netip.Addr, err error) *refusal {
	denied, _ := errors.AsType[*deniedError](err)
	if denied == nil {
		denied = &deniedError{status: http.StatusInternalServerError, text: "the credential cannot be looked at"}
	}
	if denied.counts && !g.failures.allow(network(from)) {
		return &refusal{status: http.StatusTooManyRequests, message: "too many wrong credentials from this address", retry: 5, hangUp: true}
	}
	return &refusal{status: denied.status, message: denied.text, challenge: g.challenge(r, denied), retry: denied.retry}
}
