package config

import (
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
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

// OAuth says how toolman gets a remote server's tokens: by client credentials, or from a file.
type OAuth struct {
	TokenURL     string // https, or http to loopback; "" if TokenFile is not refreshed
	ClientID     string
	ClientSecret string
	Scopes       []string
	TokenFile    string // absolute; "": client credentials
}

const (
	headerPattern = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"

	// ownHeaders matches headers that the transport sets.
	ownHeaders = `^(?i)(accept|connection|content-(length|type|encoding)|transfer-encoding|last-event-id|mcp-(session-id|protocol-version|method|name|param-.*))$`

	// scopePattern matches a scope-token of RFC 6749, 3.3.
	scopePattern = `^[!#-\[\]-~]+$`
	scopeHint    = "write a scope's name, without spaces, quotes and backslashes"

	exampleHeaders = `{ Authorization = "Bearer ${TOKEN}" }`
	httpsHint      = "write an https URL; http is for localhost alone"
)

// An unexpanded is a Remote before references are replaced.
type unexpanded struct {
	url, caFile string
	headers     []source.Member
	oauth       *OAuth
	oauthTable  table.Table
}

// remote reads the keys of a server with a url.
func (d *decoder) remote(t table.Table) unexpanded {
	w := unexpanded{headers: headers(t)}
	w.oauth, w.oauthTable = d.oauth(t)
	s, ok := t.Text("url", exampleURL)
	if ok && !strings.Contains(s, "${") && !isRemoteURL(s) {
		failURL(t)
	} else {
		w.url = s
	}
	w.caFile = t.Filled("ca_file", `"ca.pem"`, "name a file of certificates in PEM form, or leave it out")
	return w
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

// oauth decodes the table of that name, with values as written.
func (d *decoder) oauth(server table.Table) (*OAuth, table.Table) {
	t, ok := server.Inner("oauth", "servers.oauth", "token_url", "client_id", "client_secret", "scopes", "token_file")
	if !ok {
		return nil, t
	}
	filled := func(key, example string) string {
		return t.Filled(key, example, t.Instead(key, example)+", or leave it out")
	}
	o := &OAuth{
		TokenURL:     filled("token_url", `"https://login.example.com/token"`),
		ClientID:     filled("client_id", `"toolman"`),
		ClientSecret: filled("client_secret", `"${CLIENT_SECRET}"`),
		TokenFile:    filled("token_file", `"token.json"`),
		Scopes:       table.Texts(t.Strings("scopes", `["mcp"]`, table.Match("scopes", scopePattern, scopeHint))),
	}
	for _, key := range []string{"token_url", "client_id", "client_secret"} {
		if !t.Has("token_file") && !t.Has(key) {
			t.Fail(t.Line, t.Instead(key, `"…"`)+", or "+t.Write("token_file", `"…"`)+" for a token that is there already", "servers.oauth has no %s", key)
		}
	}
	if o.TokenURL != "" && !strings.Contains(o.TokenURL, "${") && !isSafeURL(o.TokenURL) {
		t.FailAt("token_url", httpsHint, "token_url cannot be used")
	}
	return o, t
}

// expand replaces the references. It returns nil for a server without a url.
func (w unexpanded) expand(d *decoder, t table.Table) *Remote {
	if w.url == "" {
		return nil
	}
	before := d.Count()
	r := &Remote{URL: d.scope(t, "url", "url").Expand(w.url), Header: http.Header{}, OAuth: w.expandOAuth(d)}
	if !isRemoteURL(r.URL) && d.Count() == before {
		failURL(t)
	}
	if u, err := url.Parse(r.URL); err == nil && u.User != nil {
		password, _ := u.User.Password()
		d.Secret(password)
	}
	for _, m := range w.headers {
		sc := reference.Scope{Resolver: d.Resolver, Line: m.Line, Key: "headers." + m.Key}
		if value := sc.Session(m.Key, m.Value.(string)); value != nil {
			r.SessionHeader = append(r.SessionHeader, *value)
			continue
		}
		value := sc.Expand(m.Value.(string))
		if strings.ContainsAny(value, "\r\n") {
			sc.Fail("take the line break out", "it holds a line break")
		}
		d.Secret(value)
		r.Header.Add(m.Key, value)
	}
	if w.caFile != "" {
		sc := d.scope(t, "ca_file", "ca_file")
		r.CAFile = sc.Absolute(sc.Expand(w.caFile))
	}
	return r
}

func (w unexpanded) expandOAuth(d *decoder) *OAuth {
	if w.oauth == nil {
		return nil
	}
	before := d.Count()
	o := *w.oauth
	expand := func(key, text string) string { return d.scope(w.oauthTable, key, "oauth."+key).Expand(text) }
	o.TokenURL, o.ClientID, o.ClientSecret = expand("token_url", o.TokenURL), expand("client_id", o.ClientID), expand("client_secret", o.ClientSecret)
	d.Secret(o.ClientSecret)
	if o.TokenURL != "" && !isSafeURL(o.TokenURL) && d.Count() == before {
		w.oauthTable.FailAt("token_url", httpsHint, "token_url cannot be used")
	}
	if o.TokenFile != "" {
		o.TokenFile = d.scope(w.oauthTable, "token_file", "oauth.token_file").Absolute(expand("token_file", o.TokenFile))
	}
	return &o
}
