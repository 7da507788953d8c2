package httpheader

import (
	"net/http"
	"testing"
	"unicode/utf8"
)

// FuzzEncode checks that values of headers are safe and can be decoded again.
func FuzzEncode(f *testing.F) {
	for _, s := range []string{"", "a b", " a", "é", "=?base64?YQ==?=", "a\r\nb", "\t"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value := Encode(text)
		if !printable(value) {
			t.Fatalf("%q became %q", text, value)
		}
		if back, ok := Decode(value); back != text || ok != utf8.ValidString(text) {
			t.Fatalf("%q came back as %q, %v", text, back, ok)
		}
	})
}

func TestAccepts(t *testing.T) {
	for accept, want := range map[string]bool{
		"":                                   false,
		"text/event-stream":                  true,
		"application/json,Text/Event-Stream": true,
		"text/*;q=0.1":                       true,
		"text/event-stream; Q=0.0":           false,
		"text/html, */*":                     true,
	} {
		if got := Accepts(http.Header{"Accept": {"x/y", accept}}, EventStream); got != want {
			t.Errorf("%q: %v", accept, got)
		}
	}
}

func TestIsToken(t *testing.T) {
	for c := range 256 {
		const others = "!#$%&'*+-.^_`|~"
		want := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		for i := range others {
			want = want || others[i] == byte(c)
		}
		if got := IsToken(string([]byte{'x', byte(c)})); got != want {
			t.Errorf("%q: %v", rune(c), got)
		}
	}
}
