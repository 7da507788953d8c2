package confirm

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

// Limits on the text of a confirmation. A call that exceeds them is refused, because the user
// cannot consent to a part that is not shown.
const (
	maxTextChars     = 10_000  // characters of the arguments
	maxArguments     = 100     // arguments
	maxArgumentBytes = 1 << 16 // of the arguments in the frame
	maxNameChars     = 256     // characters of the tool's name
)

// confirmKey is the key of the confirmation in inputRequests.
const confirmKey = "confirm"

// confirmation returns the elicitation that asks the user whether a tool may be called. Its form
// has no fields: accepting it is the answer, and some clients send nothing else. An error says why
// the call cannot be shown completely.
func confirmation(m *jsonrpc.Message, e *catalog.Entry, scrub func(string) string) (inputreq.Ask, error) {
	text, err := callText(m, e, scrub)
	if err != nil {
		return inputreq.Ask{}, fmt.Errorf("a person has to agree first, and cannot be shown the whole call: %w", err)
	}
	params := jsonrpc.AppendQuoted([]byte(`{"message":`), text)
	params = append(params, `,"requestedSchema":{"type":"object","properties":{}}}`...)
	return inputreq.Ask{Key: confirmKey, Method: mcpwire.Elicit, Params: params}, nil
}

// callText describes a call to the user. Its first words are toolman's own. Texts of a server begin
// with that server's name (inputreq.NameAsker).
func callText(m *jsonrpc.Message, e *catalog.Entry, scrub func(string) string) (string, error) {
	if n := utf8.RuneCountInString(e.Item.Name); n > maxNameChars {
		return "", fmt.Errorf("the tool's name has %d characters, and at most %d are shown", n, maxNameChars)
	}
	arguments, err := argumentsText(m, scrub)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("toolman asks: may the tool %s of server %s run? It is one of dangerous_tools (%s).\n\n%s",
		toolText(e.Item.Name), sanitize.Line(e.Source.Name), e.Danger.Place(), arguments), nil
}

// toolText returns the name of a tool for display. The server chooses the name, so names with
// unusual characters are quoted to separate them from the surrounding text.
func toolText(name string) string {
	if strings.IndexFunc(name, catalog.NotPortable) < 0 {
		return name
	}
	return sanitize.Visible(strconv.Quote(name))
}

// argumentsText shows the arguments of a call, one per line, so that no argument can imitate or
// hide another.
func argumentsText(m *jsonrpc.Message, scrub func(string) string) (string, error) {
	arguments, err := m.Param("arguments")
	if err != nil {
		return "", err
	}
	if n := arguments.Hi - arguments.Lo; n > maxArgumentBytes {
		return "", fmt.Errorf("its arguments have %d bytes, and at most %d are shown; %s", n, maxArgumentBytes, sendLess)
	}
	var lines []string
	for one := range m.Walk(arguments) {
		lines = append(lines, displayText(m, jsonrpc.Span{Lo: one.Key.Lo - 1, Hi: one.Value.Hi}, scrub))
	}
	text := "It gets these arguments:\n  " + strings.Join(lines, "\n  ")
	switch {
	case arguments.Present() && !m.IsObject(arguments):
		text = "Its arguments are not an object: " + displayText(m, arguments, scrub)
	case len(lines) == 0:
		return "It gets no arguments.", nil
	case len(lines) > maxArguments:
		return "", fmt.Errorf("it has %d arguments, and at most %d are shown", len(lines), maxArguments)
	}
	if n := utf8.RuneCountInString(text); n > maxTextChars {
		return "", fmt.Errorf("its arguments take %d characters to show, and at most %d are shown; %s", n, maxTextChars, sendLess)
	}
	return text, nil
}

// sendLess is the advice for arguments that are too long.
const sendLess = "send less at once, or the name of a file in place of its content"

// displayText returns a part of a frame, a JSON value or an object member, for display: on one
// line, with secrets replaced by their length, and without invisible characters.
func displayText(m *jsonrpc.Message, at jsonrpc.Span, scrub func(string) string) string {
	text := normalizeJSON(m.Bytes(at))
	if scrub != nil {
		text = scrub(text)
	}
	return sanitize.Visible(text)
}

// normalizeJSON returns valid JSON with strings in their plainest spelling and single spaces after
// separators. Texts that look different then are different.
func normalizeJSON(raw []byte) string {
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

// stringEnd returns the end of the JSON string that begins at i.
func stringEnd(raw []byte, i int) int {
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i + 1
}
