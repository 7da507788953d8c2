package config

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"toolman/cmd/internal/config/reference"
	"toolman/cmd/internal/config/source"
	"toolman/cmd/internal/config/table"
)

// A Remote is a server that toolman reaches over HTTP.
type Remote struct {
	URL           string
	Header        http.Header              // headers
	SessionHeader []reference.SessionValue // headers that are different in each session
	CAFile        string                   // ca_file, absolute; "": the system's authorities only
	OAuth         *OAuth                   // nil: none
}

// OAuth says how toolman gets a remote server's tokens: by client credentials, from a file, or, with
// neither TokenURL nor TokenFile, by a login of the user, for which the other fields are.
type OAuth struct {
	TokenURL     string // https, or http to loopback; "" if TokenFile is not refreshed
	ClientID     string
	ClientSecret string
	Scopes       []string
	TokenFile    string // absolute; "": client credentials

	Issuer      string  // the authorization server, and what its metadata may say; "": what the server names
	RedirectURI string  // http to loopback; "": any port
	ClientName  string  // of the client that toolman registers; "": toolman
	Account     string  // whose login it is; "": the name of the server
	Resource    *string // nil: what metadata say; of "": none is sent
	AssumePKCE  bool    // even if metadata do not name S256
	PerAgent    bool    // each agent has a login of its own
}

// TakesLogin reports whether a user can log in to the server: it has no other credentials.
func (r *Remote) TakesLogin() bool {
	u, err := url.Parse(r.URL)
	own := func(name string) bool { return strings.EqualFold(name, "Authorization") }
	return err == nil && u.User == nil && (r.OAuth == nil || r.OAuth.TokenURL == "" && r.OAuth.TokenFile == "") && r.Header.Get("Authorization") == "" &&
		!slices.ContainsFunc(r.SessionHeader, func(v reference.SessionValue) bool { return own(v.Name) })
}

const (
	headerPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

	// ownHeaders matches headers that the transport sets.
	ownHeaders = `^(?i)(accept|connection|content-(length|type|encoding)|transfer-encoding|last-event-id|mcp-(session-id|protocol-version|method|name|param-.*))$`

	// scopePattern matches a scope-token of RFC 6749, 3.3.
	scopePattern = `^[!#-\[\]-~]+$`
	scopeHint    = "write a scope's name, without spaces, quotes and backslashes"

	exampleRedirect = `"http://127.0.0.1:8321/callback"`

	exampleHeaders = `{ Authorization = "Bearer ${TOKEN}" }`
	httpsHint      = "write an https URL; http is for localhost alone"
)

// remote decodes the keys of a server with a url. It returns nil for a server without a valid one,
// and for one that is not enabled, whose references are not replaced.
func (d *decoder) remote(t table.Table, enabled bool) *Remote {
	written, ok := t.Text("url", exampleURL)
	if ok && !strings.Contains(written, "${") && !isRemoteURL(written) {
		failURL(t)
		written = ""
	}
	enabled = enabled && written != ""
	headers := headers(t)
	r := &Remote{Header: http.Header{}, OAuth: d.oauth(t, enabled)}
	caFile := t.Filled("ca_file", `"ca.pem"`, "name a file of certificates in PEM form, or leave it out")
	if !enabled {
		return nil
	}
	before := d.Count()
	r.URL = d.scope(t, "url", "url").Expand(written)
	if !isRemoteURL(r.URL) && d.Count() == before {
		failURL(t)
	}
	d.Password(r.URL)
	r.SessionHeader = d.expanded("headers", headers, func(sc reference.Scope, name, value string) {
		d.Secret(value)
		if strings.ContainsAny(value, "\r\n") {
			sc.Fail("take the line break out", "it holds a line break")
		}
		r.Header.Add(name, value)
	})
	if caFile != "" {
		sc := d.scope(t, "ca_file", "ca_file")
		r.CAFile = sc.Absolute(sc.Expand(caFile))
	}
	return r
}

// expanded calls use with each member of env or headers, with its references replaced. It returns
// the members that are different in each session.
func (d *decoder) expanded(table string, members []source.Member, use func(sc reference.Scope, name, value string)) (ofSession []reference.SessionValue) {
	for _, m := range members {
		sc := reference.Scope{Resolver: d.Resolver, Line: m.Line, Key: table + "." + m.Key}
		if value := sc.Session(m.Key, m.Value.(string)); value != nil {
			ofSession = append(ofSession, *value)
			continue
		}
		use(sc, m.Key, sc.Expand(m.Value.(string)))
	}
	return ofSession
}

