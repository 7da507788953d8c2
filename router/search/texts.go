package search

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// What is read of an item.
const (
	maxLead      = 160  // bytes of a description that say the most
	maxBody      = 1500 // bytes of the rest
	maxParamText = 300  // bytes of the description of a parameter
	maxParams    = 400  // names, descriptions and values of parameters
	maxDepth     = 12   // levels of schemas
)

// A reader finds the texts in the definition of an item: a JSON object. It visits each byte once.
// What is not JSON ends the reading.
type reader struct {
	b      []byte
	i      int
	add    func(f field, text []byte)
	params int // that have been read

	scratch []byte // the last string with escapes
}

// definition reads the members of a definition.
func (r *reader) definition() {
	r.object(func(key []byte) {
		switch string(key) {
		case "title":
			r.text(lead, maxLead)
		case "description":
			r.description()
		case "inputSchema":
			r.schema(0)
		case "arguments": // of a prompt
			r.array(func() {
				r.object(func(key []byte) {
					switch string(key) {
					case "name":
						r.text(param, maxParamText)
					case "description":
						r.text(paramText, maxParamText)
					default:
						r.skip()
					}
				})
			})
		default:
			r.skip()
		}
	})
}

// description reads the description of the item: its first words say what it is.
func (r *reader) description() {
	text := r.string()
	if len(text) <= maxLead {
		r.add(lead, text)
		return
	}
	end := maxLead
	if space := bytes.LastIndexByte(text[:maxLead], ' '); space > 0 {
		end = space
	}
	r.add(lead, text[:end])
	r.add(body, text[end:min(len(text), maxLead+maxBody)])
}

// schema reads a JSON Schema: the names, descriptions and possible values of parameters.
func (r *reader) schema(depth int) {
	if depth > maxDepth {
		r.skip()
		return
	}
	r.object(func(key []byte) {
		switch string(key) {
		case "description":
			if depth == 0 {
				r.skip()
			} else {
				r.text(paramText, maxParamText)
			}
		case "properties":
			r.object(func(name []byte) {
				r.addParam(param, name)
				r.schema(depth + 1)
			})
		case "items":
			r.schema(depth + 1)
		case "anyOf", "oneOf", "allOf":
			r.array(func() { r.schema(depth + 1) })
		case "enum":
			r.array(func() { r.text(paramText, maxParamText) })
		case "const":
			r.text(paramText, maxParamText)
		default:
			r.skip()
		}
	})
}

// text reads a value, and adds it if it is a string.
func (r *reader) text(f field, limit int) {
	text := r.string()
	text = text[:min(len(text), limit)]
	if f == param || f == paramText {
		r.addParam(f, text)
		return
	}
	r.add(f, text)
}

func (r *reader) addParam(f field, text []byte) {
	if r.params++; r.params <= maxParams {
		r.add(f, text)
	}
}

// peek skips spaces, and returns the next byte, or 0 at the end.
func (r *reader) peek() byte {
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// fail ends the reading.
func (r *reader) fail() { r.i = len(r.b) }

// object reads a value. If it is an object, it calls member with each key; member reads the value.
func (r *reader) object(member func(key []byte)) {
	if r.peek() != '{' {
		r.skip()
		return
	}
	r.i++
	for r.peek() == '"' {
		key := r.string()
		if r.peek() != ':' {
			r.fail()
			return
		}
		r.i++
		member(key)
		if r.peek() == ',' {
			r.i++
		}
	}
	if r.peek() != '}' {
		r.fail()
		return
	}
	r.i++
}

// array reads a value. If it is an array, it calls element for each element, which reads it.
func (r *reader) array(element func()) {
	if r.peek() != '[' {
		r.skip()
		return
	}
	r.i++
	for {
		switch r.peek() {
		case 0:
			return
		case ']':
			r.i++
			return
		case ',':
			r.i++
		default:
			before := r.i
			if element(); r.i == before {
				r.fail()
			}
		}
	}
}

// string reads a value, and returns it if it is a string. The text is good until the next call.
func (r *reader) string() []byte {
	if r.peek() != '"' {
		r.skip()
		return nil
	}
	inner := r.b[r.i+1:]
	r.skipString()
	if r.i == len(r.b) && (len(inner) == 0 || inner[len(inner)-1] != '"') {
		return nil
	}
	inner = inner[:len(inner)-(len(r.b)-r.i)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	r.scratch = appendUnescaped(r.scratch[:0], inner)
	return r.scratch
}

// skip reads a value that does not matter.
func (r *reader) skip() {
	for depth := 0; r.i < len(r.b); {
		switch r.b[r.i] {
		case '"':
			r.skipString()
		case '{', '[':
			depth++
			r.i++
		case '}', ']':
			if depth == 0 {
				return
			}
			depth--
			r.i++
		case ',':
			if depth == 0 {
				return
			}
			r.i++
			continue
		default:
			r.i++
			continue
		}
		if depth == 0 {
			return
		}
	}
}

// skipString moves behind the string that begins here.
func (r *reader) skipString() {
	for from := r.i + 1; ; {
		end := bytes.IndexByte(r.b[from:], '"')
		if end < 0 {
			r.fail()
			return
		}
		from += end + 1
		escapes := 0
		for at := from - 2; at > r.i && r.b[at] == '\\'; at-- {
			escapes++
		}
		if escapes%2 == 0 {
			r.i = from
			return
		}
	}
}

// appendUnescaped appends the text of a JSON string. What is escaped wrongly becomes a space.
func appendUnescaped(dst, inner []byte) []byte {
	for len(inner) > 0 {
		at := bytes.IndexByte(inner, '\\')
		if at < 0 || at+1 == len(inner) {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:at]...)
		c := inner[at+1]
		inner = inner[at+2:]
		switch {
		case c == '"' || c == '\\' || c == '/':
			dst = append(dst, c)
		case c == 'u' && len(inner) >= 4:
			if code, err := strconv.ParseUint(string(inner[:4]), 16, 16); err == nil {
				dst = utf8.AppendRune(dst, rune(code)) // half of a pair is no letter in any case
			}
			inner = inner[4:]
		default: // a line break or a tab
			dst = append(dst, ' ')
		}
	}
	return dst
}
