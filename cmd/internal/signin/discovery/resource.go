package discovery

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/httpclient"
	"toolman/mcpwire/sanitize"
)

const (
	maxServers = 8   // authorization servers of a server that are tried
	maxShown   = 200 // characters of a foreign text that are shown
)

// A Finder makes the requests of a discovery.
type Finder struct {
	HTTP       *http.Client
	Issuer     string // the configured one; "": the first that is usable
	AssumePKCE bool   // go on if metadata do not name S256
	HasClient  bool   // the configuration has a client_id
	Device     bool   // the login is by device code, without PKCE and without an authorization endpoint
	Say        func(text string)
}

// A Resource is what a server says in its protected resource metadata.
type Resource struct {
	URL     string   // of the metadata
	ID      string   // the server as the metadata call it
	Servers []string // issuers
	Scopes  []string // nil: they name none
}

const resourcePath = "/.well-known/oauth-protected-resource"

// Resource returns the protected resource metadata of a server, or nil if it has none. named is
// their URL in the server's challenge, or "".
func (f *Finder) Resource(ctx context.Context, server *url.URL, named string) (*Resource, error) {
	for _, at := range f.resourceURLs(server, named) {
		doc, err := f.get(ctx, at, "the protected resource metadata of the server")
		if err != nil {
			return nil, err
		}
		if doc == nil {
			continue
		}
		r := &Resource{URL: at, ID: doc.Text("resource"), Servers: doc.Texts("authorization_servers"), Scopes: doc.Texts("scopes_supported")}
		if !covers(r.ID, server) {
			return nil, cli.Failed(fmt.Errorf("the protected resource metadata at %s are for %s and not for the server %s, so they are not used", shownText(at), quoted(r.ID), httpclient.Shown(server)),
				"check the URL of the server: it may be "+sanitize.Cut(r.ID, maxShown)+"; otherwise its operator has to correct the metadata")
		}
		return r, nil
	}
	return nil, nil
}

// resourceURLs returns where protected resource metadata may be, in the order of the specification.
func (f *Finder) resourceURLs(server *url.URL, named string) (all []string) {
	if named != "" {
		if u, err := url.Parse(named); err == nil && isWeb(u) {
			all = append(all, named)
		} else {
			f.Say("the server's challenge names " + quoted(named) + " for its metadata, which is not a URL; the well-known URLs are tried")
		}
	}
	if path := strings.TrimSuffix(server.EscapedPath(), "/"); path != "" || server.RawQuery != "" {
		own := origin(server) + resourcePath + path
		if server.RawQuery != "" {
			own += "?" + server.RawQuery
		}
		all = append(all, own)
	}
	return append(all, origin(server)+resourcePath)
}

// covers reports whether metadata for id are about a server: id is its URL, or a part of it that
// ends at a slash.
func covers(id string, server *url.URL) bool {
	u, err := url.Parse(id)
	if err != nil || !isWeb(u) || u.Fragment != "" || !httpclient.SameOrigin(u, server) {
		return false
	}
	if u.RawQuery != "" && u.RawQuery != server.RawQuery {
		return false
	}
	part, whole := strings.TrimSuffix(u.EscapedPath(), "/"), strings.TrimSuffix(server.EscapedPath(), "/")
	return whole == part || u.RawQuery == "" && strings.HasPrefix(whole, part+"/")
}

// Canonical returns the URL of a server as the resource that its tokens are for, if its metadata do
// not say it (2025-06-18, Canonical Server URI). It has no query, which may be secret.
func Canonical(server *url.URL) string {
	u := url.URL{Scheme: strings.ToLower(server.Scheme), Host: strings.ToLower(server.Host), Path: server.Path, RawPath: server.RawPath}
	if u.Path == "/" {
		u.Path, u.RawPath = "", ""
	}
	return u.String()
}

// origin returns a URL without path and query.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// isWeb reports whether u is an absolute URL of http or https without a user.
func isWeb(u *url.URL) bool {
	return (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil
}

// quoted returns a foreign text in quotes.
func quoted(text string) string { return sanitize.Quoted(text, maxShown) }

// shownText returns a URL without its query.
func shownText(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return quoted(text)
	}
	return sanitize.Cut(httpclient.Shown(u), maxShown)
}
