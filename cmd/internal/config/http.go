package config

import (
	"net"
	"net/netip"
	"strconv"
	"time"

	"toolman/cmd/internal/config/table"
	"toolman/router/budget"
)

// HTTP is the table of that name: how toolman is served over HTTP. Without it in the file it holds
// the defaults.
type HTTP struct {
	Listen            string // host:port
	Mode              string // "dynamic" or "static"
	AllowedOrigins    []string
	AllowedHosts      []string // host, or host:port
	Unauthenticated   bool     // unauthenticated = "anybody-may-connect"
	TrustedProxies    []netip.Prefix
	RequireClientID   bool
	TLSCert, TLSKey   string // absolute paths; both or none
	MaxBodyBytes      int
	MaxConnections    int
	MaxSessions       int
	SessionIdle       time.Duration
	RateLimit         int // requests a second for each principal; 0: no limit
	SessionConfigKeys []string
	StrictConfig      bool // refuse what does not count in ?config=
	BridgeActiveOnly  bool
	LogReaders        []string
	MetricsReaders    []string
	MetricsTools      []string // names and globs of tools that the metrics count by name
	AccessLog         bool
	DrainNotice       time.Duration
	Drain             time.Duration
	Tokens            []Token       // without [Options.HTTP], those that are references are left out
	JWT               *JWT          // nil: none
	Permissions       *Permissions  // nil: none are needed
	Limits            budget.Limits // how much one client with a credential can hold of each resource
}

const (
	anybody        = "anybody-may-connect"
	exampleProxies = `["127.0.0.1/32"]`
)

// http decodes the table of that name. agents are those of agent_policies; nil if there are none.
func (d *decoder) http(root table.Table, agents []string) HTTP {
	t, _ := root.Inner("http", "http", "listen", "mode", "allowed_origins", "allowed_hosts", "unauthenticated", "trusted_proxies", "require_client_id",
		"tls_cert", "tls_key", "max_body_bytes", "max_connections", "max_sessions", "session_idle", "rate_limit", "session_config_keys", "strict_config", "permissions",
		"bridge_active_only", "log_readers", "metrics_readers", "metrics_tools", "access_log", "drain_notice", "drain", "tokens", "jwt", "limits")
	matching := func(key, example, pattern, hint string) []string {
		return table.Texts(t.Strings(key, example, table.Match(key, pattern, hint)))
	}
	h := HTTP{
		Listen: listen(t),
		Mode:   t.Choice("mode", "dynamic", "static"),
		AllowedOrigins: matching("allowed_origins", `["https://app.example.com"]`, `^[a-z][a-z0-9+.-]*://([a-z0-9._-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`,
			"write scheme://host or scheme://host:port, in lower case, without a path or a *"),
		AllowedHosts: matching("allowed_hosts", `["mcp.example.com"]`, `^([a-z0-9._-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?$`,
			"write a host or host:port, in lower case, without scheme, path or *"),
		Unauthenticated: t.Choice("unauthenticated", "refuse", anybody) == anybody,
		TrustedProxies:  prefixes(t, "trusted_proxies"),
		RequireClientID: t.Bool("require_client_id", false),
		MaxBodyBytes:    int(t.Int("max_body_bytes", 16<<20, leastMessageBytes, mostMessageBytes)),
		MaxConnections:  int(t.Int("max_connections", 16384, 1, 1<<20)),
		MaxSessions:     int(t.Int("max_sessions", 10_000, 1, 1<<20)),
		SessionIdle:     t.Duration("session_idle", time.Hour, time.Second),
		RateLimit:       int(t.Int("rate_limit", 0, 0, 1_000_000)),
		SessionConfigKeys: matching("session_config_keys", `["API_KEY"]`, `^[A-Za-z_][A-Za-z0-9_]{0,63}$`,
			"write letters, digits and _, no digit first"),
		StrictConfig:     t.Bool("strict_config", false),
		BridgeActiveOnly: t.Bool("bridge_active_only", false),
		LogReaders:       knownAgents(t, "log_readers", agents),
		MetricsReaders:   knownAgents(t, "metrics_readers", agents),
		MetricsTools:     table.Texts(t.Globs("metrics_tools", `["fs_*"]`)),
		AccessLog:        t.Bool("access_log", true),
		DrainNotice:      t.Duration("drain_notice", 0, 0),
		Drain:            t.Duration("drain", 10*time.Second, 0),
		Tokens:           d.tokens(t, agents),
		JWT:              d.jwt(t),
		Permissions:      d.permissions(t, agents),
		TLSCert:          d.certificate(t, "tls_cert", "tls_key"),
		TLSKey:           d.certificate(t, "tls_key", "tls_cert"),
	}
	l, _ := t.Inner("limits", "http.limits", "bytes", "sessions", "streams", "calls", "processes", "connections")
	h.Limits = budget.Limits{
		budget.Bytes:       l.Int("bytes", 64<<20, 1<<20, 1<<39),
		budget.Sessions:    l.Int("sessions", 256, 1, 1<<20),
		budget.Streams:     l.Int("streams", 1024, 1, 1<<20),
		budget.Calls:       l.Int("calls", 1024, 1, 1<<20),
		budget.Processes:   l.Int("processes", 64, 1, 1<<20),
		budget.Connections: l.Int("connections", 1024, 1, 1<<20),
	}
	if h.RequireClientID && len(h.TrustedProxies) == 0 {
		t.FailAt("require_client_id", t.Instead("trusted_proxies", exampleProxies)+" with the addresses of what sets the header",
			"require_client_id needs trusted_proxies: toolman ignores mcp-client-id from other addresses")
	}
	return h
}

// listen reads the address to listen on.
func listen(t table.Table) string {
	const absent = "127.0.0.1:8900"
	s, ok := t.Text("listen", `"`+absent+`"`)
	if !ok {
		return absent
	}
	_, port, err := net.SplitHostPort(s)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		t.Outside("listen", `write host:port such as "`+absent+`"`)
	}
	return s
}

// certificate reads the path of the certificate or of its key; the other one has to be there, too.
func (d *decoder) certificate(t table.Table, key, other string) string {
	s := t.Filled(key, `"server.pem"`, "name a file, or leave it out")
	if s == "" {
		return ""
	}
	t.Needs(key, other, `"…"`)
	return d.scope(t, key, key).Absolute(s)
}

// prefixes reads networks and single addresses.
func prefixes(t table.Table, key string) []netip.Prefix {
	const example = `["10.0.0.0/8"]`
	var all []netip.Prefix
	t.Strings(key, example, func(text string) (problem, hint string) {
		p, err := netip.ParsePrefix(text)
		if a, single := netip.ParseAddr(text); single == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return key + " holds what is no address and no network", "write addresses and networks: " + t.Write(key, example)
		}
		all = append(all, p.Masked())
		return "", ""
	})
	return all
}

// knownAgents reads a list of agents, which have to be among known unless that is nil.
func knownAgents(t table.Table, key string, known []string) []string {
	check := table.OneOf(key, known)
	if known == nil {
		check = table.Match(key, ".", "write the name of an agent")
	}
	return table.Texts(t.Strings(key, `["judge"]`, check))
}
