package compare

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"toolman/cmd/internal/cli"
)

// A rule ignores differences that say nothing about the behavior of a client or a server.
type rule struct {
	name, about string
	// ignores decides on a difference. a or b is nil if that side does not have the value.
	ignores func(at path, a, b any) bool
}

// key returns the last member of a path.
func (p path) key() string {
	for i := len(p) - 1; i >= 0; i-- {
		if !p[i].index {
			return p[i].key
		}
	}
	return ""
}

// ends reports whether the last steps of the path are these members.
func (p path) ends(keys ...string) bool {
	if len(p) < len(keys) {
		return false
	}
	for i, s := range p[len(p)-len(keys):] {
		if s.index || s.key != keys[i] {
			return false
		}
	}
	return true
}

// keyed returns a rule for members with one of these names, at any place.
func keyed(keys ...string) func(path, any, any) bool {
	return func(at path, _, _ any) bool { return slices.Contains(keys, at.key()) }
}

func textual(differ func(a, b string) bool) func(path, any, any) bool {
	return func(_ path, a, b any) bool {
		x, isText := a.(string)
		y, both := b.(string)
		return isText && both && differ(x, y)
	}
}

func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// builtIn returns the rules that apply without --strict. Their expressions are compiled when they
// are needed, which help texts do not.
func builtIn() []rule {
	date := expression(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(Z|[+-]\d\d:?\d\d))?`)
	uuid := expression(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	timeKey := expression(`(?:^|_)(?i:time|timestamp|date|datetime|now|mtime|ctime|atime|birthtime)$|[a-z](?:Time|Timestamp|Date|At|Modified)$|_at$|^(?:created|modified|updated|accessed|lastModified)$`)
	tookKey := expression(`(?i)duration|elapsed|latency|uptime|^took`)
	without := func(re func() *regexp.Regexp) func(a, b string) bool {
		return func(a, b string) bool {
			return re().MatchString(a) && re().ReplaceAllString(a, "") == re().ReplaceAllString(b, "")
		}
	}
	inText := textual(without(date))
	isTime := func(v any) bool {
		switch v := v.(type) {
		case string:
			return date().MatchString(v)
		case json.Number: // seconds or milliseconds since 1970, from 2001 on
			n, err := v.Float64()
			return err == nil && n >= 1e9
		}
		return false
	}
	return []rule{
		{"ids", "progressToken, and the ID of a subscription", keyed("progressToken", "io.modelcontextprotocol/subscriptionId")},
		{"state", "what only its maker reads: requestState, cursor, nextCursor, taskId, elicitationId",
			keyed("requestState", "cursor", "nextCursor", "taskId", "elicitationId")},
		{"sessions", "sessionId, session_id, mcp-session-id", func(at path, _, _ any) bool {
			return slices.Contains([]string{"sessionid", "session_id", "mcp-session-id"}, strings.ToLower(at.key()))
		}},
		{"trace-context", "traceparent, tracestate and baggage in _meta", func(at path, _, _ any) bool {
			return at.ends("_meta", "traceparent") || at.ends("_meta", "tracestate") || at.ends("_meta", "baggage")
		}},
		{"versions", "version in serverInfo and clientInfo", func(at path, _, _ any) bool {
			return at.ends("serverInfo", "version") || at.ends("clientInfo", "version") ||
				at.ends("io.modelcontextprotocol/serverInfo", "version") || at.ends("io.modelcontextprotocol/clientInfo", "version")
		}},
		{"times", "dates with a time of day in text; times under keys such as time, timestamp, createdAt, updated_at", func(at path, a, b any) bool {
			return inText(at, a, b) || timeKey().MatchString(at.key()) && isTime(a) && isTime(b)
		}},
		{"durations", "numbers under keys such as duration, durationMs, elapsed, latency", func(at path, a, b any) bool {
			_, number := a.(json.Number)
			_, both := b.(json.Number)
			return number && both && tookKey().MatchString(at.key())
		}},
		{"redacted", "texts of which one has [redacted] where the other has something", textual(redacted)},
		{"uuids", "UUIDs in text", textual(without(uuid))},
	}
}

// placeholder stands for a secret in a trace.
const placeholder = "[redacted]"

// redacted reports whether two texts are equal but for placeholders in one of them.
func redacted(a, b string) bool {
	if !strings.Contains(a, placeholder) {
		a, b = b, a
	}
	parts := strings.Split(a, placeholder)
	last := len(parts) - 1
	rest, ok := strings.CutPrefix(b, parts[0])
	if last == 0 || !ok {
		return false
	}
	for _, part := range parts[1:last] {
		var found bool
		if _, rest, found = strings.Cut(rest, part); !found {
			return false
		}
	}
	return strings.HasSuffix(rest, parts[last])
}

// betweenEras ignores what only one era has in a message. It applies if the sessions are of
// different eras.
func betweenEras(at path, a, b any) bool {
	if a != nil && b != nil {
		return false
	}
	switch key := at.key(); {
	case len(at) == 2:
		return at.ends("result", "resultType") || at.ends("result", "ttlMs") || at.ends("result", "cacheScope")
	default:
		return len(at) > 1 && at[len(at)-2].key == "_meta" && strings.HasPrefix(key, "io.modelcontextprotocol/")
	}
}

const erasAbout = "resultType, ttlMs, cacheScope and _meta of 2026-07-28, if only one session is of that revision"

// withEras returns the rules with that for sessions of different eras.
func (r *Rules) withEras() *Rules {
	return &Rules{rules: append(slices.Clone(r.rules), rule{"eras", erasAbout, betweenEras}), count: append(slices.Clone(r.count), 0)}
}

// BuiltIn describes the built-in rules for help texts, a line for each.
func BuiltIn() string {
	var b strings.Builder
	for _, r := range append(builtIn(), rule{name: "eras", about: erasAbout}) {
		b.WriteString("  " + r.name + strings.Repeat(" ", max(1, 15-len(r.name))) + r.about + "\n")
	}
	return b.String()
}

// Rules say which differences to ignore, and count them. They are not safe for concurrent use.
type Rules struct {
	rules  []rule
	count  []int
	strict bool
}

// NewRules returns the built-in rules, unless strict, and one for each path of the command line.
func NewRules(strict bool, ignore []string) (*Rules, error) {
	r := &Rules{strict: strict}
	if !strict {
		r.rules = builtIn()
	}
	for _, text := range ignore {
		p, err := parsePattern(text)
		if err != nil {
			return nil, cli.Usage(err, "write for example --ignore 'result.content[*].text' or --ignore '**.etag'")
		}
		r.rules = append(r.rules, rule{name: "--ignore " + text, ignores: func(at path, _, _ any) bool { return p.covers(at) }})
	}
	r.count = make([]int, len(r.rules))
	return r, nil
}

// ignore reports whether a rule ignores a difference, and counts it.
func (r *Rules) ignore(at path, a, b any) bool {
	for i := range r.rules {
		if r.rules[i].ignores(at, a, b) {
			r.count[i]++
			return true
		}
	}
	return false
}

// Ignored returns how many differences each rule has ignored, without those that ignored none.
func (r *Rules) Ignored() []Ignored {
	var all []Ignored
	for i, n := range r.count {
		if n > 0 {
			all = append(all, Ignored{r.rules[i].name, n})
		}
	}
	return all
}
