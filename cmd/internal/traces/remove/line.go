package remove

import (
	"bytes"
	"encoding/base64"
	"slices"

	"toolman/jsonrpc"
	"toolman/jsonrpc/trace"
	"toolman/jsonrpc/trace/redact"
)

// own are the fields of a line that toolman writes of itself. They hold no text of others.
var own = []string{"v", "seq", "t", "ts", "us", "leg", "dir", "kind", "call", "status", "code", "leg_us", "total_us", "own_us",
	"verdict", "bytes", "trunc", "event", "count"}

// A key chooses values by their key.
type key struct {
	text     string
	redactor redact.Redactor
	found    int
}

// A remover removes what it is told from the lines of a trace. It is not safe for concurrent use.
type remover struct {
	keys   []*key
	paths  []*path
	values *redact.Redactor // nil: none
	found  int              // of values
	cut    int              // messages that were removed because paths cannot be followed in them

	// of the current line
	where   []string // its paths with placeholders
	changed bool
}

// removed notes that something was removed from the current line.
func (r *remover) removed(where ...string) {
	r.changed = true
	for _, path := range where {
		if !slices.Contains(r.where, path) {
			r.where = append(r.where, path)
		}
	}
}

// line returns the line of a record without what is to be removed, and whether that is anything.
func (r *remover) line(rec *trace.Record) (line []byte, changed bool) {
	line = bytes.TrimSpace(rec.Line)
	r.where, r.changed = slices.Clone(rec.Redacted), false
	out := []byte{'{'}
	for name, value := range jsonrpc.Members(line, jsonrpc.Span{Lo: 0, Hi: len(line)}) {
		if name == "redacted" {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonrpc.AppendQuoted(out, name), ':')
		out = append(out, r.field(rec, name, line[value.Lo:value.Hi])...)
	}
	if !r.changed {
		return line, false
	}
	if len(r.where) > redact.MaxPaths {
		r.where = append(r.where[:redact.MaxPaths-1], "")
	}
	sep := byte('[')
	out = append(out, `,"redacted":`...)
	for _, path := range r.where {
		shown := []byte(path)
		if r.values != nil {
			shown, _ = r.values.Text(shown, false)
		}
		out = jsonrpc.AppendQuoted(append(out, sep), shown)
		sep = ','
	}
	return append(out, "]}"...), true
}

// field returns the value of a field without what is to be removed.
func (r *remover) field(rec *trace.Record, name string, value []byte) []byte {
	switch {
	case slices.Contains(own, name):
		return value
	case name == "msg":
		for _, p := range r.paths {
			if p.of(rec.Method) {
				var where []string
				value, where = p.remove(value)
				if len(where) > 0 {
					r.removed(where...)
				}
			}
		}
	case name == "text" && value[0] == '"':
		if rec.Type == trace.TypeFrame && rec.Trunc && r.follows(rec.Method) {
			r.cut++
			r.removed(name)
			return placeholder
		}
		return jsonrpc.AppendQuoted(nil, r.plain(jsonrpc.Unquote(value), name, rec.Trunc))
	case name == "raw" && rec.Raw != nil:
		if rec.Trunc && r.follows(rec.Method) {
			return []byte(`""`)
		}
		return append(base64.StdEncoding.AppendEncode([]byte{'"'}, r.plain(rec.Raw, name, rec.Trunc)), '"')
	}
	each := func(from *redact.Redactor) int {
		out, found := from.JSON(value)
		if found {
			r.removed(from.AppendPaths(nil, name)...)
			value = bytes.Clone(out)
		}
		return from.Replaced()
	}
	for _, k := range r.keys {
		k.found += each(&k.redactor)
	}
	if r.values != nil {
		r.found += each(r.values)
	}
	return value
}

// follows reports whether there is a path for a method.
func (r *remover) follows(method string) bool {
	return slices.ContainsFunc(r.paths, func(p *path) bool { return p.of(method) })
}

// plain returns the text of a field, which need not be JSON, without what is to be removed.
func (r *remover) plain(text []byte, name string, cut bool) []byte {
	each := func(from *redact.Redactor) int {
		out, found := from.Text(text, cut)
		if found || len(out) < len(text) { // an end that could be the start of a value
			r.removed(name)
		}
		text = bytes.Clone(out)
		return from.Replaced()
	}
	for _, k := range r.keys {
		k.found += each(&k.redactor)
	}
	if r.values != nil {
		r.found += each(r.values)
	}
	return text
}
