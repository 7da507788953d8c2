package jsonrpc

import (
	"testing"
)

// Edits may bring line breaks with them, which Scan has not seen.
func TestEditedMessagesAreKnownToBeOneLine(t *testing.T) {
	for value, want := range map[string]bool{`{"a":1}`: true, "{\n}": false, "[\r]": false} {
		m := mustScan(t, call100)
		at, err := m.Param("arguments")
		if err != nil {
			t.Fatal(err)
		}
		var copied Message
		if err := m.Spliced(&copied, nil, Edit{at, []byte(value)}); err != nil || copied.oneLine != want {
			t.Errorf("Spliced with %q: oneLine is %v, %v", value, copied.oneLine, err)
		}
		if m.Edit(Edit{at, []byte(value)}); m.oneLine != want {
			t.Errorf("Edit with %q: oneLine is %v", value, m.oneLine)
		}
		if m.OneLine(); !m.oneLine || hasLineBreak(m.Frame) {
			t.Errorf("%q is not one line", m.Frame)
		}
	}
}

func TestOneLine(t *testing.T) {
	for frame, want := range map[string]string{
		"": "", "{}": "{}", "\n{\r\n\"a\\n\":\n\n1\r}\n": ` {  "a\n":  1 } `, "\r": " ",
	} {
		got := []byte(frame)
		if OneLine(got); string(got) != want {
			t.Errorf("%q: got %q, want %q", frame, got, want)
		}
	}
}
