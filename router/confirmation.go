package router

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/mcpwire"
)

// Bounds on what a person is shown of a call's arguments.
const (
	shownArguments = 20
	shownHead      = 240     // characters of the start of one that is longer than both
	shownTail      = 60      // and of its end, where paths differ
	legibleBytes   = 1 << 16 // of one that are looked at
)

// confirmKey is under which key a modern client finds the question.
const confirmKey = "confirm"

// confirmation asks a person whether a tool may be called. Its form has no fields:
// accepting it is the answer, and some clients send nothing else.
func (r *Router) confirmation(m *jsonrpc.Message, e *Entry) mcpwire.Ask {
	text := fmt.Sprintf("May the tool %s of server %s run? It is one of dangerous_tools (%s).\n\n%s",
		shown(e.Item.Name), clean(e.Upstream.Name), e.danger.Place(), r.argumentsText(m))
	params := jsonrpc.AppendQuoted([]byte(`{"message":`), text)
	params = append(params, `,"requestedSchema":{"type":"object","properties":{}}}`...)
	return mcpwire.Ask{Key: confirmKey, Method: mcpwire.Elicit, Params: params}
}

// argumentsText shows the arguments of a call, a line each: none can look like another, or
// hide behind another.
func (r *Router) argumentsText(m *jsonrpc.Message) string {
	arguments, _ := m.Param("arguments") // was looked at before
	var lines []string
	more := 0
	for one := range m.Walk(arguments) {
		if len(lines) == shownArguments {
			more++
			continue
		}
		key := jsonrpc.Span{Lo: one.Key.Lo - 1, Hi: one.Key.Hi + 1}
		lines = append(lines, r.showable(m, jsonrpc.Span{Lo: key.Lo, Hi: one.Value.Hi}))
	}
	switch {
	case arguments.Present() && !m.IsObject(arguments):
		return "Its arguments are no object: " + r.showable(m, arguments)
	case len(lines) == 0:
		return "It gets no arguments."
	case more > 0:
		lines = append(lines, fmt.Sprintf("… and %d more arguments, which are not shown", more))
	}
	return "It gets these arguments:\n  " + strings.Join(lines, "\n  ")
}

// showable returns a part of a frame, JSON or a member of an object, as a person is shown it:
// on one line, without secrets, with nothing that cannot be seen, and shortened.
func (r *Router) showable(m *jsonrpc.Message, at jsonrpc.Span) string {
	raw, cutOff := m.Bytes(at), false
	if cutOff = len(raw) > legibleBytes; cutOff {
		raw = raw[:legibleBytes]
	}
	text := legible(raw)
	if scrub := r.current().Scrub; scrub != nil {
		text = scrub(text)
	}
	return abridged(visible(text), at.Hi-at.Lo, cutOff)
}

// abridged leaves out the middle of a text that is too long to be shown.
func abridged(text string, bytes int, cutOff bool) string {
	n := utf8.RuneCountInString(text)
	if n <= shownHead+shownTail && !cutOff {
		return text
	}
	head := cut(text, shownHead)
	if cutOff {
		return fmt.Sprintf("%s … (%d bytes)", head, bytes)
	}
	tail := text
	for n > shownTail {
		_, size := utf8.DecodeRuneInString(tail)
		tail, n = tail[size:], n-1
	}
	return fmt.Sprintf("%s … %s (%d bytes)", head, tail, bytes)
}

// legible is JSON in which strings are spelled in the plainest way and nothing stands
// between the tokens but a space: what looks different is different. The end may be cut off.
func legible(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		switch c := raw[i]; {
		case c == '"':
			end := stringEnd(raw, i)
			if raw[end-1] != '"' || end-i < 2 {
				return string(append(out, raw[i:]...)) // cut off
			}
			out = jsonrpc.AppendQuoted(out, jsonrpc.Unquote(raw[i:end]))
			i = end
			continue
		case strings.IndexByte(" \t\r\n", c) >= 0:
		case c == ':' || c == ',':
			out = append(out, c, ' ')
		default:
			out = append(out, c)
		}
		i++
	}
	return string(out)
}

// stringEnd is where the JSON string that begins at i ends.
func stringEnd(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// visible spells out characters that cannot be seen or that change how others are.
func visible(text string) string {
	var out strings.Builder
	for _, r := range text {
		if !unicode.IsGraphic(r) || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
			fmt.Fprintf(&out, `\u{%x}`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
