package input

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"toolman/jsonrpc"
	"toolman/mcpwire"
	"toolman/mcpwire/inputreq"
	"toolman/mcpwire/sanitize"
	"toolman/router/catalog"
)

// Bounds on what a person is asked to read. A call that does not fit is refused: consent to a part
// of it would be consent to what nobody has seen.
const (
	mostShown   = 10_000  // characters of the arguments
	mostMembers = 100     // arguments
	mostBytes   = 1 << 16 // of the arguments in the frame
	mostName    = 256     // characters of the tool's name
)

// confirmKey is under which key a modern client finds the question.
const confirmKey = "confirm"

// confirmation asks a person whether a tool may be called. Its form has no fields:
// accepting it is the answer, and some clients send nothing else. An error says why the call
// cannot be shown completely.
func confirmation(m *jsonrpc.Message, e *catalog.Entry, scrub func(string) string) (inputreq.Ask, error) {
	text, err := callText(m, e, scrub)
	if err != nil {
		return inputreq.Ask{}, fmt.Errorf("a person has to agree first, and cannot be shown the whole call: %w", err)
	}
	params := jsonrpc.AppendQuoted([]byte(`{"message":`), text)
	params = append(params, `,"requestedSchema":{"type":"object","properties":{}}}`...)
	return inputreq.Ask{Key: confirmKey, Method: mcpwire.Elicit, Params: params}, nil
}

// callText shows a call. Its first words are toolman's own: what a server asks begins with that
// server's name (inputreq.NameAsker).
func callText(m *jsonrpc.Message, e *catalog.Entry, scrub func(string) string) (string, error) {
	if n := utf8.RuneCountInString(e.Item.Name); n > mostName {
		return "", fmt.Errorf("the tool's name has %d characters, and at most %d are shown", n, mostName)
	}
	arguments, err := argumentsText(m, scrub)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("toolman asks: may the tool %s of server %s run? It is one of dangerous_tools (%s).\n\n%s",
		toolText(e.Item.Name), sanitize.Line(e.Source.Name), e.Danger.Place(), arguments), nil
}

// toolText is the name of a tool as a person is shown it. The server chooses it: characters that
// names seldom have could make it look like the words around it, and so it is in quotes then.
func toolText(name string) string {
	if strings.IndexFunc(name, catalog.NotPortable) < 0 {
		return name
	}
	return sanitize.Visible(strconv.Quote(name))
}

// argumentsText shows the arguments of a call, a line each: none can look like another, or
// hide behind another.
func argumentsText(m *jsonrpc.Message, scrub func(string) string) (string, error) {
	arguments, err := m.Param("arguments")
	if err != nil {
		return "", err
	}
	if n := arguments.Hi - arguments.Lo; n > mostBytes {
		return "", fmt.Errorf("its arguments have %d bytes, and at most %d are shown; %s", n, mostBytes, sendLess)
	}
	var lines []string
	for one := range m.Walk(arguments) {
		lines = append(lines, readable(m, jsonrpc.Span{Lo: one.Key.Lo - 1, Hi: one.Value.Hi}, scrub))
	}
	text := "It gets these arguments:\n  " + strings.Join(lines, "\n  ")
	switch {
	case arguments.Present() && !m.IsObject(arguments):
		text = "Its arguments are no object: " + readable(m, arguments, scrub)
	case len(lines) == 0:
		return "It gets no arguments.", nil
	case len(lines) > mostMembers:
		return "", fmt.Errorf("it has %d arguments, and at most %d are shown", len(lines), mostMembers)
	}
	if n := utf8.RuneCountInString(text); n > mostShown {
		return "", fmt.Errorf("its arguments take %d characters to show, and at most %d are shown; %s", n, mostShown, sendLess)
	}
	return text, nil
}

// sendLess is what to do about arguments that are too long.
const sendLess = "send less at once, or the name of a file in place of its content"

// readable returns a part of a frame, JSON or a member of an object, as a person is shown it:
// on one line, with the length of secrets in their place, and with nothing that cannot be seen.
func readable(m *jsonrpc.Message, at jsonrpc.Span, scrub func(string) string) string {
	text := legible(m.Bytes(at))
	if scrub != nil {
		text = scrub(text)
	}
	return sanitize.Visible(text)
}

// legible is valid JSON in which strings are spelled in the plainest way and nothing stands
// between the tokens but a space: what looks different is different.
func legible(raw []byte) string {
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			end := stringEnd(raw, i)
			out = jsonrpc.AppendQuoted(out, jsonrpc.Unquote(raw[i:end]))
			i = end - 1
		case ' ', '\t', '\r', '\n':
		case ':', ',':
			out = append(out, c, ' ')
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// stringEnd is where the JSON string that begins at i ends.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}
