package bridge

import (
	"strings"
	"testing"
	"unsafe"
)

func FuzzBody(f *testing.F) {
	f.Add([]byte(`{"server":"s","tool":"t","arguments":{"a":[1,"\n"]}}`))
	f.Add([]byte("{\"server\":\"s\",\n\"Server\":\"t\"}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, wrong := parse(text, "server", "tool", "arguments")
		if wrong != nil {
			return
		}
		if arguments, wrong := p.object("arguments"); wrong == nil && (arguments[0] != '{' || strings.ContainsAny(string(arguments), "\n\r")) {
			t.Errorf("the arguments are %q", arguments)
		}
	})
}

func TestCorrelationIDs(t *testing.T) {
	for said, want := range map[string]string{
		"job-1.2:3/x":            "job-1.2:3/x",
		"a b\n\"c\"<d>\x1b[1mé":  "abcd[1m",
		strings.Repeat("x", 300): strings.Repeat("x", maxCorrelation),
		"\n\t":                   "",
	} {
		if got := plain(said); got != want {
			t.Errorf("%q: got %q, want %q", said, got, want)
		}
	}
}

// The log keeps up to 4,096 correlation ids. None may hold on to the request that it was part of.
func TestACorrelationIDIsACopy(t *testing.T) {
	said := strings.Repeat("x", 1<<20)
	if unsafe.StringData(plain(said)) == unsafe.StringData(said) {
		t.Error("the id is a part of a text of 1 MiB")
	}
}
