package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"unicode/utf8"

	"toolman/jsonrpc/trace"
	"toolman/mcpwire"
)

const (
	maxCanonical = 256 << 10 // bytes of arguments of which the canonical form is made
	maxArguments = 64 << 10  // bytes of arguments that are written
	maxName      = 1 << 10   // bytes of a name that are written
)

// A renderer makes lines. It belongs to the Writer's goroutine.
type renderer struct {
	arguments bool
	scrub     *trace.Scrubber
}

// append appends a decision's line.
func (r *renderer) append(dst []byte, line Line, d *Decision) []byte {
	if d.rule != nil {
		line.Rule = d.rule(line.Verdict)
	}
	line.Client = r.text(line.Client)
	if !line.offered() {
		line.Name = r.text(line.Name)
	}
	if len(d.arguments) > 0 {
		r.digest(&line, d.arguments)
		if r.arguments && len(d.arguments) <= maxArguments {
			line.Arguments = r.scrub.JSON(bytes.ToValidUTF8(d.arguments, []byte("\uFFFD")))
		}
	}
	text, err := encode(line)
	if err != nil { // of arguments that are no JSON after all
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
func (r *renderer) text(s string) string {
	if s = r.scrub.Text(s); len(s) <= maxName {
		return s
	}
	cut := maxName
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// digest fills in the hash of arguments.
func (r *renderer) digest(line *Line, arguments []byte) {
	if len(arguments) <= maxCanonical {
		if canonical, err := mcpwire.Canonical(arguments); err == nil {
			line.ArgumentsSHA256 = sum(canonical)
			return
		}
	}
	line.ArgumentsBytesSHA256 = sum(arguments)
}

func sum(text []byte) string {
	hash := sha256.Sum256(text)
	return hex.EncodeToString(hash[:])
}
