package config

import (
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// HTTP is the table of that name: how toolman is served over HTTP. Without one in the file it holds the defaults.
type HTTP struct {
	Listen            string // host:port
	Mode              string // "dynamic" or "static"
	AllowedOrigins    []string
	AllowedHosts      []string // host, or host:port
	Unauthenticated   bool     // unauthenticated = "anybody-may-connect": what is needed to listen elsewhere than on loopback without tokens and jwt
	TrustedProxies    []netip.Prefix
	RequireClientID   bool
	TLSCert, TLSKey   string // absolute paths; both or none
	MaxBodyBytes      int
	MaxConnections    int
	MaxSessions       int
	SessionIdle       time.Duration // after how long without a request a session ends
	RateLimit         int           // requests a second for each principal; 0: none
	SessionConfigKeys []string
	BridgeActiveOnly  bool          // the bridge calls only active tools
	LogReaders        []string      // agents whose clients may read the log of all calls
	MetricsReaders    []string      // agents whose clients may read the metrics where clients are restricted
	AccessLog         bool          // a line in the log for each request
	DrainNotice       time.Duration // how long clients are let in after /health has turned
	Drain             time.Duration // how long calls under way may take after that
	Tokens            []Token       // without [Options.HTTP], those that come by a reference are left out
	JWT               *JWT          // nil: none
	Permissions       *Permissions  // nil: none are needed
	Limits            Limits        // on what each client can hold
}

// Limits are the table http.limits: how much one client with a credential can hold of each resource.
type Limits struct{ Bytes, Sessions, Streams, Calls, Processes, Connections int64 }

const anybody = "anybody-may-connect"

// httpKeys are the keys of http.
func httpKeys() []string {
	return []string{"listen", "mode", "allowed_origins", "allowed_hosts", "unauthenticated", "trusted_proxies", "require_client_id",
		"tls_cert", "tls_key", "max_body_bytes", "max_connections", "max_sessions", "session_idle", "rate_limit", "session_config_keys", "permissions",
		"bridge_active_only", "log_readers", "metrics_readers", "access_log", "drain_notice", "drain", "tokens", "jwt", "limits"}
}

// http decodes the table of that name. agents are those of agent_policies; nil when there are none.
func (d *decoder) http(root table, agents []string) HTTP {
	t := d.within(root, "http", "http", httpKeys()...)
	t.note("jwt", form{})
	t.note("permissions", form{})
	t.note("limits", form{})
	h := HTTP{
		Listen:            t.listen(),
		Mode:              t.choice("mode", "dynamic", "static"),
		AllowedOrigins:    t.strings("allowed_origins", `["https://app.example.com"]`, originForm, "write scheme://host or scheme://host:port, in lower case, without a path or a *"),
		AllowedHosts:      t.strings("allowed_hosts", `["mcp.example.com"]`, hostForm, "write a host or host:port, in lower case, without scheme, path or *"),
		Unauthenticated:   t.choice("unauthenticated", "refuse", anybody) == anybody,
		TrustedProxies:    t.prefixes("trusted_proxies"),
		RequireClientID:   t.boolean("require_client_id", false),
		MaxBodyBytes:      int(t.integer("max_body_bytes", 16<<20, leastMessageBytes, mostMessageBytes)),
		MaxConnections:    int(t.integer("max_connections", 16384, 1, 1<<20)),
		MaxSessions:       int(t.integer("max_sessions", 10_000, 1, 1<<20)),
		SessionIdle:       t.duration("session_idle", time.Hour, time.Second),
		RateLimit:         int(t.integer("rate_limit", 0, 0, 1_000_000)),
		SessionConfigKeys: t.strings("session_config_keys", `["API_KEY"]`, keyForm, "write letters, digits and _, no digit first"),
		BridgeActiveOnly:  t.boolean("bridge_active_only", false),
		LogReaders:        t.agents("log_readers", agents),
		MetricsReaders:    t.agents("metrics_readers", agents),
		AccessLog:         t.boolean("access_log", true),
		DrainNotice:       t.duration("drain_notice", 0, 0),
		Drain:             t.duration("drain", 10*time.Second, 0),
		Tokens:            d.tokens(t, agents),
		JWT:               d.jwt(t),
		Permissions:       d.permissions(t, agents),
		Limits:            d.limits(t),
	}
	h.TLSCert, h.TLSKey = t.certificate()
	if h.RequireClientID && len(h.TrustedProxies) == 0 {
		d.fail(t.values["require_client_id"].line, "write "+d.write("trusted_proxies", `["127.0.0.1/32"]`)+" with the addresses of what sets the header",
			"require_client_id needs trusted_proxies: from anybody else mcp-client-id does not count")
	}
	return h
}

// limits decodes the table http.limits.
func (d *decoder) limits(http table) Limits {
	t := d.within(http, "limits", "http.limits", "bytes", "sessions", "streams", "calls", "processes", "connections")
	return Limits{
		Bytes:       t.integer("bytes", 64<<20, 1<<20, 1<<39),
		Sessions:    t.integer("sessions", 256, 1, 1<<20),
		Streams:     t.integer("streams", 1024, 1, 1<<20),
		Calls:       t.integer("calls", 1024, 1, 1<<20),
		Processes:   t.integer("processes", 64, 1, 1<<20),
		Connections: t.integer("connections", 1024, 1, 1<<20),
	}
}

var (
	originForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`)
	})
	hostForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([a-z0-9._-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`) })
	keyForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`) })
	anyForm  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(".") })
)

// listen is where to listen.
func (t table) listen() string {
	const absent = "127.0.0.1:8900"
	s, ok := t.text("listen", `"`+absent+`"`)
	t.note("listen", form{"pattern": ":[0-9]{1,5}$", "default": absent})
	if !ok {
		return absent
	}
	_, port, err := net.SplitHostPort(s)
	if n, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil || n > 65535 {
		t.outside("listen", `write host:port such as "`+absent+`"`)
	}
	return s
}

// certificate is where the certificate and its key are.
func (t table) certificate() (cert, key string) {
	path := func(name, other string) string {
		s, ok := t.text(name, `"server.pem"`)
		t.note(name, form{"minLength": 1})
		switch {
		case !ok:
			return ""
		case s == "":
			t.outside(name, "name a file, or leave it out")
			return ""
		case !t.has(other):
			t.d.fail(t.values[name].line, "write "+t.d.write(other, `"…"`)+" too", "%s needs %s", name, other)
		}
		return scope{d: t.d, line: t.values[name].line, key: name}.absolute(s)
	}
	return path("tls_cert", "tls_key"), path("tls_key", "tls_cert")
}

// prefixes reads networks and single addresses.
func (t table) prefixes(key string) []netip.Prefix {
	const example = `["10.0.0.0/8"]`
	var all []netip.Prefix
	elems := t.array(key, example)
	t.note(key, listForm(form{"type": "string", "pattern": "^[0-9A-Fa-f.:]+(/[0-9]+)?$"}))
	for _, n := range elems {
		text, _ := n.value.(string)
		p, err := netip.ParsePrefix(text)
		if a, single := netip.ParseAddr(text); single == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			t.d.fail(n.line, "write addresses and networks: "+t.d.write(key, example), "%s holds what is no address and no network", key)
			continue
		}
		all = append(all, p.Masked())
	}
	return all
}

// agents reads a list of agents, of which there are these; nil: there may be any.
func (t table) agents(key string, known []string) []string {
	all := t.strings(key, `["judge"]`, anyForm, "write the name of an agent")
	for _, name := range all {
		if known != nil && !slices.Contains(known, name) {
			t.outside(key, "write names of agent_policies")
			return nil
		}
	}
	return all
}
