package config

import "strings"

// stop ends the walk.
func (l *locator) stop() {
	l.pos = len(l.text)
}

// eat moves past token if it is next.
func (l *locator) eat(token string) bool {
	if !strings.HasPrefix(l.text[l.pos:], token) {
		return false
	}
	l.pos += len(token)
	return true
}

// run moves up to the next of the characters and returns what it passed. Nothing to pass makes no sense, so it stops.
func (l *locator) run(until string) string {
	rest := l.text[l.pos:]
	n := strings.IndexAny(rest, until)
	if n < 0 {
		n = len(rest)
	}
	if n == 0 {
		l.stop()
	}
	l.pos = min(l.pos+n, len(l.text))
	return rest[:n]
}

// blank moves past blanks, and with lines past line ends and comments too. It reports whether anything is left.
func (l *locator) blank(lines bool) bool {
	cutset := " \t"
	if lines {
		cutset = " \t\r\n"
	}
	for {
		rest := strings.TrimLeft(l.text[l.pos:], cutset)
		l.pos = len(l.text) - len(rest)
		if !lines || !strings.HasPrefix(rest, "#") {
			return rest != ""
		}
		l.run("\n")
	}
}

// quoted moves past a string of any of the four kinds and returns it with its quotes; "" when none is next.
func (l *locator) quoted() string {
	rest := l.text[l.pos:]
	if rest == "" || rest[0] != '"' && rest[0] != '\'' {
		return ""
	}
	quote := rest[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(rest, triple) {
		quote = triple
	}
	end := stringEnd(rest, quote)
	if end < 0 {
		l.stop()
		return ""
	}
	l.pos += end
	return rest[:end]
}

// stringEnd is the offset after the string that text begins with, or -1 when it does not end.
func stringEnd(text, quote string) int {
	for i := len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case strings.HasPrefix(text[i:], quote):
			end := i + len(quote)
			for len(quote) == 3 && strings.HasPrefix(text[end:], quote[:1]) {
				end++ // quotes may stand right before the closing three
			}
			return end
		case text[i] == '\n' && len(quote) == 1:
			return -1
		}
	}
	return -1
}
