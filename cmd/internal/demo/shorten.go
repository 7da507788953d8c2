package demo

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// shorten returns a message without its "jsonrpc" member in at most width characters, or as few as are possible: long strings
// are cut, and what does not fit is left out, marked by …. What is no JSON is only cut.
func shorten(msg []byte, width int) string {
	n, err := parse(json.NewDecoder(bytes.NewReader(msg)))
	if err != nil {
		return cut(string(msg), width)
	}
	n.drop("jsonrpc")
	return n.fit(width)
}

// A node is a JSON value that can be shortened; its members stay in order.
type node struct {
	close byte     // '}' or ']'; 0 is a scalar
	text  string   // of a scalar, as JSON
	keys  []string // of an object, as JSON with the colon
	kids  []*node
}

func parse(d *json.Decoder) (*node, error) {
	d.UseNumber()
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := t.(json.Delim)
	if !ok {
		return &node{text: encode(t)}, nil
	}
	n := &node{close: byte(delim) + 2} // as in ASCII
	for d.More() {
		if n.close == '}' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, encode(key)+":")
		}
		kid, err := parse(d)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	_, err = d.Token()
	return n, err
}

func encode(v any) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // a token always can be
	return strings.TrimSuffix(b.String(), "\n")
}

func (n *node) drop(name string) {
	for i, key := range n.keys {
		if key == encode(name)+":" {
			n.keys = append(n.keys[:i], n.keys[i+1:]...)
			n.kids = append(n.kids[:i], n.kids[i+1:]...)
			return
		}
	}
}

// key is what stands before the i-th value.
func (n *node) key(i int) string {
	if n.close == '}' {
		return n.keys[i]
	}
	return ""
}

func (n *node) String() string {
	if n.close == 0 {
		return n.text
	}
	parts := make([]string, len(n.kids))
	for i, kid := range n.kids {
		parts[i] = n.key(i) + kid.String()
	}
	return n.wrap(strings.Join(parts, ","))
}

func (n *node) wrap(inside string) string {
	return string(n.close-2) + inside + string(n.close)
}

// fit is n in width characters. What comes first gets all the room it needs, but the elements of an array get a fair share.
func (n *node) fit(width int) string {
	whole := n.String()
	if runes(whole) <= width {
		return whole
	}
	if n.close == 0 {
		return cut(n.text, width)
	}
	var parts []string
	room := width - 2
	for i, kid := range n.kids {
		rest := room - runes(n.key(i))
		if i < len(n.kids)-1 {
			rest -= runes("," + ellipsis)
		}
		short := kid.fit(n.share(rest, i))
		if runes(short) > rest || short == ellipsis || n.close == ']' && short == kid.wrap(ellipsis) {
			parts = append(parts, ellipsis)
			break
		}
		parts = append(parts, n.key(i)+short)
		room -= runes(n.key(i) + short + ",")
	}
	return n.wrap(strings.Join(parts, ","))
}

// share is how much of a room the i-th value may have.
func (n *node) share(room, i int) int {
	const least = 30 // shows an element's name
	if n.close == '}' {
		return room
	}
	return min(room, max(least, room/(len(n.kids)-i)))
}

// cut shortens a text, or a JSON string that keeps its quotes.
func cut(s string, width int) string {
	if runes(s) <= width {
		return s
	}
	end := ""
	if strings.HasPrefix(s, `"`) {
		end = `"`
	}
	keep := width - runes(ellipsis+end)
	if keep < 4 {
		return ellipsis
	}
	head := string([]rune(s)[:keep])
	// Not within an escape sequence.
	if i := strings.LastIndexByte(head, '\\'); i >= 0 && i > len(head)-6 {
		head = strings.TrimRight(head[:i], `\`)
	}
	return head + ellipsis + end
}

func runes(s string) int { return utf8.RuneCountInString(s) }
