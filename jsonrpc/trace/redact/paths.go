package redact

import (
	"bytes"
	"slices"
	"strconv"
)

// Bounds of the paths of a line.
const (
	MaxPaths = 64  // how many
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
		if len(paths) == known+MaxPaths-1 {
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
		if in.object {
			path = appendMember(path, in.key)
		} else {
			path = appendElement(path, in.index)
		}
		if len(path) > maxPath {
			return string(path[:n])
		}
	}
	return string(path)
}

// MemberPath returns the path of a member of the object at path, or path if it would be too long.
// key is quoted.
func MemberPath(path string, key []byte) string {
	if p := appendMember([]byte(path), key); len(p) <= maxPath {
		return string(p)
	}
	return path
}

// ElementPath returns the path of an element of the array at path, or path if it would be too long.
func ElementPath(path string, index int) string {
	if p := appendElement([]byte(path), index); len(p) <= maxPath {
		return string(p)
	}
	return path
}

func appendMember(path, key []byte) []byte {
	if !isPlainKey(key) {
		return append(append(append(path, '['), key...), ']')
	}
	if len(path) > 0 {
		path = append(path, '.')
	}
	return append(path, key[1:len(key)-1]...)
}

func appendElement(path []byte, index int) []byte {
	return append(strconv.AppendInt(append(path, '['), int64(index), 10), ']')
}

// isPlainKey reports whether a quoted key needs no quotes in a path.
func isPlainKey(key []byte) bool {
	return len(key) > 2 && len(bytes.Trim(key, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-$\"")) == 0
}
