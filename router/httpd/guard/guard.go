package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"toolman/mcpwire/sanitize"
	"toolman/router/budget"
)

// Options configure authentication and the other checks. The zero value accepts all requests to a
// loopback address.
type Options struct {
	AllowedOrigins []string // as browsers write them: scheme://host, with the port if it is not the default
	AllowedHosts   []string // host, or host:port, besides localhost and the address itself

	Tokens []Token
	JWT    *JWT     // nil: none
	Agents []string // those that have a policy; if there are none, all clients have that of Agent
	Agent  string   // the agent of clients that need no credential; may be ""
	// Unauthenticated lets Listen listen beyond loopback without Tokens and JWT. Host names then
	// count only if AllowedHosts has them.
	Unauthenticated bool

	TrustedProxies  []netip.Prefix // whose headers about the client count
	RequireClientID bool           // refuse requests to /mcp without an mcp-client-id

	MaxBodyBytes   int64           // 0: 16 MiB
	MaxConnections int             // 0: 16384
	Budgets        *budget.Budgets // limit the connections of each client; nil: no limits
	RateLimit      int             // requests a second of each principal; 0: no limit
	// Within counts a request of a principal against RateLimit, with those that others have let in.
	// It reports whether the request is within the limit. If it is nil, the guard counts alone.
	Within func(principal string) bool

	// Warn is called with problems that concern no single request: keys that cannot be fetched, or
	// a certificate that cannot be read. It may be called from any goroutine, and may be nil.
	Warn func(what string, err error)
}

// A Token is a bearer token.
type Token struct {
	Agent string            // its name, one of Options.Agents if there are any
	Hash  [sha256.Size]byte // SHA-256 of the token
}

// A Guard checks requests. It is safe for use by many goroutines.
type Guard struct {
	Options
	jwt      *verifier    // nil: none
	proxies  string       // the part of Identity.Terms for headers of proxies
	failures *rateLimiter // by address
}

const (
	// Wrong credentials from one address get 401 up to this limit, and 429 then. A valid credential
	// is accepted all the same: there may be many clients behind one address, and one with an old
	// token must not lock out the others. Tokens have 256 bits, so guessing is hopeless; the limit
	// keeps it from being cheap.
	failureBurst = 20
	failureRate  = 1 // a second
)

// New makes a guard. It opens nothing. The keys of a JWT issuer are fetched when they are needed.
func New(o Options) (*Guard, error) {
	o.MaxBodyBytes = cmp.Or(o.MaxBodyBytes, 16<<20)
	o.MaxConnections = cmp.Or(o.MaxConnections, 16384)
	if o.Budgets == nil {
		o.Budgets = budget.New(budget.Limits{}, budget.Limits{})
	}
	if o.Warn == nil {
		o.Warn = func(string, error) {}
	}
	g := &Guard{Options: o, proxies: digest(o.TrustedProxies), failures: newRateLimiter(failureRate, failureBurst)}
	if o.RateLimit > 0 && o.Within == nil {
		g.Within = newRateLimiter(rate.Limit(o.RateLimit), 2*o.RateLimit).allow
	}
	if o.JWT == nil {
		return g, nil
	}
	var err error
	g.jwt, err = newVerifier(*o.JWT, o.Warn)
	return g, err
}

// Authenticates reports whether requests need a credential.
func (g *Guard) Authenticates() bool { return len(g.Tokens) > 0 || g.jwt != nil }

// A RefusalBody returns the body, JSON, of the response that refuses a request with this status.
type RefusalBody func(r *http.Request, status int, message string) []byte

// PathName is the wildcard for the NAME in a pattern such as /mcp/{name}. It is part of the
// principal of a request.
const PathName = "name"

// Protect returns next behind all checks except Plain. A refused request gets a JSON-RPC error. If
// the credential of a request expires, its context has a deadline, and a cause that says so.
func (g *Guard) Protect(next http.Handler) http.Handler { return g.ProtectAs(RPCError, next) }

// ProtectAs is Protect for an API that is not JSON-RPC.
func (g *Guard) ProtectAs(body RefusalBody, next http.Handler) http.Handler {
	return g.open(body, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		why := crossSite(r)
		var id Identity
		if why == nil {
			id, why = g.admit(r)
		}
		if why != nil {
			why.write(w, r, body)
			return
		}
		ServeAs(id, next, w, r)
	}))
}

// ServeAs serves a request of a client with this identity. If its credential expires, the context
// of the request has a deadline then.
func ServeAs(id Identity, next http.Handler, w http.ResponseWriter, r *http.Request) {
	ctx := WithIdentity(r.Context(), id)
	if !id.Expires.IsZero() { // the response must not continue for longer
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, id.Expires, invalidToken(expired))
		defer cancel()
	}
	next.ServeHTTP(w, r.WithContext(ctx))
}

// Open returns next behind the checks of host, origin and body, for what unauthenticated clients
// may see. Pages of other sites may link to it.
func (g *Guard) Open(next http.Handler) http.Handler { return g.open(RPCError, next) }

func (g *Guard) open(body RefusalBody, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limitBody(w, r, g.MaxBodyBytes)
		answered, why := g.precheck(w, r)
		switch {
		case why != nil:
			why.write(w, r, body)
		case !answered:
			next.ServeHTTP(w, r)
		}
	})
}

