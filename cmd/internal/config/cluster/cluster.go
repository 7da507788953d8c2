package cluster

import (
	"net"
	"net/netip"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
)

// Settings are the content of the table.
type Settings struct {
	Engine          string   // URL of the engine, with its password
	EngineCA        string   // file of certificates to trust besides the system's, absolute; "": none
	EnginePlaintext bool     // Engine may be without TLS beyond loopback
	Secrets         [][]byte // at least one, each of 32 bytes or more; the first makes, all are accepted
	Name            string   // replicas of one name are one gateway
	Listen          string   // host:port for the other replicas
	Line            int      // of Engine in the file
	Advertise       string   // host:port where they find it. The port is 0 if that of Listen is and there is no other
}

const (
	leastSecret   = 32      // bytes
	defaultListen = ":8901" // on all addresses, of both IP versions

	exampleEngine    = `"valkeys://toolman:${file:/run/secrets/valkey}@valkey.example.com:6379"`
	exampleSecrets   = `["${file:/run/secrets/toolman-cluster}"]`
	exampleAdvertise = `"${POD_IP}:8901"`
)

// Read reads the table of that name. It returns nil if there is none, or if used is false: then it
// checks keys and kinds, and replaces no reference.
func Read(root table.Table, r *reference.Resolver, used bool) *Settings {
	t, ok := root.Inner("cluster", "cluster", "engine", "engine_ca", "engine_plaintext", "secrets", "name", "listen", "advertise")
	if !ok {
		return nil
	}
	d := reader{Table: t, resolver: r, used: used}
	s := &Settings{
		Line:            t.LineOf("engine"),
		EnginePlaintext: t.Bool("engine_plaintext", false),
		EngineCA:        t.Filled("engine_ca", `"valkey-ca.pem"`, "name a file of certificates in PEM form, or leave it out"),
		Name:            name(t),
		Secrets:         d.secrets(),
	}
	s.Engine = d.engine(s.EnginePlaintext)
	s.Listen, s.Advertise = d.addresses()
	if !used {
		return nil
	}
	if s.EngineCA != "" {
		sc := d.scope("engine_ca", t.LineOf("engine_ca"))
		s.EngineCA = sc.Absolute(sc.Expand(s.EngineCA))
	}
	return s
}

// Equal reports whether two tables say the same, wherever they stand in the file.
func (s *Settings) Equal(other *Settings) bool {
	if s == nil || other == nil {
		return s == other
	}
	a, b := *s, *other
	a.Line, b.Line = 0, 0
	return reflect.DeepEqual(a, b)
}

// Variables returns the variables that hold secrets of the table, or parts of them.
func Variables(root table.Table) reference.Variables {
	all := reference.Variables{}
	members, _ := root.At("cluster").Value.([]source.Member)
	for _, m := range members {
		if m.Key == "engine" || m.Key == "secrets" {
			for name := range reference.VariablesIn(m.Node) {
				all[name] = true
			}
		}
	}
	return all
}

type reader struct {
	table.Table
	resolver *reference.Resolver
	used     bool
}

// scope returns the scope of a string. What is not in engine and secrets is shown in logs, even if
// it is from a variable.
func (d reader) scope(key string, line int) reference.Scope {
	return reference.Scope{Resolver: d.resolver, Line: line, Key: "cluster." + key, Open: key != "engine" && key != "secrets"}
}

// expand returns a string with its references replaced. ok is false if it cannot be checked: it is
// not used, or it has a problem already.
func (d reader) expand(sc reference.Scope, written string) (text string, ok bool) {
	if !d.used {
		return written, !strings.Contains(written, "${")
	}
	before := sc.Count()
	text = sc.Expand(written)
	return text, sc.Count() == before
}

// name reads the name of the cluster.
func name(t table.Table) string {
	const absent = "toolman"
	s, ok := t.Text("name", `"`+absent+`"`)
	if !ok {
		return absent
	}
	const others = "-_."
	strange := strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(others, r))
	})
	if s == "" || len(s) > 64 || strange {
		t.Outside("name", "write up to 64 letters, digits, -, _ and .")
	}
	return s
}

// secrets reads the secrets. A problem shows none.
func (d reader) secrets() (all [][]byte) {
	const key = "secrets"
	hint := "write the output of openssl rand -hex 32 into a file, and write " + d.Write(key, exampleSecrets)
	if !d.Has(key) {
		d.Fail(d.Line, hint, "cluster has no secrets")
	}
	elems, isArray := d.At(key).Value.([]source.Node)
	if isArray && len(elems) == 0 {
		d.FailAt(key, hint, "secrets is empty")
	}
	for i, e := range d.Strings(key, exampleSecrets, func(string) (problem, hint string) { return "", "" }) {
		if _, isText := elems[i].Value.(string); !isText {
			continue
		}
		sc := d.scope(key, e.Line)
		text, ok := d.expand(sc, e.Text)
		if d.used {
			d.resolver.Secret(text)
		}
		if ok && len(text) < leastSecret {
			sc.Fail(hint, "a secret has %d bytes, which is less than %d", len(text), leastSecret)
		}
		all = append(all, []byte(text))
	}
	return all
}

