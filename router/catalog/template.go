package catalog

import (
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"toolman/mcpwire/sanitize"
)

// A Matching is a way to match URIs with a template. RFC 6570 specifies the URIs that a template
// expands to, and leaves matching to others (section 1.4). Servers accept more URIs.
type Matching bool

// The matchings.
const (
	Strict Matching = false // URIs that the template expands to by RFC 6570
	Loose  Matching = true  // also URIs that servers of the SDKs accept
)

// Limits on templates that are compiled to a regular expression. The expression needs about two
// hundred times the memory of its template.
const (
	maxTemplate    = 1 << 10 // bytes
	maxExpressions = 16
)

// MaxMatched is how many bytes longer than a template a URI may be to match it. Matching such a URI
// takes a millisecond.
const MaxMatched = 16 << 10

// StrictPattern returns the expression that matches the URIs that a template expands to. If the
// template is invalid by RFC 6570 or too large, the expression matches its literal start.
func StrictPattern(template string) (re *regexp.Regexp) {
	literal := func() *regexp.Regexp {
		return regexp.MustCompile("^" + regexp.QuoteMeta(sanitize.First(LiteralStart(template), maxTemplate)))
	}
	defer func() {
		if recover() != nil { // a length limit that regexp refuses
			re = literal()
		}
	}()
	t := parseTemplate(template)
	if t == nil {
		return literal()
	}
	return t.Regexp()
}

// LoosePattern returns the expression that matches the URIs that servers accept for a template. If
// parseTemplate rejects the template, LoosePattern returns strict.
func LoosePattern(template string, strict *regexp.Regexp) *regexp.Regexp {
	if parseTemplate(template) == nil {
		return strict
	}
	var b strings.Builder
	b.WriteByte('^')
	for rest := template; rest != ""; {
		literal, more, _ := strings.Cut(rest, "{")
		b.WriteString(regexp.QuoteMeta(literal))
		expression, after, found := strings.Cut(more, "}")
		if found {
			b.WriteString(acceptedPattern(expression))
		}
		rest = after
	}
	b.WriteByte('$')
	return regexp.MustCompile(b.String())
}

// acceptedPattern returns a regular expression for the values that may replace an expression of a
// template in a URI. It matches what any of these accepts: RFC 6570, the TypeScript SDK (1.32 and
// 2.4, UriTemplate.match), the Python SDK (1.30, ResourceTemplate.matches; 2.3, UriTemplate.match),
// and FastMCP for {path*}. They differ: for most of them {id} matches anything without a slash.
// URIs have no control characters, and parsers remove some of them.
func acceptedPattern(expression string) string {
	const segment, anything = "[^/[:cntrl:]]*", "[^[:cntrl:]]*"
	several := strings.ContainsAny(expression, "*,")
	switch expression[0] {
	case '+', '#':
		return anything
	case '.':
		return `(?:\.` + segment + ")?"
	case '/':
		if several {
			return "(?:/" + segment + ")*"
		}
		return "(?:/" + segment + ")?"
	case '?':
		return "(?:[?#]" + anything + ")?" // an optional query and fragment
	case '&':
		return "(?:&" + anything + ")?"
	}
	if strings.HasSuffix(expression, "*") {
		return anything
	}
	return segment // also for ;, which the TypeScript SDK does not know
}

// parseTemplate returns nil if the template is invalid by RFC 6570 or too large.
func parseTemplate(template string) *uritemplate.Template {
	if len(template) > maxTemplate || strings.Count(template, "{") > maxExpressions {
		return nil
	}
	t, err := uritemplate.New(template)
	if err != nil {
		return nil
	}
	return t
}

// LiteralStart returns the part of a template before its first expression.
func LiteralStart(template string) string {
	start, _, _ := strings.Cut(template, "{")
	return start
}

// MatchesNamespaced reports whether a namespaced URI matches the entry's template, and returns the
// URI without the namespace.
func (e *Entry) MatchesNamespaced(uri string, how Matching) (string, bool) {
	bare, ok := strings.CutPrefix(uri, e.Prefix)
	if e.IsPage() {
		bare, ok = e.ownURI(uri)
	}
	return bare, ok && e.MatchesURI(bare, how)
}

// MatchesURI reports whether the URI matches the entry's template. An empty or too long URI never
// matches.
func (e *Entry) MatchesURI(uri string, how Matching) bool {
	switch {
	case uri == "" || len(uri) > len(e.Item.Name)+MaxMatched:
		return false
	case how == Loose:
		return e.loose().MatchString(uri)
	}
	return e.strict.MatchString(uri)
}

// Narrower reports whether the entry's template matches a proper subset of the URIs that another
// one matches. It is false if that is unclear.
func (e *Entry) Narrower(than *Entry) bool {
	narrow, wide := example(e.Item.Name), example(than.Item.Name)
	return wide != "" && than.MatchesURI(narrow, Strict) && !e.MatchesURI(wide, Strict)
}

// example returns a URI that a template expands to, or "" if there is none. The values do not occur
// in literals of templates, and they contain slashes wherever possible.
func example(template string) string {
	t := parseTemplate(template)
	if t == nil {
		return ""
	}
	values := uritemplate.Values{}
	for _, name := range t.Varnames() {
		values.Set(name, uritemplate.String("~/~"))
	}
	uri, _ := t.Expand(values)
	return uri
}

// IsNormalized reports whether URL parsers keep a URI unchanged. The servers of the SDKs look up
// the resource of the parsed URI (WHATWG URL). A parser removes ".." and spaces, and the result may
// be the URI of another resource. literal is the literal start of the URI's template.
func IsNormalized(uri, literal string) bool {
	rewritten := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }
	scheme, rest, _ := strings.Cut(uri, ":")
	path, _, _ := strings.Cut(rest, "#")
	path, _, _ = strings.Cut(path, "?")
	switch {
	case strings.ToLower(scheme) != scheme,
		strings.ContainsFunc(strings.TrimPrefix(uri, literal), rewritten),
		strings.Contains(rest[len(path):], "'"):
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if dots := strings.ReplaceAll(strings.ToLower(segment), "%2e", "."); dots == "." || dots == ".." {
			return false
		}
	}
	return strings.Count(literal, "/") > 2 || hostIsNormalized(scheme, path)
}

// hostIsNormalized is IsNormalized for the host of a URI.
func hostIsNormalized(scheme, path string) bool {
	after, found := strings.CutPrefix(path, "//")
	host, _, rooted := strings.Cut(after, "/")
	switch scheme {
	case "file":
		return found && rooted && host == ""
	case "http", "https", "ws", "wss", "ftp":
		last := host[strings.LastIndexByte(host, '.')+1:]
		return found && rooted && strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-") == "" &&
			strings.Trim(last[:min(1, len(last))], "0123456789") != "" // 0x7f.1 is 127.0.0.1
	}
	return !found || !strings.ContainsAny(host, "@:[")
}
