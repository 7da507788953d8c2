package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"toolman/mcpwire"
)

const (
	maxCanonical = 256 << 10 // bytes of arguments of which the canonical form is made
	maxArguments = 64 << 10  // bytes of arguments that are written
	maxName      = 1 << 10   // bytes of a name that are written
)

// render appends a decision's line, which reports lost ones.
func (w *Writer) render(dst []byte, d *Decision, lost uint64) []byte {
	line := d.line
	line.Dropped = lost
	if d.rule != nil {
		line.Rule = d.rule(line.Verdict)
	}
	line.Client = w.text(line.Client)
	if !line.offered() {
		line.Name = w.text(line.Name)
	}
	if len(d.arguments) > 0 {
		line.digest(d.arguments)
		if w.arguments && len(d.arguments) <= maxArguments {
			line.Arguments = w.scrub.JSON(bytes.ToValidUTF8(d.arguments, []byte("\uFFFD")))
		}
	}
	text, err := encode(line)
	if err != nil { // in the arguments
		line.Arguments = nil
		text, _ = encode(line)
	}
	return append(dst, text...)
}

// offered reports whether the name is one that a server has given, and not the client's own words. Such a name is told even where
// some secret happens to be a part of it: half of all tools are called read.
func (l *Line) offered() bool { return l.Server != "" && (l.Kind == "tool" || l.Kind == "prompt") }

func encode(line Line) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(line)
	return out.Bytes(), err
}

// text is what a peer has said, short and without secrets.
func (w *Writer) text(s string) string {
	if s = w.scrub.Text(s); len(s) <= maxName {
		return s
	}
	cut := maxName
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// digest sets the hash of arguments.
func (l *Line) digest(arguments []byte) {
	if len(arguments) <= maxCanonical {
		if canonical, err := mcpwire.Canonical(arguments); err == nil {
			l.ArgumentsSHA256 = sum(canonical)
			return
		}
	}
	l.ArgumentsBytesSHA256 = sum(arguments)
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}
