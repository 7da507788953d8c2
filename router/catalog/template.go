package catalog

import (
	"regexp"
	"strings"

	"github.com/yosida95/uritemplate/v3"

	"toolman/mcpwire/sanitize"
)

// A Matching is how URIs are matched with a template. RFC 6570 says which URIs a template makes, and
// leaves it to others to match URIs (section 1.4). Servers accept more than it makes.
type Matching bool

// The matchings.
const (
	Strictly Matching = false // what the template makes by RFC 6570
	Loosely  Matching = true  // what the SDKs' servers accept as well
)

// Bounds on what becomes an expression: it takes some two hundred times the memory
// of its template.
const (
	maxTemplate    = 1 << 10 // bytes
	maxExpressions = 16
)

// MaxMatched is how many bytes longer than a template a URI may be to be matched with it. That takes
// a millisecond.
const MaxMatched = 16 << 10

// Expansion returns what matches the URIs that a template makes. A template that
// is not one by RFC 6570, or is unreasonably large, matches by its literal start.
func Expansion(template string) (re *regexp.Regexp) {
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

// parseTemplate returns nil for what is no template by RFC 6570, or unreasonably large.
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

func LiteralStart(template string) string {
	start, _, _ := strings.Cut(template, "{")
	return start
}

// Acceptance returns what matches the URIs that servers accept for a template. For one that
// parseTemplate does not take, that is strict.
func Acceptance(template string, strict *regexp.Regexp) *regexp.Regexp {
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
			b.WriteString(accepted(expression))
		}
		rest = after
	}
	b.WriteByte('$')
	return regexp.MustCompile(b.String())
}

// accepted is a regular expression for what stands in a URI in the place of an expression. It takes
// what any of these does: RFC 6570, the TypeScript SDK (1.32 and 2.4, UriTemplate.match), the
// Python SDK (1.30, ResourceTemplate.matches; 2.3, UriTemplate.match), and FastMCP for {path*}.
// They differ: to most of them {id} is anything without a slash. No URI has control characters,
// and parsers take some of them out.
func accepted(expression string) string {
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
		return "(?:[?#]" + anything + ")?" // any query, or none, and a fragment
	case '&':
		return "(?:&" + anything + ")?"
	}
	if strings.HasSuffix(expression, "*") {
		return anything
	}
	return segment // also for ;, which the TypeScript SDK does not know
}

// Makes reports whether the entry's template makes the URI. No template makes an empty one that means
// anything, or one that is too long.
func (e *Entry) Makes(uri string, how Matching) bool {
	switch {
	case uri == "" || len(uri) > len(e.Item.Name)+MaxMatched:
		return false
	case how == Loosely:
		return e.accept().MatchString(uri)
	}
	return e.expand.MatchString(uri)
}

// Owns returns the upstream's spelling of a namespaced URI that the entry's
// template makes.
func (e *Entry) Owns(uri string, how Matching) (string, bool) {
	bare, ok := strings.CutPrefix(uri, e.Prefix)
	return bare, ok && e.Makes(bare, how)
}

// Narrower reports whether the entry's template makes some of the URIs that another makes, and
// no others. It is false where that is not clear.
func (e *Entry) Narrower(than *Entry) bool {
	narrow, wide := example(e.Item.Name), example(than.Item.Name)
	return wide != "" && than.Makes(narrow, Strictly) && !e.Makes(wide, Strictly)
}

// example returns a URI that a template makes, with values that templates do not have in their
// literals, and slashes in all values that can have them. It is "" if there is none.
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

// AsWritten reports whether parsers keep a URI as it is written. The SDKs' servers look for the
// resource of what a parser (WHATWG URL) has made of it: that has no ".." and no space any more, and
// may be the URI of another resource. literal is what the URI's template begins with.
func AsWritten(uri, literal string) bool {
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
	return strings.Count(literal, "/") > 2 || hostAsWritten(scheme, path)
}

// hostAsWritten is asWritten for the part of a URI that names a host.
func hostAsWritten(scheme, path string) bool {
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
