package demo

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

const ellipsis = "…"

// shorten returns a message without its "jsonrpc" member in at most width characters: it cuts long
// strings, and replaces what does not fit by …. It only cuts a text that is no JSON.
func shorten(msg []byte, width int) string {
	var b bytes.Buffer
	if json.Compact(&b, msg) != nil {
		return cut(string(msg), width)
	}
	text := b.String()
	if parts := split(text); text[0] == '{' {
		parts = slices.DeleteFunc(parts, func(p part) bool { return p.key == `"jsonrpc":` })
		text = join(text, parts)
	}
	return fit(text, width)
}

// A part is a member of an object, or an element of an array, which has no key.
type part struct{ key, value string }

// split returns the parts of a value, which is compact JSON; none for a scalar.
func split(text string) (parts []part) {
	d := json.NewDecoder(strings.NewReader(text))
	if open, _ := d.Token(); open != json.Delim('{') && open != json.Delim('[') {
		return nil
	}
	for d.More() {
		var p part
		if text[0] == '{' {
			from := d.InputOffset()
			_, _ = d.Token() // the text is valid
			p.key = strings.TrimPrefix(text[from:d.InputOffset()], ",") + ":"
		}
		var value json.RawMessage
		_ = d.Decode(&value)
		p.value = string(value)
		parts = append(parts, p)
	}
	return parts
}

// join returns text with these parts.
func join(text string, parts []part) string {
	var all []string
	for _, p := range parts {
		all = append(all, p.key+p.value)
	}
	return text[:1] + strings.Join(all, ",") + text[len(text)-1:]
}

// fit returns a value in width characters. Earlier members get the room that they need; elements of
// an array get equal shares.
func fit(text string, width int) string {
	const least = 30 // shows the name of an element
	parts := split(text)
	switch {
	case runes(text) <= width:
		return text
	case len(parts) == 0:
		return cut(text, width)
	}
	room := width - 2
	for i, p := range parts {
		rest := room - runes(p.key)
		if i < len(parts)-1 {
			rest -= runes("," + ellipsis)
		}
		share := rest
		if text[0] == '[' {
			share = min(rest, max(least, rest/(len(parts)-i)))
		}
		short := fit(p.value, share)
		if runes(short) > rest || short == ellipsis || text[0] == '[' && short == join(p.value, []part{{"", ellipsis}}) {
			parts = append(parts[:i], part{"", ellipsis})
			break
		}
		parts[i].value = short
		room -= runes(p.key + short + ",")
	}
	return join(text, parts)
}

// cut shortens a text, or a JSON string, which keeps its quotes.
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
