package guard

import (
	"net/http"
	"strings"
)

// challenge is the WWW-Authenticate that goes with a refusal (RFC 6750, 3; RFC 9728, 5.1); "" for none.
func (g *Guard) challenge(r *http.Request, denied *deniedError) string {
	if denied.status != http.StatusUnauthorized && denied.code == "" {
		return ""
	}
	params := []string{`realm="toolman"`}
	add := func(name, value string) {
		if value != "" {
			params = append(params, name+`="`+value+`"`)
		}
	}
	add("error", denied.code)
	if denied.code != "" {
		add("error_description", denied.text)
	}
	if g.jwt != nil {
		add("scope", strings.Join(g.JWT.Scopes, " "))
		add("resource_metadata", g.metadataURL(r))
	}
	return "Bearer " + strings.Join(params, ", ")
}
