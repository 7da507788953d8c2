package httpd

import (
	"mime"
	"net/http"
	"strconv"
	"strings"
)

const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
)

// accepts reports whether the client takes a media type (RFC 9110, 12.5.1). MCP's
// clients have to say so: no header is no.
func accepts(h http.Header, want string) bool {
	major, _, _ := strings.Cut(want, "/")
	for _, line := range h.Values("Accept") {
		for one := range strings.SplitSeq(line, ",") {
			kind, parameters, _ := strings.Cut(one, ";")
			kind = strings.ToLower(strings.TrimSpace(kind))
			if (kind == want || kind == "*/*" || kind == major+"/*") && !weightless(parameters) {
				return true
			}
		}
	}
	return false
}

// weightless reports whether the parameters of a media range say that it is not wanted.
func weightless(parameters string) bool {
	for one := range strings.SplitSeq(parameters, ";") {
		key, value, _ := strings.Cut(one, "=")
		if strings.EqualFold(strings.TrimSpace(key), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}

// isJSON reports whether a request says that its body is JSON. (A form of a foreign web
// page cannot: browsers ask before they send that type to another origin.)
func isJSON(h http.Header) bool {
	if h.Get("Content-Type") == typeJSON {
		return true // as nearly all write it
	}
	kind, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	return err == nil && kind == typeJSON
}