// failURL adds a problem with the url without showing it: it may have a password.
func failURL(t table.Table) {
	t.FailAt("url", t.Instead("url", exampleURL), "url is no URL with http:// or https:// and a host")
}

func isRemoteURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.Fragment == ""
}

// isSafeURL reports whether nobody on the network can change what is fetched from a URL.
func isSafeURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	loopback := u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	return u.Scheme == "https" || u.Scheme == "http" && loopback
}

// headers returns the table of that name, with values as written.
func headers(t table.Table) []source.Member {
	return t.StringMembers("headers", exampleHeaders, func(m source.Member) bool {
		switch {
		case !regexp.MustCompile(headerPattern).MatchString(m.Key):
			t.Fail(m.Line, t.Instead("headers", exampleHeaders), "headers holds %s, which is no name of a header", source.Shown(m.Key))
		case regexp.MustCompile(ownHeaders).MatchString(m.Key):
			t.Fail(m.Line, "take it out", "headers holds %s, which toolman sets itself", source.Shown(m.Key))
		default:
			return true
		}
		return false
	})
}

// oauthKeys are the keys of oauth.
func oauthKeys() []string {
	return []string{"token_url", "client_id", "client_secret", "scopes", "token_file", "issuer", "redirect_uri", "client_name", "resource", "assume_pkce", "account", "per_agent"}
}

// loginKeys are the keys of oauth that have no meaning without a login.
func loginKeys() []string {
	return []string{"issuer", "redirect_uri", "client_name", "assume_pkce", "account", "per_agent"}
}

// oauth decodes the table of that name. It replaces references if expand is set.
func (d *decoder) oauth(server table.Table, expand bool) *OAuth {
	t, ok := server.Inner("oauth", "servers.oauth", oauthKeys()...)
	if !ok {
		return nil
	}
	filled := func(key, example string) string {
		text := t.Filled(key, example, t.Instead(key, example)+", or leave it out")
		before := d.Count()
		if expand {
			text = d.scope(t, key, "oauth."+key).Expand(text)
		}
		known := text != "" && (expand || !strings.Contains(text, "${")) && d.Count() == before
		switch {
		case !known:
		case key == "token_url" && !isSafeURL(text):
			t.FailAt(key, httpsHint, "token_url cannot be used")
		case key == "issuer" && (!isRemoteURL(text) || strings.ContainsAny(text, "?@")):
			t.FailAt(key, t.Instead(key, example), "issuer is not a URL with a host, and without user and query")
		case key == "redirect_uri" && (!isSafeURL(text) || !strings.HasPrefix(text, "http://") || strings.Contains(text, "?")):
			t.FailAt(key, t.Instead(key, exampleRedirect), "redirect_uri is not http on this machine, without a query")
		}
		return text
	}
	o := &OAuth{
		TokenURL:     filled("token_url", `"https://login.example.com/token"`),
		ClientID:     filled("client_id", `"toolman"`),
		ClientSecret: filled("client_secret", `"${CLIENT_SECRET}"`),
		TokenFile:    filled("token_file", `"token.json"`),
		Issuer:       filled("issuer", `"https://login.example.com"`),
		RedirectURI:  filled("redirect_uri", exampleRedirect),
		ClientName:   filled("client_name", `"toolman"`),
		Account:      filled("account", `"work"`),
		AssumePKCE:   t.Bool("assume_pkce", false),
		PerAgent:     t.Bool("per_agent", false),
		Scopes:       table.Texts(t.Strings("scopes", `["mcp"]`, table.Match("scopes", scopePattern, scopeHint))),
	}
	if resource, ok := t.Text("resource", `"https://mcp.example.com/mcp"`); ok {
		if expand {
			resource = d.scope(t, "resource", "oauth.resource").Expand(resource)
		}
		o.Resource = &resource
	}
	for _, key := range []string{"client_id", "client_secret"} {
		if t.Has("token_url") && !t.Has("token_file") && !t.Has(key) {
			t.Fail(t.Line, t.Instead(key, `"…"`)+", or "+t.Write("token_file", `"…"`)+" for a token that is there already", "servers.oauth has no %s", key)
		}
	}
	t.Needs("client_secret", "client_id", `"…"`)
	for _, key := range loginKeys() {
		for _, other := range []string{"token_url", "token_file"} {
			if t.Has(key) && t.Has(other) {
				t.FailAt(key, "take one of them out", "%s is for logins, and %s is for servers without one", key, other)
				break
			}
		}
	}
	if !expand {
		return o
	}
	d.Secret(o.ClientSecret)
	if o.TokenFile != "" {
		o.TokenFile = d.scope(t, "token_file", "oauth.token_file").Absolute(o.TokenFile)
	}
	return o
}
