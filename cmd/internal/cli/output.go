package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"

	"golang.org/x/term"
)

// Colors of text on a terminal, as ANSI escape sequences.
const (
	Red    = "\x1b[31m"
	Green  = "\x1b[32m"
	Yellow = "\x1b[33m"
	Cyan   = "\x1b[36m"
	Faint  = "\x1b[2m"
	Bold   = "\x1b[1m"

	plain = "\x1b[0m"
)

// Paint returns text in a color, or as it is if colors are off.
func Paint(on bool, color, text string) string {
	if !on || color == "" || text == "" {
		return text
	}
	return color + text + plain
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// HasEscapes reports whether w is a terminal that supports escape sequences.
func HasEscapes(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("TERM") != "dumb" && enableEscapes(w.(*os.File))
}

// HasColors reports whether to write colors to w: it is a terminal that supports them, and NO_COLOR
// is not set (https://no-color.org).
func HasColors(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && HasEscapes(w) }

// JSON returns v as JSON on one line, without a line end. The characters < > and & stay as they
// are. It panics if v cannot be written: it is for values of the program's own types.
func JSON(v any) []byte { return bytes.TrimSuffix(encode(v, ""), []byte("\n")) }

// IndentedJSON returns v as JSON on several lines, otherwise as [JSON] does.
func IndentedJSON(v any) []byte { return encode(v, "  ") }

func encode(v any, indent string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", indent)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return b.Bytes()
}