// engine reads the URL of the engine. A problem does not show it: it may have a password.
func (d reader) engine(plaintext bool) string {
	const key = "engine"
	written := d.Required(key, exampleEngine, "cluster")
	if written == "" {
		return ""
	}
	sc := d.scope(key, d.LineOf(key))
	text, ok := d.expand(sc, written)
	e := split(text)
	if d.used {
		for _, password := range e.passwords {
			d.resolver.Secret(password)
		}
	}
	if !ok {
		return text
	}
	if problem, hint := e.check(d.Problems, plaintext); problem != "" {
		sc.Fail(hint, "%s", problem)
	} else if !e.tls && d.Has("engine_ca") {
		d.FailAt("engine_ca", "take it out, or write "+e.scheme+"s:// in engine", "engine_ca is for an engine with TLS, and engine is %s://", e.scheme)
	}
	return text
}

// An engineURL is a URL of an engine. A password in it may have any characters, and ends at the
// last @.
type engineURL struct {
	scheme, rest string // rest follows the password
	tls          bool
	passwords    []string // as it is written, and as it is meant
}

// split splits a URL.
func split(text string) engineURL {
	scheme, rest, _ := strings.Cut(text, "://")
	e := engineURL{scheme: scheme, rest: rest, tls: scheme == "valkeys" || scheme == "rediss"}
	if at := strings.LastIndex(rest, "@"); at >= 0 {
		e.rest = rest[at+1:]
		if _, password, ok := strings.Cut(rest[:at], ":"); ok {
			e.passwords = append(e.passwords, password)
			if plain, err := url.PathUnescape(password); err == nil {
				e.passwords = append(e.passwords, plain)
			}
		}
	}
	return e
}

// check returns what is wrong with the URL, and what to write instead.
func (e engineURL) check(p *source.Problems, plaintext bool) (problem, hint string) {
	instead := "write " + p.Write("engine", exampleEngine)
	if !e.tls && e.scheme != "valkey" && e.scheme != "redis" {
		return "it does not begin with valkeys://, rediss://, valkey:// or redis://", instead
	}
	u, err := url.Parse("//" + e.rest)
	if err != nil || u.Hostname() == "" || u.Fragment != "" {
		return "it has no host that can be read", instead
	}
	if database := strings.TrimPrefix(u.Path, "/"); strings.Trim(database, "0123456789") != "" {
		return "its path is not the number of a database", instead
	}
	query, err := url.ParseQuery(u.RawQuery)
	if query.Has("skip_verify") {
		return "?skip_verify would let anybody be the engine", "take it out; engine_ca names a file of certificates to trust"
	}
	for name := range query {
		if err != nil || name != "addr" && name != "master_set" {
			return "what follows the ? cannot be used", "write ?addr=HOST:PORT for each further address, or ?master_set=NAME for Sentinel"
		}
	}
	hosts := []string{u.Hostname()}
	for _, addr := range query["addr"] {
		host, port, err := net.SplitHostPort(addr)
		if err != nil || host == "" || port == "" {
			return "an addr after the ? is not HOST:PORT", "write ?addr=HOST:PORT for each further address"
		}
		hosts = append(hosts, host)
	}
	if !e.tls && !plaintext && slices.ContainsFunc(hosts, beyondLoopback) {
		return e.scheme + ":// sends the password without TLS beyond this machine",
			"write " + e.scheme + "s://, or " + p.Write("engine_plaintext", "true") + " if nobody else is on that network"
	}
	return "", ""
}

// beyondLoopback reports whether a host may be another machine.
func beyondLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host != "localhost" && !(err == nil && addr.IsLoopback())
}

// addresses reads where to listen for other replicas and where they find this one.
func (d reader) addresses() (listen, advertise string) {
	listen, ok := defaultListen, true
	if d.Has("listen") {
		listen, ok = d.address("listen", `"0.0.0.0:8901"`)
	}
	host, _, _ := net.SplitHostPort(listen)
	switch {
	case d.Has("advertise"):
		advertise, ok = d.address("advertise", exampleAdvertise)
		host, port, _ := net.SplitHostPort(advertise)
		if number, _ := strconv.Atoi(port); ok && (isEvery(host) || number == 0) {
			d.FailAt("advertise", d.Instead("advertise", exampleAdvertise), "other replicas cannot connect to %s", source.Shown(advertise))
		}
		return listen, advertise
	case ok && isEvery(host):
		line := d.LineOf("listen")
		if line == 0 {
			line = d.Line
		}
		d.Fail(line, d.Instead("advertise", exampleAdvertise)+", with an address of this replica that the others reach",
			"cluster has no advertise, and other replicas cannot connect to %s", source.Shown(listen))
	}
	return listen, listen
}

// isEvery reports whether a host to listen on is every address of the machine.
func isEvery(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "" || err == nil && addr.IsUnspecified()
}

// address reads an address. ok is false if it cannot be checked further.
func (d reader) address(key, example string) (text string, ok bool) {
	written, ok := d.Text(key, example)
	if !ok {
		return "", false
	}
	sc := d.scope(key, d.LineOf(key))
	if text, ok = d.expand(sc, written); !ok {
		return text, false
	}
	_, port, err := net.SplitHostPort(text)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		sc.Fail("write host:port such as "+example+"; an IPv6 address stands in brackets: [::1]:8901", "it cannot be %s", source.Shown(text))
		return text, false
	}
	return text, true
}
