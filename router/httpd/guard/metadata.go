package guard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// MetadataPath is where clients look for [Guard.Metadata]. It is also below this, followed by the endpoint's path.
const MetadataPath = "/.well-known/oauth-protected-resource"

// Metadata answers with the protected-resource metadata of RFC 9728; with 404 when there is no JWT issuer to name.
func (g *Guard) Metadata() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case g.jwt == nil:
			http.NotFound(w, r)
			return
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET", http.StatusMethodNotAllowed)
			return
		}
		doc := map[string]any{
			"resource":                 g.resource(r),
			"authorization_servers":    []string{g.JWT.Issuer},
			"bearer_methods_supported": []string{"header"},
			"resource_name":            "toolman",
		}
		if len(g.JWT.Scopes) > 0 {
			doc["scopes_supported"] = g.JWT.Scopes
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")
		json.NewEncoder(w).Encode(doc) // who has gone need not be told
	})
}

// resource is the URL of the endpoint: the one among the audiences, or what the request was sent to.
func (g *Guard) resource(r *http.Request) string {
	for _, audience := range g.JWT.Audience {
		if u, err := url.Parse(audience); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
			return audience
		}
	}
	return g.outside(r) + "/mcp"
}

// metadataURL is where the metadata of the resource are: the path comes behind the well-known one (RFC 9728, 3.1). It is
// "" when it cannot be written into a header.
func (g *Guard) metadataURL(r *http.Request) string {
	u, err := url.Parse(g.resource(r))
	if err != nil || u.Host == "" || strings.ContainsAny(u.Host+u.Path, `"\ `) {
		return ""
	}
	return u.Scheme + "://" + u.Host + MetadataPath + strings.TrimSuffix(u.EscapedPath(), "/")
}