// precheck makes the checks before authentication. It may answer the request.
func (g *Guard) precheck(w http.ResponseWriter, r *http.Request) (answered bool, why *refusal) {
	if g.host(r) == unknownHost {
		return false, forbidden("the host %s is not known here: if it is right, write it into allowed_hosts in [http]", r.Host)
	}
	origin, ok := g.origin(r)
	if !ok {
		return false, forbidden("pages of %s may not use this server: to let them, write it into allowed_origins in [http]", origin)
	}
	if answered = cors(w, r, origin); !answered && r.ContentLength > g.MaxBodyBytes {
		return false, &refusal{status: http.StatusRequestEntityTooLarge, hangUp: true,
			message: fmt.Sprintf("the request is longer than %d bytes (max_body_bytes in [http])", g.MaxBodyBytes)}
	}
	return answered, nil
}

// admit makes the checks from authentication on, and returns the identity of the client.
func (g *Guard) admit(r *http.Request) (Identity, *refusal) {
	id, why := g.authenticate(r)
	id.Addr = g.address(r)
	if why != nil {
		if why.counts && !g.failures.allow(network(id.Addr)) {
			return id, &refusal{status: http.StatusTooManyRequests, message: "too many wrong credentials from this address", retry: 5, hangUp: true}
		}
		why.challenge = g.challenge(r, why)
		return id, why
	}
	if problem := g.fromProxy(r, &id.Principal); problem != "" {
		return id, &refusal{status: http.StatusBadRequest, message: problem}
	}
	if err := claimConn(r, id.Principal); err != nil {
		return id, &refusal{status: http.StatusTooManyRequests, message: err.Error(), retry: budget.RetryAfter, hangUp: true}
	}
	id.Path = r.PathValue(PathName)
	id.Terms = g.terms(&id.Principal)
	if g.RateLimit > 0 && !g.Within(id.Client().String()) {
		return id, &refusal{status: http.StatusTooManyRequests, message: "too many requests: wait a second", retry: 1}
	}
	return id, nil
}

// An Identity says which client sends a request.
type Identity struct {
	budget.Principal
	Policy string     // the agent whose policy applies; "" for the default one
	Name   string     // for people: the agent, the subject of a JWT, or "anonymous"
	Addr   netip.Addr // of the client, as far as proxies are trusted to tell it

	Expires time.Time // when the credential expires; zero if it does not
	// Terms identify the settings for parts of the principal that are not checked again later:
	// JWTs, and headers of proxies. If the settings change, so do the Terms.
	Terms string
}

// anonymous is the name of clients that need no credential.
const anonymous = "anonymous"

type identityKey struct{}

// WithIdentity returns a context with an identity.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf returns the identity in a request's context; false if the request has not passed
// Protect.
func IdentityOf(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// maxLimited is how many keys a rateLimiter remembers at least. It is at most twice as many.
const maxLimited = 4096

// A rateLimiter limits the rate of events for each key.
type rateLimiter struct {
	limit rate.Limit
	burst int

	// guarded by mu
	mu       sync.Mutex
	now, old map[string]*rate.Limiter // keys that were seen recently, and before that
}

func newRateLimiter(limit rate.Limit, burst int) *rateLimiter {
	return &rateLimiter{limit: limit, burst: burst, now: map[string]*rate.Limiter{}}
}

// allow reports whether an event is within the limit of a key, and counts it if so.
func (l *rateLimiter) allow(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.now[key]
	if one == nil {
		if one = l.old[key]; one == nil {
			one = rate.NewLimiter(l.limit, l.burst)
		}
		if len(l.now) >= maxLimited {
			l.now, l.old = map[string]*rate.Limiter{}, l.now
		}
		l.now[key] = one
	}
	return one.Allow()
}

// network returns the key of an address: one customer has 2^64 addresses of IPv6.
func network(a netip.Addr) string {
	if a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return a.String()
}

// A refusal is the response to a request that is not accepted.
type refusal struct {
	status    int
	message   string // for people; in ASCII and without quotes if there is a code
	code      string // of RFC 6750, 3.1; "" for none
	counts    bool   // it counts towards the limit of wrong credentials
	challenge string // WWW-Authenticate; "" for none
	retry     int    // seconds; 0 for none
	hangUp    bool   // close the connection
}

// Error implements error.
func (why *refusal) Error() string { return why.message }

func noCredential() *refusal {
	return &refusal{status: http.StatusUnauthorized, message: "a bearer token is needed: Authorization: Bearer TOKEN"}
}

func badRequest(text string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_request", message: text, counts: true}
}

func invalidToken(text string) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: "invalid_token", message: text, counts: true}
}

// invalidRequest is the JSON-RPC error code of refused requests.
const invalidRequest = -32600

// RPCError is a RefusalBody: a JSON-RPC error without an ID, as the body has not been read.
func RPCError(_ *http.Request, _ int, message string) []byte {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "error": map[string]any{"code": invalidRequest, "message": message}, "id": nil})
	return text
}

// write answers the request.
func (why *refusal) write(w http.ResponseWriter, r *http.Request, body RefusalBody) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	if why.challenge != "" {
		h.Set("WWW-Authenticate", why.challenge)
	}
	if why.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(why.retry))
	}
	if why.hangUp {
		h.Set("Connection", "close")
	}
	w.WriteHeader(why.status)
	w.Write(append(body(r, why.status, why.message), '\n')) // fails only if the client has disconnected
}

// maxShown is how many characters of a header an error repeats.
const maxShown = 80

// forbidden refuses a request. The format has one verb, for a value of the request.
func forbidden(format, value string) *refusal {
	return &refusal{status: http.StatusForbidden, message: fmt.Sprintf(format, sanitize.Quoted(value, maxShown))}
}
