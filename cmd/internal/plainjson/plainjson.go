// Package plainjson writes values as JSON for people: < > and & stay as they are.
package plainjson

import (
	"bytes"
	"encoding/json"
)

// Line returns v on one line, without a line end. It panics if v cannot be written: it is for
// values of the program's own types.
func Line(v any) []byte { return bytes.TrimSuffix(encode(v, ""), []byte("\n")) }

// Indented returns v on several lines. It panics as Line does.
func Indented(v any) []byte { return encode(v, "  ") }

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
