package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"toolman/cmd/internal/cli"
	"toolman/mcpwire/httpclient"
)

// A Server is an authorization server as its metadata describe it.
type Server struct {
	Issuer        string // as the metadata say; with none, the origin of the MCP server
	Authorization string // endpoints; "": it has none
	Token         string
	Registration  string
	Revocation    string
	Device        string
	Scopes        []string // scopes_supported
	Methods       []string // token_endpoint_auth_methods_supported; nil: they name none
	Documents     bool     // it takes the URL of a metadata document as client_id
	SendsIssuer   bool     // every response of its authorization endpoint has iss (RFC 9207)
	Legacy        bool     // it was found as 2025-03-26 says
}

// Server returns the authorization server of a server with this protected resource metadata, or
// with none.
func (f *Finder) Server(ctx context.Context, server *url.URL, r *Resource) (*Server, error) {
	if r == nil && f.Issuer == "" {
		return f.legacy(ctx, server)
	}
	var all []string
	if r != nil {
		all = r.Servers
	}
	if f.Issuer != "" {
		if i := slices.IndexFunc(all, func(s string) bool { return same(s, f.Issuer) }); i >= 0 {
			all = all[i : i+1]
		} else {
			all = append(slices.Clip(all), f.Issuer)
		}
	}
	if len(all) == 0 {
		return nil, cli.Failed(fmt.Errorf("the protected resource metadata at %s name no authorization server", shownText(r.URL)),
			`if you know it, write oauth = { issuer = "https://…" }; if the server takes a token that never changes, write it into headers`)
	}
	var failures []error
	for _, issuer := range all[:min(len(all), maxServers)] {
		s, err := f.metadata(ctx, issuer)
		if err == nil {
			return s, nil
		}
		if failures = append(failures, err); ctx.Err() != nil {
			break
		}
	}
	if len(failures) == 1 {
		return nil, failures[0]
	}
	return nil, cli.Failed(fmt.Errorf("none of the server's authorization servers can be used:\n%w", errors.Join(failures...)), cli.Hint(failures[0]))
}

// metadata returns the authorization server with this issuer.
func (f *Finder) metadata(ctx context.Context, issuer string) (*Server, error) {
	u, err := url.Parse(issuer)
	if err != nil || !isWeb(u) || u.RawQuery != "" || u.Fragment != "" {
		return nil, cli.Failed(fmt.Errorf("%s cannot be an authorization server: its issuer must be a URL without user, query and #", quoted(issuer)),
			"the operator of the MCP server has to correct its protected resource metadata")
	}
	var mismatch error
	for _, at := range metadataURLs(u) {
		doc, err := f.get(ctx, at, "the metadata of the authorization server")
		if err != nil {
			return nil, err
		}
		if doc == nil {
			continue
		}
		said := doc.Text("issuer")
		if same(said, issuer) || f.Issuer != "" && same(said, f.Issuer) {
			return f.read(doc, at)
		}
		if mismatch == nil {
			mismatch = cli.Failed(fmt.Errorf("the authorization server %s says in its metadata at %s that it is %s, so they are not used", shownText(issuer), shownText(at), quoted(said)),
				fmt.Sprintf("if you know that this is right, write oauth = { issuer = %s }; otherwise do not log in", quoted(said)))
		}
	}
	if mismatch != nil {
		return nil, mismatch
	}
	return nil, cli.Failed(fmt.Errorf("the authorization server %s has no metadata: none of its well-known URLs exists", shownText(issuer)),
		"check that it runs; if the server should use another one, write oauth = { issuer = \"https://…\" }")
}

// same reports whether two issuers are equal. A slash at the end of one of them does not count:
// Google and others write their issuer in both ways.
func same(a, b string) bool { return a == b || a+"/" == b || a == b+"/" }

const (
	oauthPath  = "/.well-known/oauth-authorization-server"
	openIDPath = "/.well-known/openid-configuration"
)

// metadataURLs returns where the metadata of an issuer may be, in the order of the specification.
func metadataURLs(issuer *url.URL) []string {
	at, path := origin(issuer), strings.TrimSuffix(issuer.EscapedPath(), "/")
	if path == "" {
		return []string{at + oauthPath, at + openIDPath}
	}
	return []string{at + oauthPath + path, at + openIDPath + path, at + path + openIDPath}
}

// legacy returns the authorization server of a server of 2025-03-26: its own origin, with an issuer
// of that origin. Without metadata it has the default endpoints.
func (f *Finder) legacy(ctx context.Context, server *url.URL) (*Server, error) {
	f.Say("the server has no protected resource metadata; its own origin " + origin(server) + " is tried as its authorization server, as MCP 2025-03-26 has it")
	for _, at := range metadataURLs(&url.URL{Scheme: server.Scheme, Host: server.Host}) {
		doc, err := f.get(ctx, at, "the metadata of the authorization server")
		if err != nil {
			return nil, err
		}
		if doc == nil {
			continue
		}
		said := doc.Text("issuer")
		if u, err := url.Parse(said); err != nil || !isWeb(u) || !httpclient.SameOrigin(u, server) {
			return nil, cli.Failed(fmt.Errorf("the metadata at %s are of %s, which is not the server's own origin, so they are not used", shownText(at), quoted(said)),
				fmt.Sprintf("if you know that this is the server's authorization server, write oauth = { issuer = %s }; otherwise do not log in", quoted(said)))
		}
		s, err := f.read(doc, at)
		if err == nil {
			s.Legacy = true
		}
		return s, err
	}
	at := origin(server)
	s := &Server{Issuer: at, Authorization: at + "/authorize", Token: at + "/token", Registration: at + "/register", Legacy: true}
	return s, checkAuthorization(s.Authorization)
}
