package redact

import (
	"bytes"
	"slices"
	"strconv"
)

const (
	maxPaths = 64  // paths of one text
	maxPath  = 256 // bytes of a path
)

// A level is an object or array around the current token of a text.
type level struct {
	object bool
	key    []byte // of the current member, as it is spelled
	index  int    // of the current element
}

// AppendPaths appends where the placeholders of the latest result of JSON are, each once:
// "msg.params.arguments.token" or `msg.result.content[0]["a key"]`, if root is "msg". A placeholder
// in a key has the path of its member. There are at most 64 paths. A path that would be longer than
// 256 bytes is that of an object or array around the placeholder. If there are more, the last path
// is root, which is around all of them.
func (r *Redactor) AppendPaths(paths []string, root string) []string {
	var around []level
	known, marks := len(paths), r.marks
	for t := next(r.out, 0); t.kind != 0 && len(marks) > 0; t = next(r.out, t.hi) {
		isKey := t.kind == '"' && t.isKey(r.out)
		if n := len(around); n > 0 {
			switch in := &around[n-1]; {
			case t.kind == ',':
				in.index++
			case isKey:
				in.key = r.out[t.lo:t.hi]
			case t.kind == '}' || t.kind == ']':
				around = around[:n-1]
			}
		}
		if t.kind == '{' || t.kind == '[' {
			around = append(around, level{object: t.kind == '{'})
		}
		if marks[0] >= t.hi {
			continue
		}
		for len(marks) > 0 && marks[0] < t.hi {
			marks = marks[1:]
		}
		if len(paths) == known+maxPaths-1 {
			return append(paths, root)
		}
		if path := pathTo(root, around); !slices.Contains(paths[known:], path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// pathTo returns the path of the current member or element of the innermost level.
func pathTo(root string, around []level) string {
	path := []byte(root)
	for _, in := range around {
		n := len(path)
		switch {
		case !in.object:
			path = append(strconv.AppendInt(append(path, '['), int64(in.index), 10), ']')
		case isPlainKey(in.key):
			if n > 0 {
				path = append(path, '.')
			}
			path = append(path, in.key[1:len(in.key)-1]...)
		default:
			path = append(append(append(path, '['), in.key...), ']')
		}
		if len(path) > maxPath {
			return string(path[:n])
		}
	}
	return string(path)
}

// isPlainKey reports whether a quoted key needs no quotes in a path.
func isPlainKey(key []byte) bool {
	return len(key) > 2 && len(bytes.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-$\"")) == 0
}
