package config

import (
	"regexp"
	"strings"
	"sync"
)

// OAuth says how a remote server's tokens are got: by client credentials, or from a file.
type OAuth struct {
	TokenURL     string // https, or http to loopback; "" where TokenFile is not refreshed
	ClientID     string
	ClientSecret string
	Scopes       []string
	TokenFile    string // absolute; "": client credentials
}

// writtenOAuth is an OAuth before references are replaced.
type writtenOAuth struct {
	table
	OAuth
}

var oauthScopeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[!#-\[\]-~]+$`) })

// oauth decodes the table of that name.
func (d *decoder) oauth(server table) *writtenOAuth {
	if !server.has("oauth") {
		return nil
	}
	t := d.within(server, "oauth", "servers.oauth", "token_url", "client_id", "client_secret", "scopes", "token_file")
	if _, isTable := server.values["oauth"].value.([]member); !isTable {
		return nil // which has been noted
	}
	w := &writtenOAuth{table: t}
	w.TokenURL = t.filled("token_url", `"https://login.example.com/token"`)
	t.note("token_url", form{"pattern": `^https?://|\$\{`})
	w.ClientID = t.filled("client_id", `"toolman"`)
	w.ClientSecret = t.filled("client_secret", `"${CLIENT_SECRET}"`)
	w.TokenFile = t.filled("token_file", `"token.json"`)
	w.Scopes = t.strings("scopes", `["mcp"]`, oauthScopeForm, "write a scope's name, without spaces, quotes and backslashes")
	t.needEither([]string{"token_file"}, []string{"token_url", "client_id", "client_secret"})
	for _, key := range []string{"token_url", "client_id", "client_secret"} {
		if !t.has("token_file") && !t.has(key) {
			d.fail(t.line, "write "+d.write(key, `"…"`)+", or "+d.write("token_file", `"…"`)+" for a token that is there already", "servers.oauth has no %s", key)
		}
	}
	if w.TokenURL != "" && !strings.Contains(w.TokenURL, "${") && !safeURL(w.TokenURL) {
		t.d.fail(t.values["token_url"].line, unsafeHint, "token_url cannot be used")
	}
	return w
}

const unsafeHint = "write an https URL; http is for localhost alone"

// filled reads a string that is not empty, where it is there.
func (t table) filled(key, example string) string {
	s, ok := t.text(key, example)
	t.note(key, filledForm())
	if ok && strings.TrimSpace(s) == "" {
		t.outside(key, "write "+t.d.write(key, example)+", or leave it out")
		return ""
	}
	return s
}

// expand is what is written with its references replaced.
func (w *writtenOAuth) expand(d *decoder) *OAuth {
	if w == nil {
		return nil
	}
	value := func(key, text string) string {
		sc := scope{d: d, key: "oauth." + key, line: w.values[key].line}
		return sc.clean(sc.expand(text))
	}
	before := len(d.problems)
	o := &OAuth{TokenURL: value("token_url", w.TokenURL), ClientID: value("client_id", w.ClientID),
		ClientSecret: value("client_secret", w.ClientSecret), Scopes: w.Scopes}
	d.secret(o.ClientSecret)
	if o.TokenURL != "" && !safeURL(o.TokenURL) && len(d.problems) == before {
		d.fail(w.values["token_url"].line, unsafeHint, "token_url cannot be used")
	}
	if w.TokenFile != "" {
		o.TokenFile = scope{d: d, line: w.values["token_file"].line, key: "oauth.token_file"}.absolute(value("token_file", w.TokenFile))
	}
	return o
}
